#include "kiln/measure/providers/providers.h"

#include "kiln/measure/providers/kiln_provider.h"
#include "kiln/measure/providers/onednn_provider.h"
#include "kiln/measure/providers/openblas_provider.h"
#include "kiln/measure/providers/reference_provider.h"

namespace kiln::measure {

static constexpr ProviderEntry kProviders[] = {
    {"kiln", "a module that Kiln compiled", createKilnProvider},
    {"onednn", "oneDNN, all tensors in the problem's layouts", [] { return createOneDnnProvider(false); }},
    {"onednn:preferred", "oneDNN, weights in the layout that it prefers", [] { return createOneDnnProvider(true); }},
    {"openblas", "OpenBLAS, f32 and f64", createOpenBlasProvider},
    {"reference", "the definition as plain loops on one thread", createReferenceProvider},
};

std::span<const ProviderEntry> providers() {
  return kProviders;
}

Result<const ProviderEntry *> findProvider(std::string_view name) {
  std::string names;
  for (const ProviderEntry &entry : kProviders) {
    if (entry.name == name)
      return &entry;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  }
  return notFound("there is no provider '{}'; there are: {}", name, names);
}

} // namespace kiln::measure
