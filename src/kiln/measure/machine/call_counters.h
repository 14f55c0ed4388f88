// What the CPU's performance counters say of a stretch of a process's work: by perf_event, in user mode, of the thread
// that opens them and all that it starts later.
#ifndef KILN_MEASURE_MACHINE_CALL_COUNTERS_H
#define KILN_MEASURE_MACHINE_CALL_COUNTERS_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "kiln/base/call_facts.h"
#include "kiln/measure/machine/system_files.h"

namespace kiln::measure {

class CallCounters {
public:
  virtual ~CallCounters() = default;
  // Between the two, and at no other time, they count.
  virtual void start() = 0;
  virtual CallCounts stop() = 0;
};

// Null where this machine has none. To be called before the threads that are to be counted are started.
std::unique_ptr<CallCounters> openCallCounters(const SystemFiles &files);

// For tests: what is behind it.
// A counter as the kernel tells it: counters take turns where the CPU has too few.
struct CounterReading {
  uint64_t value = 0, enabled = 0, running = 0; // the last two in nanoseconds
};
// What it would have counted, had it run all the time; nothing where it never ran.
std::optional<uint64_t> countBetween(const CounterReading &before, const CounterReading &after);

// An event that counts floating-point operations, and how many each count is.
struct FlopEvent {
  const char *name;
  uint64_t weight;
};
// Those whose weighted sum is all of them on this CPU; none where none are known.
std::span<const FlopEvent> flopEvents();

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_CALL_COUNTERS_H
