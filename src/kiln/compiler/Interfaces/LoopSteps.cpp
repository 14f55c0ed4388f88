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

} // namespace kiln
