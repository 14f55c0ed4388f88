// When a device was at work on a submission. For measuring: a submission that is not asked costs nothing.
#ifndef KILN_RUNTIME_HAL_EXECUTION_TIMES_H
#define KILN_RUNTIME_HAL_EXECUTION_TIMES_H

#include "kiln/base/ref.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::hal {

// In ticks of the clock that Device::sampleClock reads.
struct TickRange {
  uint64_t begin = 0, end = 0;
};

enum class TimesDetail : uint8_t { Submission, Dispatches };

// Of one submission: made for Device::execute, which begins to fill it. The device fills the rest before the
// submission's fence is signalled; it is to be read after that. What failed, or never came to run, has zeros.
class ExecutionTimes final : public RefCounted {
public:
  explicit ExecutionTimes(TimesDetail detail = TimesDetail::Submission) : detail(detail) {}

  const TimesDetail detail;
  uint64_t submitted = 0; // in monotonicNanoseconds(): when it was handed over
  TickRange submission;   // from before its first command until after the last one
  // Of each dispatch of CommandBuffer::dispatches(), where these were asked for; else empty.
  std::vector<TickRange> dispatches;
  std::vector<std::string_view> names; // of these dispatches; they live as long as the executables
  std::vector<uint32_t> traceNames;    // their numbers (trace/zone.h) where they are recorded; else empty

  // Of a submission that failed on its way.
  void clear() {
    submission = {};
    std::fill(dispatches.begin(), dispatches.end(), TickRange());
  }
};

// Asks for the times of everything that a device executes while it is on, which costs each submission one load where it
// is not. Given to a device with Device::watch, and shared with whoever reads it. All functions may be called on any
// thread.
class ExecutionWatch {
public:
  explicit ExecutionWatch(TimesDetail detail = TimesDetail::Submission) : detail(detail) {}

  const TimesDetail detail;
  void turn(bool on) { watching.store(on, std::memory_order_relaxed); }
  bool isOn() const { return watching.load(std::memory_order_relaxed); }

  void add(Ref<ExecutionTimes> times) {
    std::lock_guard lock(mutex);
    all.push_back(std::move(times));
  }
  // What was submitted since it was asked last, in that order; each to be read once its fence is signalled.
  std::vector<Ref<ExecutionTimes>> take() {
    std::lock_guard lock(mutex);
    return std::exchange(all, {});
  }

private:
  std::atomic<bool> watching{false};
  std::mutex mutex;
  std::vector<Ref<ExecutionTimes>> all; // guarded
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_EXECUTION_TIMES_H
