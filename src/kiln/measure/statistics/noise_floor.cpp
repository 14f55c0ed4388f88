#include "kiln/measure/statistics/noise_floor.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "kiln/measure/statistics/levels.h"
#include "kiln/measure/statistics/robust.h"

namespace kiln::measure {
namespace {

constexpr uint32_t kFewestRounds = 8;
constexpr double kHit = 5;
// From the median of absolute deviations to the standard deviation of a normal distribution.
constexpr double kDeviationOfMedian = 1.4826;

struct Pairs {
  std::vector<double> reaches; // half-widths of the intervals of the ratios, as logarithms
  std::vector<double> deviations;
  double furthest = 0;
  uint32_t apart = 0;
};

void addPair(const GroupStatistics &group, uint32_t first, uint32_t second, const Comparison &comparison,
             Pairs &pairs) {
  const double value = std::log(comparison.ratio);
  pairs.reaches.push_back((std::log(comparison.interval.high) - std::log(comparison.interval.low)) / 2);
  pairs.furthest = std::max(pairs.furthest, std::abs(value));
  pairs.apart += comparison.apart ? 1 : 0;
  const std::span<const double> one = group.locations(first);
  const std::span<const double> other = group.locations(second);
  for (size_t round = 0; round < std::min(one.size(), other.size()); ++round)
    if (const double deviation = std::abs(one[round] - other[round] - value); !std::isnan(deviation))
      pairs.deviations.push_back(deviation);
}

// The share of candidates' rounds that are `limit` above their candidate's and their round's level.
double shareAbove(std::span<const std::span<const double>> series, const Levels &levels, double limit) {
  double above = 0;
  double all = 0;
  for (size_t candidate = 0; candidate < series.size(); ++candidate)
    for (size_t round = 0; round < series[candidate].size(); ++round) {
      const double rest = series[candidate][round] - levels.candidates[candidate] - levels.rounds[round];
      all += std::isnan(rest) ? 0 : 1;
      above += rest > limit ? 1 : 0;
    }
  return above / all;
}

} // namespace

Result<NoiseFloor> noiseFloor(const GroupStatistics &group) {
  const auto count = static_cast<uint32_t>(group.candidateCount());
  if (count < 2)
    return failedPrecondition("the noise floor needs two candidates or more of the same program; there are {}", count);
  NoiseFloor floor;
  floor.candidates = count;
  Pairs pairs;
  std::vector<std::span<const double>> series;
  for (uint32_t first = 0; first < count; ++first) {
    series.push_back(group.locations(first));
    for (uint32_t second = first + 1; second < count; ++second) {
      const Comparison comparison = group.compare(first, second);
      if (comparison.rounds < kFewestRounds)
        return failedPrecondition(
            "the noise floor needs {} rounds in which candidates {} and {} both ran; there are {}", kFewestRounds,
            first, second, comparison.rounds);
      floor.rounds = std::max(floor.rounds, comparison.rounds);
      addPair(group, first, second, comparison, pairs);
    }
  }
  const Levels levels = splitLevels(series);
  std::vector<double> rounds;
  std::copy_if(levels.rounds.begin(), levels.rounds.end(), std::back_inserter(rounds),
               [](double level) { return !std::isnan(level); });
  floor.roundSpread = percentile(pairs.deviations, 0.5) * kDeviationOfMedian / std::numbers::sqrt2;
  floor.drift = std::expm1(percentile(rounds, 0.9) - percentile(rounds, 0.1));
  floor.hits = shareAbove(series, levels, kHit * floor.roundSpread);
  floor.spread = std::expm1(pairs.furthest);
  floor.resolvable = std::expm1(percentile(pairs.reaches, 0.5) + std::log1p(group.options().tieWithin));
  floor.pairsApart = pairs.apart;
  return floor;
}

} // namespace kiln::measure
