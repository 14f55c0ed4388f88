#include "kiln/measure/statistics/rounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln::measure {
namespace {

constexpr size_t kMostKept = 64;
constexpr size_t kFewRounds = 12;

// Weights add up to 1. The value at which their running sum, counted to the middle of each, reaches `share`.
template <typename Weighted> double weightedPercentile(const std::vector<Weighted> &sorted, double share) {
  double below = 0;
  double lastMiddle = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const double middle = below + sorted[i].weight / 2;
    if (middle >= share) {
      if (i == 0)
        return sorted[i].value;
      const double part = (share - lastMiddle) / (middle - lastMiddle);
      return sorted[i - 1].value + (sorted[i].value - sorted[i - 1].value) * part;
    }
    below += sorted[i].weight;
    lastMiddle = middle;
  }
  return sorted.back().value;
}

// The share of a round's samples that is below; those that are equal count half.
double shareBelow(const std::vector<double> &sorted, double value) {
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
  return static_cast<double>((first - sorted.begin()) + (last - sorted.begin())) /
         (2 * static_cast<double>(sorted.size()));
}

} // namespace

void CandidateRounds::add(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  sampleCount += times.size();
  locations.push_back(std::log(percentileOfSorted(times, 0.5)));
  if (times.size() <= kMostKept) {
    times.shrink_to_fit();
    kept.push_back(std::move(times));
    return;
  }
  std::vector<double> fewer(kMostKept);
  for (size_t i = 0; i < kMostKept; ++i)
    fewer[i] = percentileOfSorted(times, (static_cast<double>(i) + 0.5) / kMostKept);
  kept.push_back(std::move(fewer));
}

std::vector<CandidateRounds::Weighted> CandidateRounds::pool() const {
  std::vector<Weighted> pooled;
  for (const std::vector<double> &round : kept) {
    const double weight = 1 / (static_cast<double>(kept.size()) * static_cast<double>(round.size()));
    for (double value : round)
      pooled.push_back({value, weight});
  }
  std::sort(pooled.begin(), pooled.end(), [](const Weighted &a, const Weighted &b) { return a.value < b.value; });
  return pooled;
}

Interval CandidateRounds::intervalOfFew(double alpha) const {
  if (locations.size() < 3)
    return {0, std::numeric_limits<double>::infinity()};
  StudentTable table(alpha);
  const Location location = locate(locations);
  const Interval interval = location.interval(table);
  const auto [least, most] = std::minmax_element(locations.begin(), locations.end());
  return {std::exp(std::min(interval.low, *least)), std::exp(std::max(interval.high, *most))};
}

Interval CandidateRounds::intervalOfMany(const std::vector<Weighted> &pooled, double median, double alpha) const {
  const auto count = static_cast<double>(kept.size());
  std::vector<double> shares;
  double perRound = 0;
  for (const std::vector<double> &round : kept) {
    shares.push_back(shareBelow(round, median));
    perRound += static_cast<double>(round.size()) / count;
  }
  double squares = 0;
  for (double share : shares)
    squares += (share - 0.5) * (share - 0.5);
  // Where samples alternate between fast and slow within each round, all shares are alike: the variance is at least
  // what chance alone gives.
  const double variance = std::max(squares / (count - 1), 0.25 / perRound);
  // Where rounds differ by more than samples, shares are close to 0 or 1, which hides part of the correlation.
  const double factor = std::max(autocorrelationFactor(shares), autocorrelationFactor(winsorized(locations)));
  const double reach = studentQuantile(alpha, std::max(1.0, count / factor - 1)) * std::sqrt(variance * factor / count);
  // The overall median lies between the medians of the rounds. Without this limit, a single preempted sample would be
  // the end of an interval where the correlation leaves nothing certain.
  const auto [least, most] = std::minmax_element(locations.begin(), locations.end());
  return {std::max(weightedPercentile(pooled, 0.5 - reach), std::exp(*least)),
          std::min(weightedPercentile(pooled, 0.5 + reach), std::exp(*most))};
}

double CandidateRounds::median() const {
  return weightedPercentile(pool(), 0.5);
}

CandidateRounds::Summary CandidateRounds::summarize(double alpha) const {
  if (kept.empty())
    return {std::nan(""), std::nan(""), std::nan(""), {0, std::numeric_limits<double>::infinity()}};
  const std::vector<Weighted> pooled = pool();
  Summary summary;
  summary.median = weightedPercentile(pooled, 0.5);
  summary.p10 = weightedPercentile(pooled, 0.1);
  summary.p90 = weightedPercentile(pooled, 0.9);
  summary.interval = kept.size() < kFewRounds ? intervalOfFew(alpha) : intervalOfMany(pooled, summary.median, alpha);
  // The interval of few rounds is one of the rounds' medians, and the overall median may lie a little outside.
  summary.interval.low = std::min(summary.interval.low, summary.median);
  summary.interval.high = std::max(summary.interval.high, summary.median);
  return summary;
}

} // namespace kiln::measure
