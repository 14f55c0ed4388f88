// What passes of the input phase ask about operations on tensors, and make of them.
#ifndef KILN_COMPILER_TRANSFORMS_TENSOROPS_H
#define KILN_COMPILER_TRANSFORMS_TENSOROPS_H

#include "mlir/IR/PatternMatch.h"

namespace kiln {

// The scalar, or a tensor of the shape of `value` that consists of it.
mlir::Value likeAll(mlir::OpBuilder &builder, mlir::Value value, mlir::TypedAttr scalar);

// Whether the op has a body that is computed for each element.
bool isKernel(mlir::Operation *op);

// Whether an operation in the kernel's body that does not depend on the element may be computed in front of the kernel:
// the kernel computes it in any case, or it cannot fail.
bool movesInFront(mlir::Operation *op, mlir::Operation *kernel);

// Whether the op stands for several tensor operations.
bool isAggregate(mlir::Operation *op);

// Replaces an aggregate by what it stands for. Emits an error at the op, and fails, where its form is not supported.
mlir::LogicalResult decomposeAggregate(mlir::RewriterBase &rewriter, mlir::Operation *op);

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMS_TENSOROPS_H
