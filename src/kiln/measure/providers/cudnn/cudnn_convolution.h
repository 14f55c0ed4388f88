// A convolution as a graph of cuDNN's with one operation, and the engines that cuDNN proposes for it.
#ifndef KILN_MEASURE_PROVIDERS_CUDNN_CUDNN_CONVOLUTION_H
#define KILN_MEASURE_PROVIDERS_CUDNN_CUDNN_CONVOLUTION_H

#include <cstdint>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/providers/convolution_shape.h"
#include "kiln/measure/providers/cudnn/cudnn_library.h"

namespace kiln::measure {

// A way to compute it that is ready to run.
struct CudnnPlan {
  CudnnObject object;
  size_t workspaceBytes = 0;
};

class CudnnConvolution {
public:
  CudnnConvolution() = default;
  // In nhwc_hwcf the filter is taken as f, r, s, c. The result of f16 and bf16 is of that type or of f32, sums are in
  // f32. Unimplemented where cuDNN has no convolution of these types. The library and the handle outlive the result.
  static Result<CudnnConvolution> create(const CudnnLibrary &library, CudnnHandle handle,
                                         const ConvolutionShape &shape);

  // What a call computes with.
  Result<CudnnObject> pack(const void *image, const void *filter, void *result, void *workspace) const;

  // Configurations of engines, the likely fastest first: by cuDNN's heuristics, or those that it falls back on.
  Result<std::vector<CudnnObject>> propose(bool fallback) const;
  // Whether an engine computes what is promised: products of the inputs as they are, summed in f32. With `tensorCores`
  // f32 may be multiplied by them, as tf32. FFT and Winograd's algorithm round more than sums do.
  Result<bool> isPrecise(const CudnnObject &configuration, bool tensorCores) const;
  Result<CudnnPlan> plan(const CudnnObject &configuration) const;

private:
  const CudnnLibrary *library = nullptr;
  CudnnHandle handle = nullptr;
  CudnnObject graph;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_CUDNN_CUDNN_CONVOLUTION_H
