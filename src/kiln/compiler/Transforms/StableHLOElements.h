// What operations of StableHLO compute of single elements, for kiln-lower-stablehlo.
#ifndef KILN_COMPILER_TRANSFORMS_STABLEHLOELEMENTS_H
#define KILN_COMPILER_TRANSFORMS_STABLEHLOELEMENTS_H

#include "mlir/IR/Builders.h"

namespace kiln::StableHLO {

// The same for whole tensors of one shape and for scalars: `type` is that of the result. Emits an error at the op, and
// gives null, where element types are none that the op takes; null without an error where the op is not elementwise.
mlir::Value lowerElementwise(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange operands, mlir::Type type);

// Whether lowerElementwise knows the op.
bool isElementwise(mlir::Operation *op);

// The body of the op on scalars in place of tensors of rank 0; what it returns. Fails, with an error, where the body
// has more than elementwise operations.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> lowerScalarBody(mlir::OpBuilder &b, mlir::Block &body,
                                                                mlir::ValueRange arguments);

} // namespace kiln::StableHLO

#endif // KILN_COMPILER_TRANSFORMS_STABLEHLOELEMENTS_H
