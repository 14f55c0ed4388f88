// What the loops of a convolution are for.
#ifndef KILN_COMPILER_INTERFACES_CONVOLUTIONLOOPS_H
#define KILN_COMPILER_INTERFACES_CONVOLUTIONLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

struct ConvolutionLoops {
  // Input channels, of one group; nullopt where each filter has one.
  std::optional<unsigned> channels;
  // The pixels of a filter.
  llvm::SmallVector<unsigned, 2> taps;

  // nullopt where the operation is no convolution: windows of its first input that move along its result.
  static std::optional<ConvolutionLoops> of(mlir::linalg::LinalgOp op);
};

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_CONVOLUTIONLOOPS_H
