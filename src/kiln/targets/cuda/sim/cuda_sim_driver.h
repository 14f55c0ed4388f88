// The driver `cuda-sim`: CUDA's driver as it is, over GPUs that are simulated on the CPU.
#ifndef KILN_TARGETS_CUDA_SIM_CUDA_SIM_DRIVER_H
#define KILN_TARGETS_CUDA_SIM_CUDA_SIM_DRIVER_H

#include "kiln/runtime/hal/driver.h"

namespace kiln::hal {

// cuda-sim://7 runs threads, blocks and streams in an order that follows from the seed 7; cuda-sim has the seed 0. It
// is of sm_90; cuda-sim://sm_80 and cuda-sim://sm_80/7 are of another architecture.
class CudaSimDriver final : public Driver {
public:
  std::string_view name() const override { return "cuda-sim"; }
  std::string_view description() const override {
    return "a simulated NVIDIA GPU that checks what kernels do; cuda-sim://N runs threads in the order of seed N, "
           "cuda-sim://sm_80/N on that architecture";
  }
  Result<std::vector<DeviceInfo>> devices() override;
  Result<DeviceInfo> describe(const DeviceUri &uri) override;
  Result<Ref<Device>> createDevice(const DeviceUri &uri, const DeviceOptions &options) override;
};

void registerCudaSimDriver(DriverRegistry &registry);

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_SIM_CUDA_SIM_DRIVER_H
