// Verification against a bound where no exact one is possible: real-valued inputs, and what follows a contraction in a
// fused program. Elements are sampled and computed in f64.
#ifndef KILN_MEASURE_VERIFY_TOLERANCE_H
#define KILN_MEASURE_VERIFY_TOLERANCE_H

#include <functional>
#include <span>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/verify/contraction.h"
#include "kiln/measure/verify/operand.h"
#include "kiln/measure/verify/verdict.h"

namespace kiln::measure::verify {

struct SampleOptions {
  // At least so many elements are looked at; all where there are not more.
  uint64_t samples = 4096;
  uint64_t seed = 1;
  // Errors are judged by the sqrt(k) model too, as those of real numbers of random signs.
  bool model = false;
};

// The model of errors in a sum of k products of random sign: the root mean square of what rounding each partial sum
// adds up to when products are summed one after the other, which is the worst order, 0.3 u sqrt(k) of that of the
// result. Of the elements that are looked at, none may be off by more than kLargestModelError such deviations, and all
// by no more than the limit below in the root mean square.
inline constexpr double kLargestModelError = 16;
double largestMeanModelError(uint64_t samples);

// An element that is looked at, and what its sum is: of |products|, and of their squares, too.
struct SamplePlace {
  int64_t b, i, j;
};
struct SampledSum {
  double sum = 0, magnitudes = 0, squares = 0;
  double actual = 0; // what the output has
};

// The bound is what rounding can do at most. A sum of k products in an accumulator with unit roundoff u, in any order,
// fused or not, is within gamma * sum |lhs * rhs| of the exact one, where gamma = k u / (1 - k u); rounding to the
// result's type adds half a unit in its last place. The first and last rows and columns are always among those that are
// looked at. An error in a part f of the elements escapes with a probability of about (1 - f)^samples.
Result<Verdict> checkWithinBound(const Contraction &contraction, std::span<const uint8_t> lhsBytes,
                                 std::span<const uint8_t> rhsBytes, std::span<const uint8_t> outBytes,
                                 const SampleOptions &options = {});
// The same for operands that are no plain matrices; of the contraction's layouts only the output's counts.
Verdict checkWithinBound(const Contraction &contraction, const RealOperand &lhs, const RealOperand &rhs,
                         std::span<const uint8_t> outBytes, const SampleOptions &options = {});

// The same in two steps, between which somebody else adds up and reads the elements: `sums` of all places, in f64 or
// better.
std::vector<SamplePlace> samplePlaces(const Contraction &contraction, const SampleOptions &options);
Verdict judgeSums(const Contraction &contraction, std::span<const SamplePlace> places, std::span<const SampledSum> sums,
                  const SampleOptions &options);

// By how much a sum that tensor cores may cut off is off on top of its roundings, relative to the root of its products'
// squares; 0 where that is not promised.
double relativeDeviationOfCuts(const Contraction &contraction);

// What an element may differ by: `ulps` units in the last place of the expected number, or `absolute` where that is
// more: near zero, where a unit says nothing.
struct ElementBound {
  double ulps;
  double absolute = 0;
};

// Elements of a dense output against a function of the position in it.
Verdict checkSampled(ElementType type, std::span<const uint64_t> shape, std::span<const uint8_t> outBytes,
                     const std::function<double(uint64_t element)> &expected, const ElementBound &bound,
                     const SampleOptions &options = {});

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_TOLERANCE_H
