// The providers that need a target of this build.
#ifndef KILN_MEASURE_PROVIDERS_GPU_PROVIDERS_H
#define KILN_MEASURE_PROVIDERS_GPU_PROVIDERS_H

#include <span>

#include "kiln/measure/providers/providers.h"

namespace kiln::measure {

// Empty in a build without the target; CMake chooses the source.
std::span<const ProviderEntry> gpuProviders();

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_GPU_PROVIDERS_H
