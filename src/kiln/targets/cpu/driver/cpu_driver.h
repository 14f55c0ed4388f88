// The drivers local-sync and local-task.
#ifndef KILN_TARGETS_CPU_DRIVER_CPU_DRIVER_H
#define KILN_TARGETS_CPU_DRIVER_CPU_DRIVER_H

#include "kiln/runtime/hal/driver.h"

namespace kiln::hal {

class SyncDriver final : public Driver {
public:
  std::string_view name() const override { return "local-sync"; }
  std::string_view description() const override {
    return "Local execution using a lightweight inline synchronous queue";
  }
  Result<std::vector<DeviceInfo>> devices() override;
  Result<Ref<Device>> createDevice(const DeviceUri &uri, const DeviceOptions &options) override;
};

class TaskDriver final : public Driver {
public:
  std::string_view name() const override { return "local-task"; }
  std::string_view description() const override { return "Local execution using the Kiln multithreading task system"; }
  Result<std::vector<DeviceInfo>> devices() override;
  Result<Ref<Device>> createDevice(const DeviceUri &uri, const DeviceOptions &options) override;
};

// Both of them.
void registerCpuDriver(DriverRegistry &registry);

} // namespace kiln::hal

#endif // KILN_TARGETS_CPU_DRIVER_CPU_DRIVER_H
