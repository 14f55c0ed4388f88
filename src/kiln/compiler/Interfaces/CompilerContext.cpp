#include "kiln/compiler/Interfaces/CompilerContext.h"

#include "kiln/base/flags.h"

using namespace mlir;

namespace kiln {

static std::string backendNames(const TargetBackendRegistry &registry) {
  std::string names;
  for (const auto &backend : registry.backends())
    names += (names.empty() ? "" : ", ") + backend->name().str();
  return names;
}

FailureOr<SmallVector<TargetBackend *>> CompilerContext::selectedBackends(Location loc) const {
  SmallVector<TargetBackend *> selected;
  for (const std::string &name : options.targetBackends) {
    TargetBackend *backend = backends.find(name);
    if (!backend) {
      std::vector<std::string> names;
      for (const auto &known : backends.backends())
        names.push_back(known->name().str());
      std::string_view nearest = nearestName(name, names);
      return emitError(loc) << "there is no target backend '" << name
                            << "' in this build; there are: " << backendNames(backends)
                            << (nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?");
    }
    if (!llvm::is_contained(selected, backend))
      selected.push_back(backend);
  }
  if (selected.empty())
    return emitError(loc) << "no target is given; say --kiln-hal-target-backends=<name>, with one of: "
                          << backendNames(backends);
  return selected;
}

} // namespace kiln
