// All providers of this build, by name.
#ifndef KILN_MEASURE_PROVIDERS_PROVIDERS_H
#define KILN_MEASURE_PROVIDERS_PROVIDERS_H

#include <memory>
#include <span>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/measure/providers/provider.h"

namespace kiln::measure {

struct ProviderEntry {
  std::string_view name; // "onednn", or with a variant "onednn:preferred"
  std::string_view summary;
  // Libraries are in the folder into which `make peers` installs them.
  std::unique_ptr<Provider> (*create)(const std::string &peersFolder);

  // "onednn"
  std::string_view provider() const { return name.substr(0, name.find(':')); }
};

std::span<const ProviderEntry> providers();
// The error lists what there is.
Result<const ProviderEntry *> findProvider(std::string_view name);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_PROVIDERS_H
