#include "kiln/targets/cuda/sim/cuda_sim_driver.h"

#include "kiln/targets/cuda/driver/cuda_driver.h"
#include "kiln/targets/cuda/sim/sim_library.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace kiln::hal {

// The library's number of the device that a URI's path names: nothing, SEED, sm_NN or sm_NN/SEED.
static Result<int> numberOf(std::string_view path) {
  using cudasim::kArchitectures;
  auto nameOf = [](const cudasim::SimArchitecture &each) { return fmt::format("sm_{}{}", each.major, each.minor); };
  const std::string_view architecture = path.starts_with("sm_") ? path.substr(0, path.find('/')) : "";
  // Compilers write sm_90a for all that an sm_90 does.
  const std::string_view plain = architecture.substr(0, architecture.size() - (architecture.ends_with('a') ? 1 : 0));
  const auto *found = architecture.empty() ? kArchitectures.begin() : std::ranges::find(kArchitectures, plain, nameOf);
  std::string_view text = path.substr(architecture.size());
  const bool namesSeed = architecture.empty() ? !text.empty() : text.starts_with('/');
  text.remove_prefix(architecture.empty() || text.empty() ? 0 : 1);
  int seed = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  const bool isSeed = error == std::errc() && last == text.data() + text.size() && seed >= 0 && seed < cudasim::kSeeds;
  if (found != kArchitectures.end() && (isSeed || !namesSeed))
    return int(found - kArchitectures.begin()) << cudasim::kSeedBits | seed;
  std::vector<std::string> names;
  std::ranges::transform(kArchitectures, std::back_inserter(names), nameOf);
  return notFound("'{}' is neither a seed nor an architecture with a seed; simulated GPUs are cuda-sim://0 to "
                  "cuda-sim://{}, and cuda-sim://ARCHITECTURE/SEED with {}",
                  path, cudasim::kSeeds - 1, fmt::join(names, ", "));
}

Result<std::vector<DeviceInfo>> CudaSimDriver::devices() {
  KILN_ASSIGN_OR_RETURN(DeviceInfo info, describeCudaDevice(cudasim::simulatedCuda(), name(), 0));
  return std::vector<DeviceInfo>{std::move(info)};
}

Result<DeviceInfo> CudaSimDriver::describe(const DeviceUri &uri) {
  KILN_ASSIGN_OR_RETURN(const CudaUriParts parts, splitCudaPath(uri.path));
  KILN_ASSIGN_OR_RETURN(int number, numberOf(parts.device));
  KILN_ASSIGN_OR_RETURN(DeviceInfo info, describeCudaDevice(cudasim::simulatedCuda(), name(), number));
  info.uri = uri.toString();
  return info;
}

Result<Ref<Device>> CudaSimDriver::createDevice(const DeviceUri &uri, const DeviceOptions &options) {
  KILN_ASSIGN_OR_RETURN(const CudaUriParts parts, splitCudaPath(uri.path));
  KILN_ASSIGN_OR_RETURN(int number, numberOf(parts.device));
  // Memory that is not kept has no room behind its end.
  DeviceOptions exact = options;
  if (exact.allocator == AllocatorKind::Default)
    exact.allocator = AllocatorKind::Direct;
  return createCudaDevice(cudasim::simulatedCuda(), number, uri, exact);
}

void registerCudaSimDriver(DriverRegistry &registry) {
  registry.add(std::make_unique<CudaSimDriver>());
}

} // namespace kiln::hal
