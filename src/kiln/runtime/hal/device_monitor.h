// Tells how a device is: its clock, power and temperature, how it is set up, and who else uses it.
#ifndef KILN_RUNTIME_HAL_DEVICE_MONITOR_H
#define KILN_RUNTIME_HAL_DEVICE_MONITOR_H

#include "kiln/base/device_state.h"
#include "kiln/base/status.h"

#include <string>
#include <vector>

namespace kiln::hal {

// Something about a device that what is measured may depend on.
struct DeviceCondition {
  enum class Effect { None, Disturbs, Unknown };

  std::string topic; // "persistence"
  Effect effect = Effect::None;
  std::string text;   // what is found; where that is unknown, why
  std::string advice; // what to do about it, if anything
};

// Used by one thread at a time, beside the device's own users, of whom it needs nothing.
class DeviceMonitor {
public:
  virtual ~DeviceMonitor() = default;
  // Of now.
  virtual Result<DeviceState> read() = 0;
  // In the order in which they are shown. To be asked before this process uses the device, which counts as anybody
  // does.
  virtual std::vector<DeviceCondition> conditions() { return {}; }
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_DEVICE_MONITOR_H
