// Estimates from few and dirty numbers: percentiles, Student's t, and the location of a series of rounds with an error
// that allows for outliers and for rounds that resemble the one before. Pure functions; nothing here allocates for
// long.
#ifndef KILN_MEASURE_STATISTICS_ROBUST_H
#define KILN_MEASURE_STATISTICS_ROBUST_H

#include <cstdint>
#include <span>
#include <vector>

namespace kiln::measure {

struct Interval {
  double low = 0;
  double high = 0;

  bool contains(double value) const { return low <= value && value <= high; }
  bool operator==(const Interval &) const = default;
};

// The value below which `share` (0 to 1) of the values lie, with linear interpolation between neighbours: 0.5 of
// {1, 2} is 1.5. NaN if there are none.
double percentile(std::span<const double> values, double share);
// The same of values that are in ascending order.
double percentileOfSorted(std::span<const double> sorted, double share);

// The t that Student's distribution exceeds in absolute value with probability `alpha` (0 to 1). Fractional degrees of
// freedom count as the integer below, and more than 400 as 400: both err to the safe side. Infinite below 1.
double studentQuantile(double alpha, double degrees);

// studentQuantile for one alpha and many degrees of freedom, each computed once.
class StudentTable {
public:
  explicit StudentTable(double alpha) : alpha(alpha) {}
  double at(double degrees);

private:
  double alpha;
  std::vector<double> known;
};

// The values in their order, with those of the lowest and the highest fifth moved to where that fifth ends.
std::vector<double> winsorized(std::span<const double> values);

// By how much the variance of a mean over the series exceeds what it would be if the values were independent; at least
// 1. The larger of two estimates: of a process whose rounds resemble the one before (autoregressive, with the bias of
// short series corrected), and of the sum of all correlations until they die out, for longer memory.
// 1 for fewer than 12 values, where nothing can be said.
double autocorrelationFactor(std::span<const double> series);

// The mean without the lowest and the highest fifth; of fewer than 5 values the mean. NaN of none.
double trimmedMean(std::span<const double> values);

// Where a series lies: the mean without the lowest and highest fifth, and its standard error from the winsorized
// variance (Tukey and McLaughlin) times the autocorrelation factor. `low` and `high` follow with Student's t.
// With fewer than 3 values the error is infinite.
struct Location {
  double value = 0;
  double error = 0;
  double degrees = 0;

  double reach(StudentTable &table) const;
  Interval interval(StudentTable &table) const { return {value - reach(table), value + reach(table)}; }
};
Location locate(std::span<const double> series);

} // namespace kiln::measure

#endif // KILN_MEASURE_STATISTICS_ROBUST_H
