#include "kiln/targets/null/driver/null_driver.h"

#include "kiln/targets/null/driver/null_device.h"

#include <memory>

namespace kiln::hal {

// A real driver loads its vendor's library here, with dlopen, and reports its absence as Unavailable: listing the
// drivers of a build must work on machines that have none of the hardware.
Result<std::vector<DeviceInfo>> NullDriver::devices() {
  DeviceInfo info;
  info.uri = "null";
  info.name = "null device";
  return std::vector<DeviceInfo>{std::move(info)};
}

// The empty path is the default device. A real driver accepts the paths that `devices` has listed.
Result<Ref<Device>> NullDriver::createDevice(const DeviceUri &uri, const DeviceOptions &options) {
  if (!uri.path.empty())
    return notFound("the null driver has one device, 'null'");
  return Ref<Device>(makeRef<NullDevice>(uri.toString(), options));
}

void registerNullDriver(DriverRegistry &registry) {
  registry.add(std::make_unique<NullDriver>());
}

} // namespace kiln::hal
