// How many candidates a sweep has, and how long it will take.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_SWEEP_PLAN_H
#define KILN_TOOLS_DISPATCH_SWEEP_SWEEP_PLAN_H

#include <span>
#include <string>

#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/sweep/known_providers.h"

namespace kiln {

// Seconds: where all goes well, and where the machine is busy.
struct PlannedTime {
  double least = 0, most = 0;

  PlannedTime &operator+=(const PlannedTime &other) {
    least += other.least, most += other.most;
    return *this;
  }
  // "about 3 s to 9 s", or "about 3 s".
  std::string text() const;
};

// Verifying and measuring a problem with candidates whose workers take so many seconds each to start: at least, where
// all but one are slow and leave early, and at most, where none leaves.
PlannedTime measuringTime(const measure::Problem &problem, std::span<const double> starts, uint32_t threads,
                          const SweepSettings &settings);

// Compiling problems with so many dispatches each, with so many compilers at once.
PlannedTime compilingTime(std::span<const size_t> dispatches, uint32_t compilers);

// Prints how many problems and candidates there are, and about how long it will take.
void announceSweep(const Lab &lab, const std::vector<Operation> &operations,
                   const std::vector<KnownProvider> &providers);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_SWEEP_PLAN_H
