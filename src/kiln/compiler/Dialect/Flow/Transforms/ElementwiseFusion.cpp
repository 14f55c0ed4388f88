#include "kiln/compiler/Dialect/Flow/Transforms/ElementwiseFusion.h"

#include "kiln/compiler/Interfaces/LoopSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::Flow {

std::optional<int64_t> countUses(linalg::LinalgOp consumer, OpOperand *input) {
  AffineMap map = consumer.getMatchingIndexingMap(input);
  int64_t uses = 1;
  for (auto [loop, extent] : llvm::enumerate(consumer.getStaticLoopRanges()))
    if (!map.isFunctionOfDim(loop) && (ShapedType::isDynamic(extent) || llvm::MulOverflow(uses, extent, uses)))
      return std::nullopt;
  return uses;
}

// Whether each element of the producer's result is computed once where it is used, if it does not go away there: it
// stays where the producer updates its output, or where it alone says how far loops go.
static bool keepsResultWhole(Operation *producer, OpOperand *operand) {
  auto from = dyn_cast<linalg::GenericOp>(producer);
  auto to = dyn_cast<linalg::GenericOp>(operand->getOwner());
  return !from || !to || linalg::getPreservedProducerResults(from, to, operand).empty() ||
         (to.getNumReductionLoops() == 0 && to.getMatchingIndexingMap(operand).isPermutation());
}

static int64_t bitsOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}

bool isComputedAgain(OpOperand *operand, const DispatchLimits &limits) {
  auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!producer || !consumer || producer.getNumReductionLoops() != 0 || !consumer.isDpsInput(operand) ||
      consumer.getMatchingIndexingMap(operand).isPermutation())
    return false;
  // The small input of a product of few rows is used for each of its columns.
  // A convolution uses an element for each place of its filter besides.
  auto isPlain = [](AffineMap map) { return map.isProjectedPermutation(); };
  int64_t mostUses = kManyUses - 1;
  if (isLikeLargeProduct(consumer))
    mostUses = llvm::all_of(consumer.getIndexingMapsArray(), isPlain) ? limits.mostUses : 0;
  if (!isLikeProduct(consumer) || countUses(consumer, operand).value_or(kManyUses) <= mostUses)
    return false;
  bool isMoved = llvm::all_of(producer.getBlock()->without_terminator(),
                              llvm::IsaPred<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>);
  int64_t bits = bitsOf(operand->get().getType());
  bool isWider = bits >= 32 && producer.getNumDpsInputs() != 0 &&
                 llvm::all_of(producer.getDpsInputs(), [&](Value input) { return bitsOf(input.getType()) < bits; });
  return !isMoved && !isWider;
}

bool canTakeIn(OpOperand *operand, const DispatchLimits &limits) {
  Operation *producer = operand->get().getDefiningOp(), *consumer = operand->getOwner();
  return producer && producer->hasOneUse() && producer->getBlock() == consumer->getBlock() &&
         keepsResultWhole(producer, operand) && !isComputedAgain(operand, limits) &&
         producer->getNumOperands() + consumer->getNumOperands() <= limits.mostOperands;
}

bool takesInFactor(linalg::LinalgOp product, const DispatchLimits &limits) {
  if (!linalg::isaContractionOpInterface(product) || !product.hasPureTensorSemantics() ||
      !product->getDiscardableAttrDictionary().empty())
    return false;
  return llvm::any_of(product.getDpsInputOperands(), [&](OpOperand *input) {
    auto producer = input->get().getDefiningOp<linalg::LinalgOp>();
    return producer && !isa<linalg::FillOp>(producer) && producer.getNumReductionLoops() == 0 &&
           countUses(product, input).value_or(kManyUses) <= limits.mostUses && canTakeIn(input, limits);
  });
}

} // namespace kiln::Flow
