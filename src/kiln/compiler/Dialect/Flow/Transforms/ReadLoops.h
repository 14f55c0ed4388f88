// Loops that read a tensor somewhere else than where they write.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_READLOOPS_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_READLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln::Flow {

// A tensor of this shape, whose element at the loops' place is what another tensor has at the place that `from` gives.
mlir::linalg::GenericOp readInLoops(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor,
                                    llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::AffineExpr> from);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_READLOOPS_H
