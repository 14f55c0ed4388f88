// How long the candidates of a group hold the token, and for how many turns their workers live. docs/lab.md says why.
#ifndef KILN_MEASURE_WORKERS_TURN_PLAN_H
#define KILN_MEASURE_WORKERS_TURN_PLAN_H

#include <cstdint>
#include <vector>

namespace kiln::measure {

// Turns last so many times as long as it takes to start a worker, but no longer than the maximum for that.
inline constexpr uint64_t kTurnPerStart = 7;
inline constexpr uint64_t kLongestTurn = 100'000'000;

// What the workers of a candidate took so far, at best, nanoseconds.
struct WorkerCosts {
  uint64_t start = UINT64_MAX; // until it has loaded
  uint64_t call = 1;
};

// Nanoseconds of a turn: `least`, or what the middle one of these starts makes of it.
uint64_t planTurn(uint64_t least, std::vector<int64_t> starts);

// The turns that a worker lives for. It is timed for seven times as long as it takes to start and to warm up; where
// that takes more than twenty turns, for as long as these, or as long as it takes to start if that is longer: even a
// program that starts slowly has several processes in a long group.
uint64_t planLife(const WorkerCosts &costs, uint64_t turn, uint64_t warmUp);

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_TURN_PLAN_H
