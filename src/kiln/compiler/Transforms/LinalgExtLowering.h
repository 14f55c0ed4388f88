// How operations of iree_linalg_ext become those of linalg, tensor and scf: what kiln-lower-linalg-ext is made of.
#ifndef KILN_COMPILER_TRANSFORMS_LINALGEXTLOWERING_H
#define KILN_COMPILER_TRANSFORMS_LINALGEXTLOWERING_H

#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtOps.h"

#include "mlir/IR/Builders.h"

namespace kiln::LinalgExt {

// The values that stand for the op's results. The builder is in front of the op.
using Values = llvm::SmallVector<mlir::Value>;
Values lower(mlir::OpBuilder &b, ScanOp op);
Values lower(mlir::OpBuilder &b, SortOp op);
Values lowerTopk(mlir::OpBuilder &b, mlir::Operation *op, int64_t dimension, mlir::ValueRange inputs,
                 mlir::ValueRange outputs);
Values lower(mlir::OpBuilder &b, ArgCompareOp op);
Values lower(mlir::OpBuilder &b, ScatterOp op);
Values lower(mlir::OpBuilder &b, GatherOp op);
Values lower(mlir::OpBuilder &b, MapLoadOp op);
Values lower(mlir::OpBuilder &b, MapStoreOp op);
Values lower(mlir::OpBuilder &b, AttentionOp op);
Values lower(mlir::OpBuilder &b, OnlineAttentionOp op);
Values lower(mlir::OpBuilder &b, WinogradInputTransformOp op);
Values lower(mlir::OpBuilder &b, WinogradOutputTransformOp op);

//===--- What they share
//--------------------------------------------------------------------------------------------===//

mlir::Value extentOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor, int64_t dimension);
mlir::Value emptyLike(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor, mlir::Type element);
mlir::Value constantIndex(mlir::OpBuilder &b, mlir::Location loc, int64_t number);

// The operations of the op's body on other values; what it yields.
Values inlineBody(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange arguments);

// Each element of the results from its indices and from what the tensors of `inits`, which are of one shape, hold.
Values
generate(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange inits,
         llvm::function_ref<Values(mlir::OpBuilder &, mlir::ValueRange indices, mlir::ValueRange before)> element);

} // namespace kiln::LinalgExt

#endif // KILN_COMPILER_TRANSFORMS_LINALGEXTLOWERING_H
