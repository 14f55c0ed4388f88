// Tells how a device is: its clock, power and temperature.
#ifndef KILN_RUNTIME_HAL_DEVICE_MONITOR_H
#define KILN_RUNTIME_HAL_DEVICE_MONITOR_H

#include "kiln/base/device_state.h"
#include "kiln/base/status.h"

namespace kiln::hal {

// Used by one thread at a time, beside the device's own users, of whom it needs nothing.
class DeviceMonitor {
public:
  virtual ~DeviceMonitor() = default;
  // Of now.
  virtual Result<DeviceState> read() = 0;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_DEVICE_MONITOR_H
