// The driver `null`: see README.md.
#ifndef KILN_TARGETS_NULL_DRIVER_NULL_DRIVER_H
#define KILN_TARGETS_NULL_DRIVER_NULL_DRIVER_H

#include "kiln/runtime/hal/driver.h"

namespace kiln::hal {

class NullDriver final : public Driver {
public:
  std::string_view name() const override { return "null"; }
  std::string_view description() const override { return "Device that runs no kernels; the template for new drivers"; }
  Result<std::vector<DeviceInfo>> devices() override;
  Result<Ref<Device>> createDevice(const DeviceUri &uri, const DeviceOptions &options) override;
};

void registerNullDriver(DriverRegistry &registry);

} // namespace kiln::hal

#endif // KILN_TARGETS_NULL_DRIVER_NULL_DRIVER_H
