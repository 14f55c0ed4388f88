#include "kiln/measure/machine/call_counters.h"

#include <algorithm>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "kiln/measure/machine/counters.h"

namespace kiln::measure {

namespace {

enum class Kind { Cycles, Instructions, CacheMisses, Flops };

class Counter {
public:
  Counter(Kind kind, int file, uint64_t weight) : kind(kind), weight(weight), file(file) {}
  Counter(Counter &&other) noexcept
      : kind(other.kind), weight(other.weight), file(std::exchange(other.file, -1)), before(other.before) {}
  Counter &operator=(Counter &&) = delete;
  ~Counter() {
    if (file >= 0)
      ::close(file);
  }

  // Resetting a counter leaves what threads have inherited from it: readings are told apart instead.
  void start() {
    before = read();
    ::ioctl(file, PERF_EVENT_IOC_ENABLE, 0);
  }
  std::optional<uint64_t> stop() {
    ::ioctl(file, PERF_EVENT_IOC_DISABLE, 0);
    std::optional<uint64_t> count = countBetween(before, read());
    return count ? std::optional(*count * weight) : std::nullopt;
  }

  Kind kind;

private:
  CounterReading read() const {
    uint64_t numbers[3] = {};
    bool whole = ::read(file, numbers, sizeof(numbers)) == static_cast<ssize_t>(sizeof(numbers));
    return whole ? CounterReading{numbers[0], numbers[1], numbers[2]} : CounterReading();
  }

  uint64_t weight;
  int file;
  CounterReading before;
};

class PerfCounters final : public CallCounters {
public:
  explicit PerfCounters(const SystemFiles &files) {
    add(Kind::Cycles, kCycleEvent, files);
    add(Kind::Instructions, kInstructionEvent, files);
    add(Kind::CacheMisses, kCacheMissEvent, files);
    flopsWhole = any() && std::ranges::all_of(flopEvents(), [&](const FlopEvent &event) {
                   return add(Kind::Flops, event.name, files, event.weight);
                 });
  }

  bool any() const { return !counters.empty(); }

  void start() override {
    for (Counter &counter : counters)
      counter.start();
  }

  CallCounts stop() override {
    CallCounts counts;
    std::optional<uint64_t> *fields[] = {&counts.cycles, &counts.instructions, &counts.cacheMisses, &counts.flops};
    bool whole = flopsWhole;
    for (Counter &counter : counters) {
      std::optional<uint64_t> count = counter.stop();
      std::optional<uint64_t> &field = *fields[static_cast<size_t>(counter.kind)];
      if (count)
        field = field.value_or(0) + *count;
      else if (counter.kind == Kind::Flops)
        whole = false;
    }
    // A sum that lacks a part is no sum.
    if (!whole)
      counts.flops.reset();
    return counts;
  }

private:
  bool add(Kind kind, const char *event, const SystemFiles &files, uint64_t weight = 1) {
    Result<int> file = openCounter(event, files);
    if (file.ok())
      counters.emplace_back(kind, *file, weight);
    return file.ok();
  }

  std::vector<Counter> counters;
  bool flopsWhole; // each event that is part of the sum is counted
};

} // namespace

std::optional<uint64_t> countBetween(const CounterReading &before, const CounterReading &after) {
  if (after.running <= before.running || after.enabled < before.enabled || after.value < before.value)
    return std::nullopt;
  uint64_t value = after.value - before.value, enabled = after.enabled - before.enabled,
           running = after.running - before.running;
  if (running >= enabled)
    return value;
  return static_cast<uint64_t>(static_cast<double>(value) * static_cast<double>(enabled) /
                               static_cast<double>(running));
}

// Each counts operations, or instructions by the number of their elements, a multiply-add twice. Events of the same
// weight share a counter: scalars; 2 doubles; 4 floats or doubles; 8; 16 floats.
static constexpr FlopEvent kOperations[] = {{"RETIRED_SSE_AVX_FLOPS:ANY", 1}};
static constexpr FlopEvent kInstructions[] = {{"FP_ARITH_INST_RETIRED:SCALAR", 1},
                                              {"FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", 2},
                                              {"FP_ARITH_INST_RETIRED:4_FLOPS", 4},
                                              {"FP_ARITH_INST_RETIRED:8_FLOPS", 8},
                                              {"FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", 16}};
// The same on older CPUs, whose events have no common names.
static constexpr FlopEvent kOlderInstructions[] = {{"FP_ARITH_INST_RETIRED:SCALAR_SINGLE:SCALAR_DOUBLE", 1},
                                                   {"FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", 2},
                                                   {"FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE:256B_PACKED_DOUBLE", 4},
                                                   {"FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE:512B_PACKED_DOUBLE", 8},
                                                   {"FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", 16}};

std::span<const FlopEvent> flopEvents() {
  for (std::span<const FlopEvent> events :
       std::initializer_list<std::span<const FlopEvent>>{kOperations, kInstructions, kOlderInstructions})
    if (std::ranges::all_of(events, knowsEvent, &FlopEvent::name))
      return events;
  return {};
}

std::unique_ptr<CallCounters> openCallCounters(const SystemFiles &files) {
  auto counters = std::make_unique<PerfCounters>(files);
  return counters->any() ? std::move(counters) : nullptr;
}

} // namespace kiln::measure
