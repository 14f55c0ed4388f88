#include "kiln/compiler/Interfaces/ConvolutionLoops.h"

#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"

using namespace mlir;

namespace kiln {

std::optional<ConvolutionLoops> ConvolutionLoops::of(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(op);
  if (failed(dims) || dims->inputChannel.size() > 1 ||
      dims->inputChannel.size() + dims->filterLoop.size() != op.getNumReductionLoops())
    return std::nullopt;
  ConvolutionLoops loops;
  if (!dims->inputChannel.empty())
    loops.channels = dims->inputChannel.front();
  loops.taps = dims->filterLoop;
  return loops;
}

} // namespace kiln
