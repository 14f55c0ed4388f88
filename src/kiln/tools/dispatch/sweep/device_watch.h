// Watches how a device is while it is measured.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_DEVICE_WATCH_H
#define KILN_TOOLS_DISPATCH_SWEEP_DEVICE_WATCH_H

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "kiln/runtime/hal/device_monitor.h"

namespace kiln {

// Reads the monitor every few milliseconds as long as the watch exists, on a thread of its own. What cannot be read is
// absent.
class DeviceWatch {
public:
  // Nobody else reads the monitor meanwhile. Nothing here waits longer than `patience` for a monitor that hangs; the
  // thread in it then stays behind, and owns the monitor together with its other owners.
  explicit DeviceWatch(std::shared_ptr<hal::DeviceMonitor> monitor,
                       std::chrono::nanoseconds patience = std::chrono::seconds(1));
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch &) = delete;
  DeviceWatch &operator=(const DeviceWatch &) = delete;

  // What was read within these stretches of time, monotonicNanoseconds(), in order; the first reading after them where
  // they were too short for one. Forgets what was read before their end. Once it waited in vain, or the monitor failed,
  // it waits no more until a reading succeeds.
  DeviceState during(std::span<const std::pair<uint64_t, uint64_t>> stretches);

private:
  struct Shared;

  const std::chrono::nanoseconds patience;
  std::shared_ptr<Shared> shared; // with the thread
  std::thread thread;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_DEVICE_WATCH_H
