#include "kiln/compiler/Interfaces/LoopSteps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

std::optional<int64_t> countSteps(linalg::LinalgOp op, std::optional<utils::IteratorType> kind) {
  int64_t steps = 1;
  for (auto [extent, type] : llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if ((!kind || type == *kind) && (ShapedType::isDynamic(extent) || llvm::MulOverflow(steps, extent, steps)))
      return std::nullopt;
  return steps;
}

int64_t countKnownSteps(linalg::LinalgOp op) {
  int64_t steps = 1;
  for (int64_t extent : op.getStaticLoopRanges())
    if (!ShapedType::isDynamic(extent) && llvm::MulOverflow(steps, extent, steps))
      return std::numeric_limits<int64_t>::max();
  return steps;
}

// The inputs of an operation that change along what it reduces.
static SmallVector<OpOperand *> findReducedInputs(linalg::LinalgOp op) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  SmallVector<OpOperand *> inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!op.getMatchingBlockArgument(input).use_empty() &&
        llvm::any_of(reductions, [&](unsigned loop) { return map.isFunctionOfDim(loop); }))
      inputs.push_back(input);
  }
  return inputs;
}

bool isLikeProduct(linalg::LinalgOp op) {
  return findReducedInputs(op).size() >= 2;
}

bool isLikeLargeProduct(linalg::LinalgOp op) {
  constexpr int64_t kLeast = 8;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto isAtLeast = [&](utils::IteratorType kind, auto isCounted) {
    int64_t steps = 1;
    for (unsigned loop = 0; loop < kinds.size() && steps < kLeast; ++loop)
      if (kinds[loop] == kind && isCounted(loop))
        steps *= ShapedType::isDynamic(extents[loop]) ? kLeast : extents[loop];
    return steps >= kLeast;
  };
  auto isReused = [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return isAtLeast(utils::IteratorType::parallel, [&](unsigned loop) { return !map.isFunctionOfDim(loop); });
  };
  return isAtLeast(utils::IteratorType::reduction, [](unsigned) { return true; }) &&
         llvm::count_if(findReducedInputs(op), isReused) >= 2;
}

} // namespace kiln
