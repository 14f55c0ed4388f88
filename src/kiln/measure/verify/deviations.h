// How far off many sums are together.
#ifndef KILN_MEASURE_VERIFY_DEVIATIONS_H
#define KILN_MEASURE_VERIFY_DEVIATIONS_H

#include <cmath>
#include <cstdint>

namespace kiln::measure::verify {

// Of sums whose errors are known as multiples of what rounding does to them in the root mean square.
struct Deviations {
  static constexpr double kMargin = 1.3; // for what the model does not know
  double squares = 0; // of these multiples, all together
  uint64_t sums = 0;

  Deviations &operator+=(const Deviations &other) {
    squares += other.squares;
    sums += other.sums;
    return *this;
  }
  double mean() const { return sums == 0 ? 0 : std::sqrt(squares / static_cast<double>(sums)); }
  // What the mean of so many may be. Of n independent sums with random signs, the squares exceed n + 2 sqrt(n t) + 2 t
  // with a probability of e^-t at most, less than one in 10^13 here.
  double largestMean() const {
    constexpr double t = 30;
    double each = t / static_cast<double>(sums == 0 ? 1 : sums);
    return kMargin * std::sqrt(1 + 2 * std::sqrt(each) + 2 * each);
  }
  bool tooLarge() const { return !(mean() <= largestMean()); }
};

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DEVIATIONS_H
