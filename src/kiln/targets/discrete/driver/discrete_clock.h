// The clock of a discrete device, which starts elsewhere, ticks at another rate and runs away from the host's.
#ifndef KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_CLOCK_H
#define KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_CLOCK_H

#include "kiln/base/clock_fit.h"
#include "kiln/runtime/hal/device_clock.h"

namespace kiln::hal {

class DiscreteDevice;

class DiscreteClock final : public DeviceClock {
public:
  explicit DiscreteClock(DiscreteDevice &device) : device(device) {}
  // One after the other, in several queues.
  Result<Ref<TimedWork>> prepare(std::vector<Submission> submissions) override;

  // In ticks.
  static uint64_t now();
  static ClockSample sample();
  // As the device counts it, which is a little more or less than the host.
  static double nanosecondsOf(uint64_t ticks);

private:
  DiscreteDevice &device;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_CLOCK_H
