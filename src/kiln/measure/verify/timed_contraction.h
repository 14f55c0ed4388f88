// The coarse check of timed contractions: x C against x (A B), for x that no program knows, in time O(mn + mk + kn).
#ifndef KILN_MEASURE_VERIFY_TIMED_CONTRACTION_H
#define KILN_MEASURE_VERIFY_TIMED_CONTRACTION_H

#include <functional>
#include <memory>

#include "kiln/measure/verify/contraction.h"
#include "kiln/measure/verify/line_check.h"
#include "kiln/measure/verify/operand.h"

namespace kiln::measure::verify {

// Part of a matrix, or of its transpose: element (i, j) is that of the operand at (firstRow + i, firstColumn + j), or
// with the two indices swapped.
struct MatrixView {
  const RealOperand &operand;
  int64_t b, rows, columns;
  bool transposed = false;
  int64_t firstRow = 0, firstColumn = 0;
};

// rows x kVectors: the matrix times kVectors vectors, which are columns x kVectors. Sum is double, or uint32_t for
// integers modulo 2^32.
template <typename Sum, int kVectors>
std::vector<Sum> product(const MatrixView &matrix, const std::vector<Sum> &vectors);

// The contraction's output must be dense and row-major. `bias` has an element of the result's type for each column, or
// is empty. Null where types are not known here.
std::unique_ptr<TimedCheck> timedContraction(const Contraction &contraction, std::span<const uint8_t> lhs,
                                             std::span<const uint8_t> rhs, std::span<const uint8_t> bias,
                                             std::span<const uint64_t> outShape, uint64_t seed);

// The same of integers, modulo 2^32, whose operands are given as they are multiplied.
std::unique_ptr<TimedCheck> timedContraction(const Contraction &contraction, const RealOperand &lhs,
                                             const RealOperand &rhs, std::span<const uint64_t> outShape, uint64_t seed);

// Of one product, whose elements plus bias go through a function that is not linear: elements of kSampledLines random
// rows and as many columns, so that some of each row and of each column are compared; of all others, that they are
// numbers.
inline constexpr int kSampledLines = 8;
std::unique_ptr<TimedCheck> timedActivation(const Contraction &contraction, std::span<const uint8_t> lhs,
                                            std::span<const uint8_t> rhs, std::span<const uint8_t> bias,
                                            std::span<const uint64_t> outShape,
                                            const std::function<double(double)> &activation, uint64_t seed);

// What tensor cores may do to a result besides rounding it, relative to the root of its mean square; 0 where that is
// not promised.
double deviationOfCuts(const Contraction &contraction);

// The root mean square error of a weighted sum of a contraction's results: `meanSquare` is that of the results, and
// `ofCuts` what cutting off inputs and sums adds to each, relative to its root.
float deviationOf(ElementType accumulator, ElementType result, int64_t terms, double meanSquare,
                  std::span<const float> weights, double ofCuts = 0);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_TIMED_CONTRACTION_H
