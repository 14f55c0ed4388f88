#include "kiln/targets/discrete/driver/discrete_clock.h"

#include "kiln/base/clock.h"
#include "kiln/targets/discrete/driver/discrete_device.h"

#include <utility>

namespace kiln::hal {

namespace {

constexpr double kTick = 8;       // nanoseconds that the device takes a tick for
constexpr double kDrift = 1.0002; // it counts so many where one passes
constexpr uint64_t kOffset = uint64_t(1) << 40;

class DiscreteTimedWork final : public TimedWork {
public:
  DiscreteTimedWork(Ref<DiscreteDevice> device, std::vector<Submission> submissions)
      : device(std::move(device)), submissions(std::move(submissions)) {}
  bool isGraph() const override { return false; }

  Result<double> run() override {
    Ref<ExecutionTimes> first = makeRef<ExecutionTimes>(), last = first;
    Ref<Fence> done;
    for (size_t i = 0; i < submissions.size(); ++i) {
      const Submission &submission = submissions[i];
      if (i > 0)
        last = makeRef<ExecutionTimes>();
      done = DiscreteSubmission::start(*device, done.get(), static_cast<DiscreteCommandBuffer &>(*submission.commands),
                                       submission.bindings, Device::kAnyQueue, last.get());
    }
    if (done)
      KILN_RETURN_IF_ERROR(done->wait(Deadline::infinite()));
    return DiscreteClock::nanosecondsOf(last->submission.end - first->submission.begin);
  }

private:
  const Ref<DiscreteDevice> device;
  const std::vector<Submission> submissions;
};

} // namespace

Result<Ref<TimedWork>> DiscreteClock::prepare(std::vector<Submission> submissions) {
  return Ref<TimedWork>(makeRef<DiscreteTimedWork>(Ref<DiscreteDevice>::share(&device), std::move(submissions)));
}

uint64_t DiscreteClock::now() {
  return kOffset + static_cast<uint64_t>(static_cast<double>(monotonicNanoseconds()) * (kDrift / kTick));
}

ClockSample DiscreteClock::sample() {
  ClockSample sample;
  sample.before = monotonicNanoseconds();
  sample.ticks = now();
  sample.after = monotonicNanoseconds();
  return sample;
}

double DiscreteClock::nanosecondsOf(uint64_t ticks) {
  return static_cast<double>(ticks) * kTick;
}

} // namespace kiln::hal
