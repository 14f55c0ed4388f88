// What configurations of a convolution may ask of a CPU.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_CONVOLUTIONS_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_CONVOLUTIONS_H

#include "kiln/base/tile_config.h"
#include "kiln/compiler/Interfaces/ConvolutionLoops.h"

namespace kiln {

// Elements that are at most so far apart are loaded as whole vectors, of which those that are wanted are picked.
inline constexpr int64_t largestShuffledStride = 4;

// Panels of filters take at most so many bytes of a worker's memory.
inline constexpr int64_t largestPanels = int64_t(2) << 20;

// Whether what vectors along a loop are loaded from is the filter alone.
bool vectorsAreFilters(mlir::linalg::LinalgOp op, unsigned vectorLoop);

// Whether a convolution can follow the configuration that was written on it; the error at the op says why not.
mlir::LogicalResult verifyConvolution(mlir::linalg::LinalgOp op, const TileConfig &config);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_CONVOLUTIONS_H
