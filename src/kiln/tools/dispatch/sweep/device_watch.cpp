#include "kiln/tools/dispatch/sweep/device_watch.h"

#include <algorithm>
#include <chrono>

#include "kiln/base/clock.h"

namespace kiln {

// A turn lasts 10 ms at least, and mostly ten times as long where a device has to be opened first.
static constexpr std::chrono::milliseconds kPause(3);
// A library that hangs ends no sweep.
static constexpr std::chrono::seconds kPatience(1);
// Beyond what a turn may last, nobody asks for what was read.
static constexpr size_t kMostReadings = 100'000;

DeviceWatch::DeviceWatch(hal::DeviceMonitor &monitor) : monitor(monitor), thread([this] { watch(); }) {}

DeviceWatch::~DeviceWatch() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void DeviceWatch::watch() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    lock.unlock();
    const uint64_t time = monotonicNanoseconds();
    Result<DeviceState> state = monitor.read();
    lock.lock();
    isBroken = !state.ok();
    if (state.ok())
      readings.push_back({time, *std::move(state)});
    if (readings.size() > kMostReadings)
      readings.pop_front();
    changed.notify_all();
    changed.wait_for(lock, kPause, [&] { return stopping; });
  }
}

DeviceState DeviceWatch::during(std::span<const std::pair<uint64_t, uint64_t>> stretches) {
  DeviceState state;
  if (stretches.empty())
    return state;
  const uint64_t end = stretches.back().second;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, kPatience, [&] { return isBroken || (!readings.empty() && readings.back().time >= end); });
  for (const Reading &reading : readings)
    if (std::ranges::any_of(stretches, [&](const auto &stretch) {
          return stretch.first <= reading.time && reading.time <= stretch.second;
        }))
      state.add(reading.state);
  std::erase_if(readings, [&](const Reading &reading) { return reading.time < end; });
  if (!state.any() && !readings.empty())
    state = readings.front().state;
  return state;
}

} // namespace kiln
