// What is known of calls besides their times.
#ifndef KILN_BASE_CALL_FACTS_H
#define KILN_BASE_CALL_FACTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

// When a device was at work, a value for each call, in ticks of the clock that is named. `submitted` is empty where
// that clock cannot tell it.
struct DeviceTimes {
  std::string clock = {}; // "monotonic" is CLOCK_MONOTONIC, which the lab has, too
  uint64_t ticksPerSecond = 1'000'000'000;
  std::vector<int64_t> submitted = {}, started = {}, ended = {};

  bool operator==(const DeviceTimes &) const = default;
};

// What the CPU's counters said, each nothing where it was not counted.
struct CallCounts {
  std::optional<uint64_t> cycles = {}, instructions = {}, cacheMisses = {};
  std::optional<uint64_t> flops = {}; // of floating-point types, a multiply-add as two

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

} // namespace kiln

#endif // KILN_BASE_CALL_FACTS_H
