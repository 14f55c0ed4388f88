// Lines of an output, rows or columns drawn at random, that are compared element by element with what they have to be.
#ifndef KILN_MEASURE_VERIFY_SAMPLED_LINES_H
#define KILN_MEASURE_VERIFY_SAMPLED_LINES_H

#include <span>
#include <string>

#include "kiln/measure/verify/verdict.h"
#include "kiln/runtime/io/host_tensor.h"

namespace kiln::measure::verify {

// What an element of such a line is, up to rounding.
struct SampledElement {
  double value = 0;
  float deviation = 0;   // the root mean square of what rounding may add; above zero
  float common = 0;      // what a right program may add to many elements alike
  bool isTypical = true; // false where errors vanish, as those of what relu cuts off: the mean leaves it out
};

// Adds up how the lines of one output compare: no element is off by more than kLargestDeviation deviations, and lines
// together by no more than Deviations allows for independent sums; errors within a line may depend on each other.
class SampledComparison {
public:
  void add(std::span<const SampledElement> expected, std::span<const double> actual);
  // `method` says which lines these were.
  Verdict verdict(std::string method, const io::TensorSpan &output) const;

private:
  uint64_t wrong = 0, compared = 0;
  Deviations ofLines;
};

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_SAMPLED_LINES_H
