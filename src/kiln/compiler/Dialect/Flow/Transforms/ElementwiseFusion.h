// Which elementwise operations are computed where they are used.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ELEMENTWISEFUSION_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ELEMENTWISEFUSION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln::Flow {

// Whether an operation with so many operands is still one dispatch. It is enough for any program that is written by
// hand; a GPU's kernel takes some hundred bindings, and each step of fusing a long chain makes all operands anew.
bool hasRoomForOperands(unsigned operands);

// Whether the operand's owner is like a large product that would compute each element of the operand again for each of
// many results. A CPU takes twice the time for it, and a GPU's tensor cores multiply only what lies in memory. Elements
// that are only moved, or made wider, are not counted, nor are those of 32 bits that are made of narrower ones, as
// storing them takes more memory than they come from.
bool isComputedAgain(mlir::OpOperand *operand);

// Whether the operand's owner may take in what computes the operand: it is the only use, in the same block, and each
// element is computed once, or is cheaper to compute again.
bool canTakeIn(mlir::OpOperand *operand);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ELEMENTWISEFUSION_H
