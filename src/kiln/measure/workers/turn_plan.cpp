#include "kiln/measure/workers/turn_plan.h"

#include <algorithm>

#include "kiln/measure/workers/middle.h"

namespace kiln::measure {

namespace {

constexpr uint64_t kLongLife = 20;

} // namespace

uint64_t planTurn(uint64_t least, std::vector<int64_t> starts) {
  if (starts.empty())
    return least;
  return std::max(least, std::min(kLongestTurn, kTurnPerStart * uint64_t(middleOf(std::move(starts)))));
}

uint64_t planLife(const WorkerCosts &costs, uint64_t turn, uint64_t warmUp) {
  if (kTurnPerStart * costs.start <= kLongestTurn && kTurnPerStart * costs.call <= turn)
    return 1;
  // What is not timed of a worker's life: its start, and a first call at least. A turn is one call at least.
  uint64_t untimed = costs.start + std::max(warmUp, costs.call), timed = std::max(turn, costs.call);
  auto turnsFor = [&](uint64_t times) { return (times * untimed + timed - 1) / timed; };
  return std::min(turnsFor(kTurnPerStart), std::max(kLongLife, turnsFor(1)));
}

} // namespace kiln::measure
