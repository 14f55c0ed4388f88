// Which elementwise operations are computed where they are used.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ELEMENTWISEFUSION_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ELEMENTWISEFUSION_H

#include "kiln/compiler/Interfaces/DispatchLimits.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln::Flow {

// What is used so often costs a product little to load, next to its arithmetic.
inline constexpr int64_t kManyUses = 64;

// How many elements of its results an operation computes from each element of an input; nothing where only a call
// knows.
std::optional<int64_t> countUses(mlir::linalg::LinalgOp consumer, mlir::OpOperand *input);

// Whether the operand's owner is like a product that would compute each element of the operand again for each of
// many results. A CPU takes twice the time for it, and a GPU's tensor cores multiply only what lies in memory. Elements
// that are only moved, or made wider, are not counted, nor are those of 32 bits that are made of narrower ones, as
// storing them takes more memory than they come from.
bool isComputedAgain(mlir::OpOperand *operand, const DispatchLimits &limits);

// Whether the operand's owner may take in what computes the operand: it is the only use, in the same block, and each
// element is computed once, or is cheaper to compute again.
bool canTakeIn(mlir::OpOperand *operand, const DispatchLimits &limits);

// Whether a named product has few rows, and an input that is better computed where it is used, as that is not often:
// weights that are made wider or scaled.
bool takesInFactor(mlir::linalg::LinalgOp product, const DispatchLimits &limits);

// Lets an input of which a loop's every turn reads the same element have no dimension for it.
void dropBroadcastDims(mlir::IRRewriter &rewriter, mlir::linalg::GenericOp op);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ELEMENTWISEFUSION_H
