// What the CPU's performance counters say of a stretch of a process's work: by perf_event, in user mode, of the thread
// that opens them and all that it starts later.
#ifndef KILN_MEASURE_MACHINE_CALL_COUNTERS_H
#define KILN_MEASURE_MACHINE_CALL_COUNTERS_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "kiln/measure/machine/system_files.h"

namespace kiln::measure {

// Each is nothing where it was not counted.
struct CallCounts {
  std::optional<uint64_t> cycles, instructions, cacheMisses;
  std::optional<uint64_t> flops; // of floating-point types, a multiply-add as two

  // Of both; nothing where one was not counted.
  CallCounts operator+(const CallCounts &other) const {
    auto sum = [](const std::optional<uint64_t> &a, const std::optional<uint64_t> &b) {
      return a && b ? std::optional(*a + *b) : std::nullopt;
    };
    return {sum(cycles, other.cycles), sum(instructions, other.instructions), sum(cacheMisses, other.cacheMisses),
            sum(flops, other.flops)};
  }
  bool any() const { return cycles || instructions || cacheMisses || flops; }
  bool operator==(const CallCounts &) const = default;
};

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
