#include "kiln/targets/cuda/codegen/SimpleTile.h"

using namespace mlir;

namespace kiln {

static constexpr int64_t kElements = 1024; // of a block without a reduction
static constexpr int64_t kLarge = 4096;    // for an extent that is not known

// Whether elements that are beside each other in the result come from ones that are beside each other in the input.
static bool isAlongColumns(TilingInterface op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op.getOperation());
  if (!linalgOp || linalgOp.getNumDpsInputs() == 0)
    return false;
  AffineMap map = linalgOp.getMatchingIndexingMap(linalgOp.getDpsInputOperands().back());
  if (map.getNumResults() == 0)
    return false;
  auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim && linalgOp.getIteratorTypesArray()[dim.getPosition()] == utils::IteratorType::parallel;
}

TileConfig chooseSimpleTile(const DispatchRoot &root) {
  TileConfig config;
  config.instructions = "simt";
  LoopShape shape = LoopShape::of(root.op);
  auto extent = [&](unsigned place) -> int64_t {
    if (place >= shape.resultLoops.size())
      return 1;
    int64_t known = shape.extents[shape.resultLoops[place]];
    return ShapedType::isDynamic(known) ? kLarge : known;
  };
  int64_t reduced = 1;
  for (auto [size, isParallel] : llvm::zip(shape.extents, shape.parallel))
    if (!isParallel)
      reduced *= ShapedType::isDynamic(size) ? kLarge : size;
  if (root.strategy == "contraction" && extent(1) > 1 && extent(0) > 1) {
    config.n = config.m = 32;
    return config;
  }
  if (root.strategy == "contraction" || root.strategy == "reduction") {
    // Several threads share an element where the reduction is long.
    config.n = reduced >= 1024 ? 1 : reduced >= 32 ? 8 : 256;
    config.m = 1;
    if (isAlongColumns(root.op))
      config.n = 32;
    return config;
  }
  config.n = extent(1) == 1 ? kElements : std::min<int64_t>(extent(0), 64);
  config.m = std::max<int64_t>(1, kElements / std::max<int64_t>(1, config.n));
  return config;
}

} // namespace kiln
