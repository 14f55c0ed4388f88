// The driver `discrete`; see discrete_device.h.
#ifndef KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_DRIVER_H
#define KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_DRIVER_H

#include "kiln/runtime/hal/driver.h"

namespace kiln::hal {

class DiscreteDriver final : public Driver {
public:
  std::string_view name() const override { return "discrete"; }
  std::string_view description() const override {
    return "The CPU with a GPU's manners: own memory, queues, delays and failures, to test what is written for GPUs";
  }
  Result<std::vector<DeviceInfo>> devices() override;
  // The path holds settings: "discrete://seed=1,delay-us=200".
  Result<Ref<Device>> createDevice(const DeviceUri &uri, const DeviceOptions &options) override;
};

void registerDiscreteDriver(DriverRegistry &registry);

} // namespace kiln::hal

#endif // KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_DRIVER_H
