#include "kiln/targets/cuda/sim/cuda_sim_driver.h"

#include "kiln/targets/cuda/driver/cuda_driver.h"
#include "kiln/targets/cuda/sim/sim_library.h"

#include <charconv>

namespace kiln::hal {

Result<std::vector<DeviceInfo>> CudaSimDriver::devices() {
  KILN_ASSIGN_OR_RETURN(DeviceInfo info, describeCudaDevice(cudasim::simulatedCuda(), name(), 0));
  return std::vector<DeviceInfo>{std::move(info)};
}

Result<Ref<Device>> CudaSimDriver::createDevice(const DeviceUri &uri, const DeviceOptions &options) {
  int seed = 0;
  const char *end = uri.path.data() + uri.path.size();
  auto [last, error] = std::from_chars(uri.path.data(), end, seed);
  if (!uri.path.empty() && (error != std::errc() || last != end || seed < 0))
    return notFound("'{}' is no seed; simulated GPUs are cuda-sim://0 to cuda-sim://{}", uri.path, INT32_MAX);
  // Memory that is not kept has no room behind its end.
  DeviceOptions exact = options;
  if (exact.allocator == AllocatorKind::Default)
    exact.allocator = AllocatorKind::Direct;
  return createCudaDevice(cudasim::simulatedCuda(), seed, uri, exact);
}

void registerCudaSimDriver(DriverRegistry &registry) {
  registry.add(std::make_unique<CudaSimDriver>());
}

} // namespace kiln::hal
