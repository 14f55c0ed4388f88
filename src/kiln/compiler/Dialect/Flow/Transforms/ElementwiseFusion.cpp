#include "kiln/compiler/Dialect/Flow/Transforms/ElementwiseFusion.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace kiln::Flow {

bool hasRoomForOperands(unsigned operands) {
  constexpr unsigned mostOperands = 64;
  return operands <= mostOperands;
}

// Whether each element of the producer's result is computed once where it is used, if it does not go away there: it
// stays where the producer updates its output, or where it alone says how far loops go.
static bool keepsResultWhole(Operation *producer, OpOperand *operand) {
  auto from = dyn_cast<linalg::GenericOp>(producer);
  auto to = dyn_cast<linalg::GenericOp>(operand->getOwner());
  return !from || !to || linalg::getPreservedProducerResults(from, to, operand).empty() ||
         (to.getNumReductionLoops() == 0 && to.getMatchingIndexingMap(operand).isPermutation());
}

bool canTakeIn(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp(), *consumer = operand->getOwner();
  return producer && producer->hasOneUse() && producer->getBlock() == consumer->getBlock() &&
         keepsResultWhole(producer, operand) &&
         hasRoomForOperands(producer->getNumOperands() + consumer->getNumOperands());
}

} // namespace kiln::Flow
