// The dynamic extents of tensors of the host program, found without asking a device.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_DIMS_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_DIMS_H

#include "mlir/IR/Builders.h"

namespace kiln::Flow {

// The dynamic extents of `tensor`, in order, as index values that exist at the builder's insertion point, which the
// tensor must dominate. Emits an error at the op that hides them, and fails, where they cannot be found.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> dynamicDims(mlir::OpBuilder &builder, mlir::Value tensor);

// All extents, static ones as constants.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> allDims(mlir::OpBuilder &builder, mlir::Value tensor);

// Answers each tensor.dim of a function, outside of dispatch regions, by a value of the host.
mlir::LogicalResult resolveDims(mlir::Operation *func);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_DIMS_H
