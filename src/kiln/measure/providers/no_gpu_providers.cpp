#include "kiln/measure/providers/gpu_providers.h"

namespace kiln::measure {

std::span<const ProviderEntry> gpuProviders() {
  return {};
}

} // namespace kiln::measure
