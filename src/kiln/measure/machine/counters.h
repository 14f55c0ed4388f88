// The CPU's performance counters: perf_event's, of the events that libpfm4 knows by name.
#ifndef KILN_MEASURE_MACHINE_COUNTERS_H
#define KILN_MEASURE_MACHINE_COUNTERS_H

#include <string>
#include <vector>

#include "kiln/measure/machine/system_files.h"

namespace kiln::measure {

inline constexpr const char *kCycleEvent = "PERF_COUNT_HW_CPU_CYCLES";
inline constexpr const char *kInstructionEvent = "PERF_COUNT_HW_INSTRUCTIONS";
inline constexpr const char *kCacheMissEvent = "PERF_COUNT_HW_CACHE_MISSES";

// Whether libpfm4 knows such an event on all cores of this CPU.
bool knowsEvent(const char *event);

// The file of a counter that does not count yet: in user mode, of this thread and of those that it starts from now on.
// It is to be closed. A read gives three numbers: the count, and the nanoseconds in which it was enabled and ran. The
// error says why this machine has none, and what to do.
Result<int> openCounter(const char *event, const SystemFiles &files);

struct CounterProbe {
  std::string name; // "cycles", "instructions", "cache misses"
  Fact fact;        // "counts", or why it cannot be had
};

// Opens each for this thread, lets it count a loop, and reads it.
std::vector<CounterProbe> probeCounters(const SystemFiles &files);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_COUNTERS_H
