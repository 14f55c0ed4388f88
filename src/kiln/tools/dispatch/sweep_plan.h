// What a sweep is going to be, before it is.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_PLAN_H
#define KILN_TOOLS_DISPATCH_SWEEP_PLAN_H

#include <utility>

#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/known_providers.h"

namespace kiln {

// Seconds that it takes to verify and measure so many candidates of a problem, compiling left out: at least, where most
// of them are slow and leave early, and at most, where nobody does.
std::pair<double, double> measuringSeconds(const measure::Problem &problem, size_t candidates, uint32_t threads,
                                           const SweepSettings &settings);

// Prints how many problems and candidates there are, and about how long it will take.
void announceSweep(const Lab &lab, const std::vector<Operation> &operations,
                   const std::vector<KnownProvider> &providers);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_PLAN_H
