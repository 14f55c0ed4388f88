#include "kiln/measure/workers/fresh_turns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kiln::measure {

namespace {

constexpr size_t kTurnsWithout = 3; // at most, before the first fresh one
constexpr unsigned kOneIn = 6, kOneInSuspicious = 2;
constexpr double kSuspicious = 0.05, kCertain = 0.05; // logarithms of ratios
// Of each kind, before anything is said; with fewer a single disturbance could decide.
constexpr size_t kLeast = 4;
// How many standard errors the difference has to exceed 5 % by. A t value of 8 with 3 degrees of freedom is passed by
// chance in one of 500 tests, were turns normally distributed; all that is tested is beyond 5 % already, so that honest
// providers have to be that far off as well.
constexpr double kErrors = 8;

double mean(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

// The variance of the mean.
double varianceOfMean(const std::vector<double> &values) {
  double center = mean(values), sum = 0;
  for (double value : values)
    sum += (value - center) * (value - center);
  return sum / double(values.size() - 1) / double(values.size());
}

} // namespace

bool FreshTurns::draw(std::mt19937_64 &random) const {
  if (fresh.empty() && other.size() + 1 >= kTurnsWithout)
    return true;
  bool suspicious = !fresh.empty() && !other.empty() && mean(fresh) - mean(other) > kSuspicious;
  return random() % (suspicious ? kOneInSuspicious : kOneIn) == 0;
}

void FreshTurns::add(bool isFresh, double nanoseconds) {
  (isFresh ? fresh : other).push_back(std::log(std::max(nanoseconds, 1e-3)));
}

Status FreshTurns::check() const {
  if (fresh.size() < kLeast || other.size() < kLeast)
    return okStatus();
  double difference = mean(fresh) - mean(other);
  double error = std::sqrt(varianceOfMean(fresh) + varianceOfMean(other));
  // The quickest fresh turn behind the middle one of the others: one slow turn does not make a difference.
  std::vector<double> sorted = other;
  std::ranges::sort(sorted);
  if (difference - kErrors * error <= kCertain || std::ranges::min(fresh) <= sorted[sorted.size() / 2])
    return okStatus();
  return invalidArgument(
      "recognizes the checking: a call takes {:.2f} times as long in turns whose inputs are new as in "
      "others",
      std::exp(difference));
}

} // namespace kiln::measure
