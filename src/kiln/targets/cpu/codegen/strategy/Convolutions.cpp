#include "kiln/targets/cpu/codegen/strategy/Convolutions.h"

#include "kiln/compiler/Codegen/DispatchRoot.h"

#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

bool vectorsAreFilters(linalg::LinalgOp op, unsigned vectorLoop) {
  auto depends = [&](unsigned input) {
    return op.getMatchingIndexingMap(op.getDpsInputOperand(input)).isFunctionOfDim(vectorLoop);
  };
  return !depends(0) && depends(1);
}

LogicalResult verifyConvolution(linalg::LinalgOp op, const TileConfig &config) {
  std::optional<ConvolutionLoops> loops = ConvolutionLoops::of(op);
  if (!loops || !config.packB)
    return success();
  LoopShape shape = LoopShape::of(cast<TilingInterface>(op.getOperation()));
  if (!loops->channels || shape.resultLoops.empty() || !vectorsAreFilters(op, shape.resultLoops[0]))
    return op.emitOpError("has a configuration that packs B, the filters (_packb); that needs a result whose innermost "
                          "dimension is the filters, each of which has all channels of its group");
  auto bound = [&](unsigned loop, int64_t most) {
    int64_t extent = shape.extents[loop];
    return most == 0 || (ShapedType::isStatic(extent) && extent < most) ? extent : most;
  };
  int64_t channels = bound(*loops->channels, config.k ? config.k : 256);
  int64_t columns = bound(shape.resultLoops[0], config.n), taps = 1;
  for (unsigned tap : loops->taps)
    taps = ShapedType::isStatic(shape.extents[tap]) ? taps * shape.extents[tap] : taps;
  if (ShapedType::isDynamic(columns))
    return success(); // Then nothing is packed.
  Type type = getElementTypeOrSelf(op.getDpsInputOperand(1)->get().getType());
  int64_t bytes = llvm::alignTo(columns, std::max<int64_t>(1, config.columns)) * channels * taps *
                  llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  if (bytes > largestPanels)
    return op.emitOpError("has a configuration whose panels of filters (_packb) take ")
           << bytes << " bytes of the " << largestPanels << " that they may; a smaller N or K makes them smaller";
  return success();
}

} // namespace kiln
