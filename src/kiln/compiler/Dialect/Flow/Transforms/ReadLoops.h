// Loops that read a tensor somewhere else than where they write.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_READLOOPS_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_READLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace kiln::Flow {

// A tensor of this shape, whose element at the loops' place is what another tensor has at the place that `from` gives.
mlir::linalg::GenericOp readInLoops(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor,
                                    llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::AffineExpr> from);

// A slice that is copied, as loops that workgroups share; itself where the call decides what it is of. Vectors run
// along the innermost dimension: of a source whose rows are cut into pieces of which a slice has whole ones.
mlir::Operation *inLoops(mlir::tensor::ExtractSliceOp slice);
// What is inserted, loaded by loops that workgroups share; null where the call decides what that is. A dimension of
// one element more keeps them from being no work, which nobody would need to do.
mlir::Operation *loadedInLoops(mlir::tensor::InsertSliceOp insert);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_READLOOPS_H
