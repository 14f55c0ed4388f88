// Whether the CPU's performance counters can be read here.
#ifndef KILN_MEASURE_MACHINE_COUNTERS_H
#define KILN_MEASURE_MACHINE_COUNTERS_H

#include <string>
#include <vector>

#include "kiln/measure/machine/system_files.h"

namespace kiln::measure {

struct CounterProbe {
  std::string name; // "cycles", "instructions", "cache misses"
  Fact fact;        // "counts", or why it cannot be had
};

// Opens each for this thread, lets it count a loop, and reads it.
std::vector<CounterProbe> probeCounters(const SystemFiles &files);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_COUNTERS_H
