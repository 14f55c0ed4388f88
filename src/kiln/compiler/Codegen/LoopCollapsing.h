// Loops that are one loop for all operands of a dispatch: elementwise work on matrices is work on one long row.
#ifndef KILN_COMPILER_CODEGEN_LOOPCOLLAPSING_H
#define KILN_COMPILER_CODEGEN_LOOPCOLLAPSING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace kiln {

// The groups of loops that may become one loop each. Empty where nothing would change, or where the reshapes that it
// takes would not become part of the bindings' types: then the dispatch holds more than this operation, or slices.
llvm::SmallVector<mlir::ReassociationIndices> findCollapsibleLoops(mlir::linalg::LinalgOp op);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_LOOPCOLLAPSING_H
