#include "kiln/measure/providers/providers.h"

#include <algorithm>
#include <vector>

#include "kiln/measure/providers/cblas_provider.h"
#include "kiln/measure/providers/gpu_providers.h"
#include "kiln/measure/providers/kiln_provider.h"
#include "kiln/measure/providers/onednn_provider.h"
#include "kiln/measure/providers/reference_provider.h"

namespace kiln::measure {

static constexpr ProviderEntry kProviders[] = {
    {"kiln", "a module that Kiln compiled", [](const std::string &) { return createKilnProvider(); }},
    {"mkl", "Intel's MKL, f32, f64, and bf16 and f16 to f32", createMklProvider},
    {"onednn", "oneDNN, all tensors in the problem's layouts",
     [](const std::string &peers) { return createOneDnnProvider(peers, false); }},
    {"onednn:preferred", "oneDNN, weights in the layout that it prefers",
     [](const std::string &peers) { return createOneDnnProvider(peers, true); }},
    {"openblas", "OpenBLAS, f32 and f64", createOpenBlasProvider},
    {"reference", "the definition as plain loops on one thread",
     [](const std::string &) { return createReferenceProvider(); }},
};

std::span<const ProviderEntry> providers() {
  static const std::vector<ProviderEntry> all = [] {
    std::vector<ProviderEntry> entries(std::begin(kProviders), std::end(kProviders));
    std::ranges::copy(gpuProviders(), std::back_inserter(entries));
    std::ranges::sort(entries, {}, &ProviderEntry::name);
    return entries;
  }();
  return all;
}

Result<const ProviderEntry *> findProvider(std::string_view name) {
  std::string names;
  for (const ProviderEntry &entry : providers()) {
    if (entry.name == name)
      return &entry;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  }
  return notFound("there is no provider '{}'; there are: {}", name, names);
}

} // namespace kiln::measure
