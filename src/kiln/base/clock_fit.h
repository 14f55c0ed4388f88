// The time of one clock from the ticks of another, which starts elsewhere and runs at another rate.
#ifndef KILN_BASE_CLOCK_FIT_H
#define KILN_BASE_CLOCK_FIT_H

#include "kiln/base/status.h"

#include <cstdint>
#include <span>

namespace kiln {

// Two readings of the host's clock, in monotonicNanoseconds(), and one of the other clock between them.
struct ClockSample {
  uint64_t before = 0, ticks = 0, after = 0;
};

struct ClockFit {
  uint64_t hostOrigin = 0, tickOrigin = 0; // the same moment
  double nanosecondsPerTick = 1;
  // Nanoseconds from what the fit says to the middle of a sample that it did not see, of the worst of these; and how
  // far the middle of a sample may be from the truth, of the widest sample that was used.
  double residual = 0, uncertainty = 0;

  uint64_t toHost(uint64_t ticks) const;

  // The line through the samples, least squares, narrow ones first: a sample that is more than twice as wide as half of
  // them was interrupted, and is left out. Every second one is kept back to be predicted. InvalidArgument for fewer
  // than four samples, or where the other clock stands still or runs backwards.
  static Result<ClockFit> of(std::span<const ClockSample> samples);
};

} // namespace kiln

#endif // KILN_BASE_CLOCK_FIT_H
