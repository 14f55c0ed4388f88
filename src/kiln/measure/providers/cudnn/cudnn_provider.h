// NVIDIA's library of convolutions, on a GPU.
#ifndef KILN_MEASURE_PROVIDERS_CUDNN_CUDNN_PROVIDER_H
#define KILN_MEASURE_PROVIDERS_CUDNN_CUDNN_PROVIDER_H

#include <memory>

#include "kiln/measure/providers/cudnn/cudnn_library.h"
#include "kiln/measure/providers/gpu_library.h"
#include "kiln/measure/providers/provider.h"

namespace kiln::measure {

// Convolutions of f16, bf16 and f32 with sums in f32, by the fastest of the engines that the library proposes. With
// `tf32` those of f32 may be rounded to tf32 before they are multiplied; otherwise f32 it is.
std::unique_ptr<Provider> createCudnnProvider(LoadGpuLibrary<CudnnLibrary> load, bool tf32);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_CUDNN_CUDNN_PROVIDER_H
