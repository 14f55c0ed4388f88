// A coarse check at the speed of memory: the output as lines of neighbouring elements, of which weighted sums are
// compared with what the inputs say that these have to be.
#ifndef KILN_MEASURE_VERIFY_LINE_CHECK_H
#define KILN_MEASURE_VERIFY_LINE_CHECK_H

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "kiln/measure/verify/deviations.h"
#include "kiln/measure/verify/timed_check.h"

namespace kiln::measure::verify {

using hal::ElementType;

// Real numbers are summed in floating point, integers modulo 2^32: there any sum is exact, wrapped around or not. Real
// numbers that are only moved may be summed as the integers that their bits are.
template <typename Sum> using LineWeight = std::conditional_t<std::is_same_v<Sum, double>, float, uint32_t>;

// Real: of either sign, magnitudes uniform in [0.5, 1.5). Integers: uniform.
template <typename Sum> std::vector<LineWeight<Sum>> randomWeights(uint64_t key, int64_t count);

// Sum is double or uint32_t.
template <typename Sum> struct LineCase {
  ElementType type;
  std::vector<uint64_t> shape;
  // Elements of a line, of which the last may have fewer, and those that are summed together: each line is cut into
  // blocks in the same way.
  int64_t length, block;
  std::vector<LineWeight<Sum>> weights; // of the elements of any line
  std::vector<Sum> expected;            // the weighted sum of each block of each line
  // Of real numbers, in the same order: the root mean square of what rounding may add to the sum; above zero.
  std::vector<float> deviations;
};

// Signs are random and no program knows them, so that a right program's sums are as far off as those of independent
// errors: none is beyond kLargestDeviation, which leaves twice the eight deviations that independent errors exceed
// once in 10^13 sums. Their root mean square is at most what Deviations allows for as many.
inline constexpr double kLargestDeviation = 16;

// Null for types whose elements are not summed here.
template <typename Sum> std::unique_ptr<TimedCheck> checkOfLines(LineCase<Sum> subject);

// What is to be said of a tensor that is not the expected one; nothing where it is.
std::string mismatchOf(std::span<const io::TensorSpan> outputs, ElementType type, std::span<const uint64_t> shape);
// A verdict that the coarse check failed. `poisoned` elements hold all bits set.
Verdict timedFailure(const std::string &what, uint64_t wrong, uint64_t total, uint64_t poisoned);
uint64_t countPoisoned(const io::TensorSpan &output);
bool allFinite(ElementType type, const uint8_t *bytes, int64_t count);

// The root mean square of numbers of a tensor, of a sample where there are many.
double meanSquare(const io::TensorSpan &tensor);

// By how much a result is off, relative to the root mean square of such results, when `terms` products of random sign
// are summed in `accumulator` and rounded to `result`. Partial sums grow with the square root of their length, so that
// the squares of their roundings add up to terms / 6 of those of the result in the order that rounds most, one after
// the other; products and the last rounding come on top, and so do the f32 sums of this check itself. `ofLast` is the
// mean square of that last rounding, beside what it is for numbers just above a power of two.
double relativeDeviation(ElementType accumulator, ElementType result, int64_t terms, double ofLast = 1);
// That of numbers of a normal distribution of any width is 0.54 to 0.544, and so is that of sums of products of random
// sign. Where it is known so well, 1.1 is enough of a margin.
inline constexpr double kLastRoundingOfSums = 0.545 * (1.1 / Deviations::kMargin) * (1.1 / Deviations::kMargin);
// Of rounding to `result` alone.
double relativeDeviationOfResult(ElementType result);

// The same of a sum of `terms` numbers of one sign in f32. Partial sums grow with their length, so that the squares of
// their roundings, one after the other, add up to terms / 9 of that of the result. Equal numbers are rounded alike:
// where only `different` ones are unequal, the sums of their roundings add up to terms^2 / (12 different).
double relativeDeviationOfSum(double terms, double different);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_LINE_CHECK_H
