// The body of a structured operation as scalar code.
#ifndef KILN_COMPILER_CODEGEN_LOOPBODY_H
#define KILN_COMPILER_CODEGEN_LOOPBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

// Clones the body for one step, from an element for each operand (null where it is not used) and the index of each
// loop; returns what it yields.
llvm::SmallVector<mlir::Value> cloneLoopBody(mlir::OpBuilder &b, mlir::linalg::LinalgOp op,
                                             llvm::ArrayRef<mlir::Value> elements,
                                             llvm::function_ref<mlir::Value(unsigned loop)> indexOf);

// A clone of what combines two elements, for these.
mlir::Value cloneCombiner(mlir::OpBuilder &b, mlir::Operation *combiner, mlir::Value x, mlir::Value y);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_LOOPBODY_H
