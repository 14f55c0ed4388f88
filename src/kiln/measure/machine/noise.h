// How much the same work differs from run to run, and how fast the clock ticks.
#ifndef KILN_MEASURE_MACHINE_NOISE_H
#define KILN_MEASURE_MACHINE_NOISE_H

#include <functional>
#include <span>

#include "kiln/measure/machine/provenance.h"

namespace kiln::measure {

struct Noise {
  unsigned threads = 0;
  unsigned samples = 0;
  double medianSeconds = 0; // of one run
  double p10 = 0, p90 = 0;  // of one run, in parts of the median
  // Runs belong to A and B in turn, though both are the same; they are compared in short stretches, median with median.
  // This is the difference that 95 % of the stretches stay below: what is smaller than it cannot be told by a short
  // measurement.
  double floor = 0;
};

// From the seconds of runs, in the order in which they were made.
Noise summarizeNoise(unsigned threads, std::span<const double> samples);

// Runs a fixed kernel, some arithmetic and some reading from the second-level cache, of about half a millisecond, on so
// many threads at once, for so long.
Noise measureNoise(const Provenance &machine, unsigned threads, double seconds,
                   const std::function<bool()> &isOver = {});

// Cycles per second of one CPU, by a chain of additions that each take a cycle.
struct ClockRate {
  double best = 0, median = 0;
};
ClockRate measureClockRate(const Provenance &machine, double seconds);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_NOISE_H
