#include "kiln/measure/workers/count_claims.h"

#include <optional>

namespace kiln::measure {

namespace {
constexpr double kCyclesPerNanosecond = 10;
constexpr double kInstructionsPerCycle = 10;
constexpr double kCacheMissesPerCycle = 1;
constexpr double kFlopsPerCycle = 4096;
} // namespace

Status checkCounts(const CallCounts &counts, uint64_t elapsedNanoseconds, uint32_t threads) {
  const double cycles = double(elapsedNanoseconds) * threads * kCyclesPerNanosecond;
  struct Limit {
    const char *name;
    std::optional<uint64_t> count;
    double most;
  };
  for (const Limit &limit : {Limit{"cycles", counts.cycles, cycles},
                             {"instructions", counts.instructions, cycles * kInstructionsPerCycle},
                             {"cache misses", counts.cacheMisses, cycles * kCacheMissesPerCycle},
                             {"floating-point operations", counts.flops, cycles * kFlopsPerCycle}})
    if (limit.count && double(*limit.count) > limit.most)
      return invalidArgument("the worker says that it counted {} {}; in {} ns on {} {} no processor does more than "
                             "{:.0f}",
                             *limit.count, limit.name, elapsedNanoseconds, threads, threads == 1 ? "thread" : "threads",
                             limit.most);
  return okStatus();
}

} // namespace kiln::measure
