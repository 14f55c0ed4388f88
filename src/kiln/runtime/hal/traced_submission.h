// Tells a recording when a device was at work on what it was given.
#ifndef KILN_RUNTIME_HAL_TRACED_SUBMISSION_H
#define KILN_RUNTIME_HAL_TRACED_SUBMISSION_H

#include "kiln/base/clock_fit.h"
#include "kiln/runtime/hal/execution_times.h"
#include "kiln/runtime/hal/fence.h"
#include "kiln/trace/lane.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace kiln::hal {

class CommandBuffer;

// Of one device; made when it is first recorded.
class DeviceTrace : public std::enable_shared_from_this<DeviceTrace> {
public:
  using SampleClock = std::function<Result<ClockSample>()>;
  // `isHostClock`: its ticks are nanoseconds of the host's monotonic clock; else `sample` reads its clock beside that.
  DeviceTrace(std::string uri, bool isHostClock);

  // What `times` will tell once `done` is signalled goes to the device's lane then. Keeps the command buffer until
  // then, whose dispatches have the names.
  void follow(const Ref<ExecutionTimes> &times, const Ref<CommandBuffer> &commands, Fence &done);
  // Reads the clock, unless that was done a moment ago.
  void sample(const SampleClock &read);

private:
  class Submission;
  void add(const ExecutionTimes &times);

  const std::string uri;
  const bool isHostClock;
  const uint32_t clock;
  std::mutex mutex;
  trace::Lane &lane; // filled under the mutex
  uint64_t lastSample = 0;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_TRACED_SUBMISSION_H
