// Tells when a device was at work on what was submitted to it. For measuring: a watch that is off costs each submission
// one load.
#ifndef KILN_RUNTIME_HAL_EXECUTION_WATCH_H
#define KILN_RUNTIME_HAL_EXECUTION_WATCH_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace kiln::hal {

// Of one submission, in monotonicNanoseconds(): when it was handed over, when its first workgroup started and when its
// last one ended, each read on the thread that did it.
struct ExecutionTimes {
  uint64_t submitted = 0, started = 0, ended = 0;
};

// Given to a device in its options, and shared with whoever reads it. All functions may be called on any thread.
class ExecutionWatch {
public:
  void turn(bool on) { watching.store(on, std::memory_order_relaxed); }
  bool isOn() const { return watching.load(std::memory_order_relaxed); }

  // A device adds a submission before its fence is signaled, so that it is there for whoever has waited.
  void add(const ExecutionTimes &times) {
    std::lock_guard lock(mutex);
    all.push_back(times);
  }
  // What was added since it was asked last.
  std::vector<ExecutionTimes> take() {
    std::lock_guard lock(mutex);
    return std::exchange(all, {});
  }

private:
  std::atomic<bool> watching{false};
  std::mutex mutex;
  std::vector<ExecutionTimes> all; // guarded
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_EXECUTION_WATCH_H
