// Which elementwise operations are computed where they are used.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ELEMENTWISEFUSION_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ELEMENTWISEFUSION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln::Flow {

// Whether an operation with so many operands is still one dispatch. It is enough for any program that is written by
// hand; a GPU's kernel takes some hundred bindings, and each step of fusing a long chain makes all operands anew.
bool hasRoomForOperands(unsigned operands);

// Whether the operand's owner may take in what computes the operand: it is the only use, in the same block, and each
// element is computed once.
bool canTakeIn(mlir::OpOperand *operand);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ELEMENTWISEFUSION_H
