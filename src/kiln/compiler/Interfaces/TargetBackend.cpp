#include "kiln/compiler/Interfaces/TargetBackend.h"

namespace kiln {

TargetBackend::~TargetBackend() = default;

void TargetBackendRegistry::add(std::unique_ptr<TargetBackend> backend) {
  all.push_back(std::move(backend));
}

TargetBackend *TargetBackendRegistry::find(llvm::StringRef name) const {
  for (const auto &backend : all)
    if (backend->name() == name)
      return backend.get();
  return nullptr;
}

} // namespace kiln
