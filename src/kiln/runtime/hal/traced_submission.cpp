#include "kiln/runtime/hal/traced_submission.h"

#include "kiln/base/clock.h"
#include "kiln/runtime/hal/command_buffer.h"
#include "kiln/runtime/hal/fence_listener.h"
#include "kiln/trace/recorder.h"
#include "kiln/trace/zone.h"

#include <algorithm>
#include <vector>

namespace kiln::hal {

namespace capture = schema::capture;

// Of the clock of a device, as reading it may wait for what the device is at.
static constexpr uint64_t kSampleInterval = 200'000'000;
static constexpr int kSamplesAtOnce = 4; // which a fit takes at least

class DeviceTrace::Submission final : public FenceListener {
public:
  Submission(std::shared_ptr<DeviceTrace> trace, Ref<ExecutionTimes> times, Ref<CommandBuffer> commands)
      : trace(std::move(trace)), times(std::move(times)), commands(std::move(commands)) {}

private:
  void onSignaled(Status status) override {
    if (status.ok())
      trace->add(*times);
    delete this;
  }
  const std::shared_ptr<DeviceTrace> trace;
  const Ref<ExecutionTimes> times;
  const Ref<CommandBuffer> commands;
};

DeviceTrace::DeviceTrace(std::string uri, bool isHostClock)
    : uri(std::move(uri)), isHostClock(isHostClock),
      clock(isHostClock ? trace::kMonotonicClock : trace::addClock(this->uri)),
      lane(trace::addLane(this->uri, capture::LaneKind::Device, clock)) {}

void DeviceTrace::follow(const Ref<ExecutionTimes> &times, const Ref<CommandBuffer> &commands, Fence &done) {
  (new Submission(shared_from_this(), times, commands))->listen(done);
}

void DeviceTrace::sample(const SampleClock &read) {
  if (isHostClock)
    return;
  std::lock_guard lock(mutex);
  const uint64_t now = monotonicNanoseconds();
  if (lastSample != 0 && now - lastSample < kSampleInterval)
    return;
  lastSample = now;
  std::vector<ClockSample> samples;
  for (int i = 0; i < kSamplesAtOnce; ++i)
    if (Result<ClockSample> sample = read(); sample.ok())
      samples.push_back(*sample);
  trace::addClockSamples(clock, samples);
}

// Dispatches that ran at the same time are beside each other in the lane, in the order in which they began.
void DeviceTrace::add(const ExecutionTimes &times) {
  std::vector<trace::Lane::Event> events;
  for (size_t i = 0; i < times.dispatches.size(); ++i)
    if (const TickRange range = times.dispatches[i]; range.end != 0)
      events.push_back({range.begin, range.end, times.traceNames[i], capture::EventKind::Zone, 0, 0});
  std::ranges::sort(events, {}, &trace::Lane::Event::time);
  std::lock_guard lock(mutex);
  for (const trace::Lane::Event &event : events)
    lane.put(event);
}

} // namespace kiln::hal
