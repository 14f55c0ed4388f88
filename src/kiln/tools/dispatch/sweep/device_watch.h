// Watches how a device is while it is measured.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_DEVICE_WATCH_H
#define KILN_TOOLS_DISPATCH_SWEEP_DEVICE_WATCH_H

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "kiln/runtime/hal/device_monitor.h"

namespace kiln {

// Reads the monitor every few milliseconds as long as it exists, on a thread of its own. What cannot be read is absent.
class DeviceWatch {
public:
  // The monitor outlives it, and is nobody else's meanwhile.
  explicit DeviceWatch(hal::DeviceMonitor &monitor);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch &) = delete;
  DeviceWatch &operator=(const DeviceWatch &) = delete;

  // What was read within these stretches of time, monotonicNanoseconds(), in order; the first reading after them where
  // they were too short for one. Forgets what was read before their end.
  DeviceState during(std::span<const std::pair<uint64_t, uint64_t>> stretches);

private:
  struct Reading {
    uint64_t time;
    DeviceState state;
  };
  void watch();

  hal::DeviceMonitor &monitor;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false, isBroken = false; // isBroken: the last reading failed
  std::deque<Reading> readings;
  std::thread thread; // the last, so that it sees all others
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_DEVICE_WATCH_H
