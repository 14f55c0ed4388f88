// What the two CPU devices have in common: host memory, ELF executables, and recordings.
#ifndef KILN_TARGETS_CPU_DRIVER_CPU_DEVICE_H
#define KILN_TARGETS_CPU_DRIVER_CPU_DEVICE_H

#include "kiln/runtime/hal/device.h"

#include <string>

namespace kiln::hal {

class CpuDevice : public Device {
public:
  Status checkExecutable(const ExecutableSource &source) const override;
  Result<Ref<Executable>> createExecutable(const ExecutableSource &source) override;
  Result<Ref<CommandBuffer>> createCommandBuffer(CommandBufferMode mode, uint32_t slotCount) override;

protected:
  CpuDevice(std::string uri, const DeviceOptions &options);

private:
  const std::string executableFolder;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CPU_DRIVER_CPU_DEVICE_H
