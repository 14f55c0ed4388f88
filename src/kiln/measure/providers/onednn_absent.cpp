// Stands for onednn/onednn_provider.cpp in builds without oneDNN's headers.
#include "kiln/measure/providers/onednn_provider.h"

namespace kiln::measure {

namespace {

class AbsentOneDnnProvider final : public Provider {
public:
  Status start(uint32_t threads) override {
    return unimplemented("this build has no oneDNN: its headers, version 2, were not found; install Debian's "
                         "libdnnl-dev and configure again");
  }
  std::string version() const override { return {}; }
  Status load(const LoadRequest &request, TensorMemory &tensors) override { return start(1); }
  Status run(uint32_t set) override { return start(1); }
  Status call(uint32_t set) override { return start(1); }
};

} // namespace

std::unique_ptr<Provider> createOneDnnProvider(bool preferredWeights) {
  return std::make_unique<AbsentOneDnnProvider>();
}

} // namespace kiln::measure
