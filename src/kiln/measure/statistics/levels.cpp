#include "kiln/measure/statistics/levels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/measure/statistics/robust.h"

namespace kiln::measure {
namespace {

constexpr int kMostTurns = 20;
constexpr double kAgreed = 1e-5;

// The change of the level that changed most.
double updateCandidates(std::span<const std::span<const double>> series, Levels &levels) {
  double change = 0;
  std::vector<double> values;
  for (size_t candidate = 0; candidate < series.size(); ++candidate) {
    values.clear();
    for (size_t round = 0; round < series[candidate].size(); ++round)
      if (const double value = series[candidate][round] - levels.rounds[round]; !std::isnan(value))
        values.push_back(value);
    const double level = trimmedMean(values);
    if (!std::isnan(level))
      change = std::max(change, std::abs(level - levels.candidates[candidate]));
    levels.candidates[candidate] = level;
  }
  return change;
}

void updateRounds(std::span<const std::span<const double>> series, Levels &levels) {
  std::vector<double> values;
  for (size_t round = 0; round < levels.rounds.size(); ++round) {
    values.clear();
    for (size_t candidate = 0; candidate < series.size(); ++candidate)
      if (round < series[candidate].size())
        if (const double value = series[candidate][round] - levels.candidates[candidate]; !std::isnan(value))
          values.push_back(value);
    levels.rounds[round] = percentile(values, 0.5);
  }
}

} // namespace

Levels splitLevels(std::span<const std::span<const double>> series) {
  size_t rounds = 0;
  for (std::span<const double> each : series)
    rounds = std::max(rounds, each.size());
  Levels levels{std::vector<double>(series.size(), 0), std::vector<double>(rounds, 0)};
  updateCandidates(series, levels);
  for (int turn = 0; turn < kMostTurns; ++turn) {
    updateRounds(series, levels);
    if (updateCandidates(series, levels) < kAgreed)
      break;
  }
  return levels;
}

} // namespace kiln::measure
