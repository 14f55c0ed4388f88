#include "kiln/targets/cpu/codegen/strategy/ConfigChecks.h"

using namespace mlir;

namespace kiln {

// The extent that is reduced along the rows of one tensor; nullopt for any other operation. Partial results of such
// rows stay in registers from one end to the other, so that there are no blocks.
static std::optional<int64_t> reducedRow(linalg::LinalgOp op) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  if (reductions.empty() || reductions.back() != op.getNumLoops() - 1)
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    AffineExpr last = getAffineDimExpr(reductions.back(), op.getContext());
    if (map.isFunctionOfDim(reductions.back()) && map.getResults().back() != last)
      return std::nullopt;
  }
  int64_t product = 1;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (unsigned loop : reductions) {
    if (ShapedType::isDynamic(extents[loop]))
      return ShapedType::kDynamic;
    product *= extents[loop];
  }
  return product;
}

LogicalResult verifyConfigurationFits(Operation *op, const DispatchRoot &root, const TileConfig &config) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(TilingInterface(root.op).getOperation());
  bool elementwise = root.strategy == "elementwise";
  if (!linalgOp || (!elementwise && root.strategy != "reduction"))
    return success();
  auto error = [&] { return op->emitOpError("has the configuration '") << config.name() << "', in which "; };
  if (config.packB)
    return error() << "_packb asks for panels of B; only contractions have them";
  if (config.m > 1 && LoopShape::of(root.op).resultLoops.size() < 2)
    return error() << "M is " << config.m << "; the result has one dimension here, which N cuts, and M must be 1 or 0";
  if (elementwise && config.k != 0)
    return error() << "K is " << config.k << "; nothing is reduced here, and it must be 0";
  if (elementwise && config.rows > 1)
    return error() << "the register tile has " << config.rows << " rows; elementwise operations take one at a time";
  std::optional<int64_t> row = elementwise ? std::nullopt : reducedRow(linalgOp);
  if (row && config.k != 0 && (ShapedType::isDynamic(*row) || config.k < *row))
    return error() << "K is " << config.k << "; a row is reduced as a whole, and it must be 0";
  return success();
}

} // namespace kiln
