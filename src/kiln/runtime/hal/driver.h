// Drivers make devices; a registry, owned by whoever opens devices, holds the drivers of this build.
#ifndef KILN_RUNTIME_HAL_DRIVER_H
#define KILN_RUNTIME_HAL_DRIVER_H

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/hal/device.h"
#include "kiln/runtime/hal/device_monitor.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::hal {

// "local-task" or "cuda://0": a driver, and which of its devices; an empty path is the driver's default device.
struct DeviceUri {
  std::string driver;
  std::string path;

  static Result<DeviceUri> parse(std::string_view text);
  std::string toString() const;
};

struct DeviceInfo {
  std::string uri;  // opens this device
  std::string name; // for people: "AMD EPYC, 2 cores"
  // For --dump_devices, in order, before the limits.
  std::vector<std::pair<std::string, std::string>> properties;
  DeviceLimits limits;
};

class Driver {
public:
  virtual ~Driver() = default;
  virtual std::string_view name() const = 0;        // the URI's scheme: "local-task"
  virtual std::string_view description() const = 0; // one line for --list_drivers
  virtual Result<std::vector<DeviceInfo>> devices() = 0;
  // Of one device, also of one that `devices` leaves out; of the first where none has this path, which may be a
  // setting. Unavailable where there is no device.
  virtual Result<DeviceInfo> describe(const DeviceUri &uri);
  // `uri.driver` is this driver.
  virtual Result<Ref<Device>> createDevice(const DeviceUri &uri, const DeviceOptions &options) = 0;
  // Unimplemented where its devices tell nothing of themselves; Unavailable where what tells it is not there.
  virtual Result<std::unique_ptr<DeviceMonitor>> monitor(const DeviceUri &uri) {
    return unimplemented("devices of {} tell nothing of clocks and power", name());
  }
};

// Filled by kiln::hal::registerDrivers (targets/drivers.h). Not thread-safe; devices may outlive it.
class DriverRegistry {
public:
  DriverRegistry() = default;
  DriverRegistry(const DriverRegistry &) = delete;
  DriverRegistry &operator=(const DriverRegistry &) = delete;

  // Two drivers of one name are a bug of the build.
  void add(std::unique_ptr<Driver> driver);
  // Sorted by name.
  std::span<const std::unique_ptr<Driver>> drivers() const { return entries; }
  // NotFound, naming the drivers there are.
  Result<Driver *> find(std::string_view name) const;
  Result<Ref<Device>> createDevice(std::string_view uri, const DeviceOptions &options = {}) const;

private:
  std::vector<std::unique_ptr<Driver>> entries;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_DRIVER_H
