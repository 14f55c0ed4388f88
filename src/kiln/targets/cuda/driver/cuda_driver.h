// The driver `cuda`: NVIDIA's GPUs, through the library of their driver.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_DRIVER_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_DRIVER_H

#include "kiln/runtime/hal/driver.h"
#include "kiln/targets/cuda/driver/cuda_library.h"

namespace kiln::hal {

class CudaDriver final : public Driver {
public:
  std::string_view name() const override { return "cuda"; }
  std::string_view description() const override {
    return "NVIDIA GPUs, through CUDA's driver library; cuda://N?queues=M has M streams";
  }
  // Unavailable on a machine without driver or GPU.
  Result<std::vector<DeviceInfo>> devices() override;
  Result<Ref<Device>> createDevice(const DeviceUri &uri, const DeviceOptions &options) override;
  Result<std::unique_ptr<DeviceMonitor>> monitor(const DeviceUri &uri) override;
};

// What the drivers over a library of CUDA share: the parts of a URI's path, DEVICE?queues=N, a device's description
// under the URI scheme://ordinal, and a device.
struct CudaUriParts {
  std::string_view device;
  uint32_t queues = 1;
};
Result<CudaUriParts> splitCudaPath(std::string_view path);
Result<DeviceInfo> describeCudaDevice(const CudaLibrary &cuda, std::string_view scheme, int ordinal);
Result<Ref<Device>> createCudaDevice(const CudaLibrary &cuda, int ordinal, const DeviceUri &uri,
                                     const DeviceOptions &options);

void registerCudaDriver(DriverRegistry &registry);

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_DRIVER_H
