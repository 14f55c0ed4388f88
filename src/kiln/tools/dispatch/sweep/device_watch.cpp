#include "kiln/tools/dispatch/sweep/device_watch.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "kiln/base/clock.h"

namespace kiln {

// A turn lasts 10 ms at least, and mostly ten times as long where a device has to be opened first.
static constexpr std::chrono::milliseconds kPause(3);
// Beyond what a turn may last, nobody asks for what was read.
static constexpr size_t kMostReadings = 100'000;

namespace {
struct Reading {
  uint64_t time;
  DeviceState state;
};
} // namespace

struct DeviceWatch::Shared {
  explicit Shared(std::shared_ptr<hal::DeviceMonitor> monitor) : monitor(std::move(monitor)) {}
  void watch(); // what the thread does

  const std::shared_ptr<hal::DeviceMonitor> monitor; // used by the thread alone
  std::mutex mutex;                                  // of all that follows
  std::condition_variable changed;
  bool stopping = false, hasStopped = false;
  bool isBroken = false; // the last reading failed, or was waited for in vain
  std::deque<Reading> readings;
};

void DeviceWatch::Shared::watch() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    lock.unlock();
    const uint64_t time = monotonicNanoseconds();
    Result<DeviceState> state = monitor->read();
    lock.lock();
    isBroken = !state.ok();
    if (state.ok())
      readings.push_back({time, *std::move(state)});
    if (readings.size() > kMostReadings)
      readings.pop_front();
    changed.notify_all();
    changed.wait_for(lock, kPause, [&] { return stopping; });
  }
  hasStopped = true;
  changed.notify_all();
}

DeviceWatch::DeviceWatch(std::shared_ptr<hal::DeviceMonitor> monitor, std::chrono::nanoseconds patience)
    : patience(patience), shared(std::make_shared<Shared>(std::move(monitor))),
      thread([shared = shared] { shared->watch(); }) {}

DeviceWatch::~DeviceWatch() {
  std::unique_lock lock(shared->mutex);
  shared->stopping = true;
  shared->changed.notify_all();
  const bool hasStopped = shared->changed.wait_for(lock, patience, [&] { return shared->hasStopped; });
  lock.unlock();
  if (hasStopped)
    thread.join();
  else
    thread.detach();
}

DeviceState DeviceWatch::during(std::span<const std::pair<uint64_t, uint64_t>> stretches) {
  DeviceState state;
  if (stretches.empty())
    return state;
  const uint64_t end = stretches.back().second;
  std::unique_lock lock(shared->mutex);
  std::deque<Reading> &readings = shared->readings;
  if (!shared->changed.wait_for(lock, patience,
                                [&] { return shared->isBroken || (!readings.empty() && readings.back().time >= end); }))
    shared->isBroken = true;
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
