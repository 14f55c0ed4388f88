#include "kiln/measure/statistics/robust.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "boost/math/distributions/students_t.hpp"

namespace kiln::measure {
namespace {

// A quantile that no double can hold is infinite, not an exception.
using StudentsT = boost::math::students_t_distribution<
    double, boost::math::policies::policy<boost::math::policies::overflow_error<boost::math::policies::ignore_error>>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostDegrees = 400;
// Of each end; half of a series may be bad before the middle moves, and this much before its error explodes.
constexpr double kTrimmed = 0.2;
constexpr size_t kFewestToTrim = 5;
constexpr size_t kFewestToCorrelate = 12;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// How many values of each end a trimmed mean leaves out.
size_t trimCount(size_t count) {
  return count < kFewestToTrim ? 0 : static_cast<size_t>(kTrimmed * static_cast<double>(count));
}

double correlation(std::span<const double> deviations, double squares, size_t lag) {
  double sum = 0;
  for (size_t i = lag; i < deviations.size(); ++i)
    sum += deviations[i] * deviations[i - lag];
  return sum / squares;
}

} // namespace

double percentileOfSorted(std::span<const double> sorted, double share) {
  if (sorted.empty())
    return std::numeric_limits<double>::quiet_NaN();
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  if (below + 1 >= sorted.size())
    return sorted.back();
  return sorted[below] + (sorted[below + 1] - sorted[below]) * (place - static_cast<double>(below));
}

double percentile(std::span<const double> values, double share) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return percentileOfSorted(sorted, share);
}

double studentQuantile(double alpha, double degrees) {
  if (!(degrees >= 1) || alpha <= 0)
    return kInfinity;
  if (alpha >= 1)
    return 0;
  const StudentsT distribution(std::floor(std::min(degrees, kMostDegrees)));
  return boost::math::quantile(boost::math::complement(distribution, alpha / 2));
}

double StudentTable::at(double degrees) {
  if (!(degrees >= 1))
    return kInfinity;
  const auto whole = static_cast<size_t>(std::min(degrees, kMostDegrees));
  if (known.size() <= whole)
    known.resize(whole + 1, 0);
  if (known[whole] == 0)
    known[whole] = studentQuantile(alpha, static_cast<double>(whole));
  return known[whole];
}

double autocorrelationFactor(std::span<const double> series) {
  const size_t count = series.size();
  if (count < kFewestToCorrelate)
    return 1;
  const double middle = mean(series);
  std::vector<double> deviations(series.begin(), series.end());
  double squares = 0;
  for (double &each : deviations) {
    each -= middle;
    squares += each * each;
  }
  if (squares <= 0)
    return 1;
  const double first = correlation(deviations, squares, 1);
  // A short series finds its own mean, which hides correlation: by (1 + 4 rho) / count on average.
  const auto size = static_cast<double>(count);
  const double rho = std::clamp((size * first + 1) / (size - 4), 0.0, 0.95);
  double sum = 1 + 2 * first;
  for (size_t lag = 2; lag < count / 3; lag += 2) {
    const double pair = correlation(deviations, squares, lag) + correlation(deviations, squares, lag + 1);
    if (pair <= 0)
      break;
    sum += 2 * pair;
  }
  return std::max({1.0, (1 + rho) / (1 - rho), sum});
}

double trimmedMean(std::span<const double> values) {
  if (values.empty())
    return std::numeric_limits<double>::quiet_NaN();
  const auto cut = static_cast<std::ptrdiff_t>(trimCount(values.size()));
  std::vector<double> parted(values.begin(), values.end());
  std::nth_element(parted.begin(), parted.begin() + cut, parted.end());
  std::nth_element(parted.begin() + cut, parted.end() - 1 - cut, parted.end());
  return mean({parted.begin() + cut, parted.end() - cut});
}

double Location::reach(StudentTable &table) const {
  return std::isfinite(error) ? error * table.at(degrees) : kInfinity;
}

std::vector<double> winsorized(std::span<const double> values) {
  std::vector<double> moved(values.begin(), values.end());
  const auto cut = static_cast<std::ptrdiff_t>(trimCount(values.size()));
  if (cut == 0)
    return moved;
  std::nth_element(moved.begin(), moved.begin() + cut, moved.end());
  const double least = moved[static_cast<size_t>(cut)];
  std::nth_element(moved.begin() + cut, moved.end() - 1 - cut, moved.end());
  const double most = *(moved.end() - 1 - cut);
  std::transform(values.begin(), values.end(), moved.begin(),
                 [&](double value) { return std::clamp(value, least, most); });
  return moved;
}

Location locate(std::span<const double> series) {
  if (series.size() < 3)
    return {trimmedMean(series), kInfinity, 0};
  const std::vector<double> moved = winsorized(series);
  const double middle = mean(moved);
  double squares = 0;
  for (double each : moved)
    squares += (each - middle) * (each - middle);
  const double factor = autocorrelationFactor(moved);
  const auto kept = static_cast<double>(series.size() - 2 * trimCount(series.size()));
  // The winsorized squares, over kept (kept - 1), estimate the variance of the trimmed mean.
  return {trimmedMean(series), std::sqrt(squares * factor / (kept * (kept - 1))), std::max(1.0, kept / factor - 1)};
}

} // namespace kiln::measure
