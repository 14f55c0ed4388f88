// What the CPU's counters said of a row's timed calls, in user mode.
#include "kiln/report/columns/columns.h"

namespace kiln::report {

using Count = std::optional<uint64_t> CallCounts::*;

static std::optional<double> ofCall(const Row &row, Count count) {
  if (!row.counters || row.counters->calls == 0 || !(row.counters->*count))
    return {};
  return static_cast<double>(*(row.counters->*count)) / static_cast<double>(row.counters->calls);
}

template <Count count> static Value perCall(const Row &row) {
  std::optional<double> value = ofCall(row, count);
  return value ? Value(Number{*value, -1}) : Value();
}

static Value instructionsPerCycle(const Row &row) {
  std::optional<double> instructions = ofCall(row, &CallCounts::instructions);
  std::optional<double> cycles = ofCall(row, &CallCounts::cycles);
  return instructions && cycles && *cycles > 0 ? Value(Number{*instructions / *cycles, -1}) : Value();
}

static Value flopsPerCycle(const Row &row) {
  std::optional<double> flops = ofCall(row, &CallCounts::flops), cycles = ofCall(row, &CallCounts::cycles);
  return flops && cycles && *cycles > 0 ? Value(Number{*flops / *cycles, -1}) : Value();
}

// Says that there is nothing, so that empty cells beside it are understood.
static Value counted(const Row &row) {
  if (!row.estimate)
    return {};
  static constexpr std::pair<std::string_view, Count> kNames[] = {{"cycles", &CallCounts::cycles},
                                                                  {"instructions", &CallCounts::instructions},
                                                                  {"cache misses", &CallCounts::cacheMisses},
                                                                  {"FLOPs", &CallCounts::flops}};
  std::string names;
  for (const auto &[name, count] : kNames)
    if (ofCall(row, count))
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  return names.empty() ? "not available" : names;
}

static constexpr Column kColumns[] = {
    {"counters", "Counters", Unit::Text, counted, 14, 0, Page::More,
     "What was counted while it was timed; not available where the machine or the provider has no counters."},
    {"instructions_per_cycle", "IPC", Unit::Ratio, instructionsPerCycle, 5, 0, Page::More,
     "Instructions per cycle, over all of its threads."},
    {"cycles_per_call", "Cycles", Unit::Count, perCall<&CallCounts::cycles>, 8, 0, Page::More,
     "Cycles of a call, of all threads together, also of those that wait without sleeping."},
    {"instructions_per_call", "Instructions", Unit::Count, perCall<&CallCounts::instructions>, 8, 0, Page::More,
     "Instructions of a call."},
    {"cache_misses_per_call", "Misses", Unit::Count, perCall<&CallCounts::cacheMisses>, 8, 0, Page::More,
     "Misses of the last-level cache in a call, or of what the CPU counts as such."},
    {"counted_flops_per_call", "Counted FLOPs", Unit::Flops, perCall<&CallCounts::flops>, 8, 0, Page::More,
     "Floating-point operations that the CPU did in a call, a multiply-add as two; padding and conversions count, "
     "too."},
    {"counted_flops_per_cycle", "FLOPs/cycle", Unit::Ratio, flopsPerCycle, 6, 0, Page::More,
     "Floating-point operations that the CPU did, of a cycle of one thread."},
};

std::span<const Column> counterColumns() {
  return kColumns;
}

} // namespace kiln::report
