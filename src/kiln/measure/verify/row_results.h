// What elements have to be, of operations whose results are made of rows, given what is added up along a row in f64,
// and how far a program that computes in f32 may be from it, in any order of its sums. The host and GPUs compile the
// same source, which therefore needs no standard library.
#ifndef KILN_MEASURE_VERIFY_ROW_RESULTS_H
#define KILN_MEASURE_VERIFY_ROW_RESULTS_H

#include "kiln/measure/verify/doubles.h"

namespace kiln::measure::verify {

// An element is right if it differs from `value` by at most `bound`. An infinite bound takes anything; NaN and
// infinities are right where they are expected, and infinity where the bound reaches beyond the largest number.
struct Expectation {
  double value = 0, bound = 0;
};

// Numbers of a type: those of integers have no significand here, and are exact.
struct NumberWidth {
  int32_t significand = 0; // bits, with the leading one
  int32_t lowestExponent = 0;
  double largest = 0;

  bool isF32() const { return significand == 24; }
};
inline constexpr NumberWidth kWidthF32 = {24, -126, 0x1.FFFFFEp127};

// Half the distance between neighbours of the type at `value`; 0 for integers.
inline double halfSpacing(const NumberWidth &width, double value) {
  if (width.significand == 0 || isNan(value))
    return 0;
  const int32_t exponent = exponentOf(smallerOf(magnitudeOf(value), width.largest));
  return powerOfTwo((exponent < width.lowestExponent ? width.lowestExponent : exponent) - width.significand);
}

// With `mayFlush`, zero is right for a number below the smallest normal one of f32: many programs flush these.
inline bool isRight(double largest, bool mayFlush, const Expectation &expected, double actual) {
  if (expected.value == actual || isInfinite(expected.bound))
    return true;
  if (isNan(expected.value) || isNan(actual))
    return isNan(expected.value) && isNan(actual);
  if (magnitudeOf(actual - expected.value) <= expected.bound)
    return true;
  // Infinity stands for what the type has no number for.
  if (isInfinite(actual))
    return expected.bound > 0 && magnitudeOf(expected.value) + expected.bound >= largest &&
           (expected.value < 0) == (actual < 0);
  return mayFlush && actual == 0 && magnitudeOf(expected.value) < 0x1p-126;
}

// Half the distance from 1 to the next number of f32, in which rows are computed.
inline constexpr double kRowRoundoff = 0x1p-24;

// What so many roundings amount to, relative to the number; infinity where nothing is known.
inline double relativeError(double roundings) {
  const double error = roundings * kRowRoundoff;
  return error < 1 ? error / (1 - error) : kInfinity;
}

// With the last rounding, that to the result's type.
inline Expectation rounded(const NumberWidth &width, double value, double bound) {
  return {value, width.isF32() ? bound : bound + halfSpacing(width, magnitudeOf(value) + bound)};
}

// The sum is exact, since its partial sums are; then comes a division, or a multiplication with the inverse, of which
// each has one rounding.
inline Expectation meanOfSum(const NumberWidth &width, double sum, double columns) {
  const double value = sum / columns;
  return rounded(width, value, 4 * halfSpacing(kWidthF32, value));
}

//===--- Softmax --------------------------------------------------------------------------------------------------===//

// Of a row: exp(x - maximum), added up.
struct RowExponentials {
  double sum = 0;
  double distances = 0; // from the maximum, weighted by what each contributes to the sum
  // Every exponential is 1 or 0: they and their sum are exact in f32, in any order, as exp(0) is 1. So long sums are
  // checked as closely as short ones, and no narrow accumulator hides behind what f32 may lose.
  bool areExact = true;

  void add(double exponential, double distance) {
    sum += exponential;
    distances += exponential > 0 ? exponential * distance : 0;
    areExact = areExact && (exponential == 0 || exponential == 1);
  }
};

// The result of one element. Its difference from the maximum is rounded once, which exp turns into a relative error;
// then come exp, a sum of as many terms as there are columns, and a division, or an inverse and a product.
inline Expectation softmaxElement(const NumberWidth &width, const RowExponentials &row, double columns,
                                  double exponential, double distance) {
  constexpr double kExpRoundings = 8; // 4 ULP, as for elementwise operations
  const bool isExact = row.areExact && columns < 0x1p24;
  const double ofSum = isExact ? 0 : row.distances / row.sum + kExpRoundings + columns;
  const double value = exponential / row.sum;
  const double roundings = kRowRoundoff * ((value > 0 ? distance : 0) + (isExact ? 0 : kExpRoundings) + ofSum + 3);
  return rounded(width, value, roundings < 1 ? value * roundings / (1 - roundings) + 8 * 0x1p-149 : kInfinity);
}

//===--- Attention ------------------------------------------------------------------------------------------------===//

// What exponentials add that a program keeps from vanishing.
inline constexpr double kVanishing = 0x1p-100;

// By how much the score of a key may be off, of so many products that are not zero: the others are added without a
// rounding.
inline double scoreError(double terms, double magnitudes, double scale) {
  constexpr double kScaleRoundings = 6; // queries, keys or both (by its root) or the product may be multiplied
  return (terms + kScaleRoundings) * magnitudes * scale;
}

// Makes weights of the scores of keys, and of their errors, in roundings, those relative to each weight. Programs that
// go over the keys once keep sums relative to the largest score so far: each time that it grows they multiply these by
// an exponential.
template <typename Doubles, typename Exponential>
inline void weighKeys(Doubles scores, Doubles errors, int64_t keys, Exponential exponential) {
  constexpr double kExpRoundings = 8, kRescaleRoundings = kExpRoundings + 2;
  const auto count = static_cast<double>(keys);
  double most = scores[0], total = 0, meanError = 0;
  for (int64_t j = 1; j < keys; ++j)
    most = largerOf(most, scores[j]);
  for (int64_t j = 0; j < keys; ++j) {
    errors[j] = errors[j] + (most - scores[j]) + kExpRoundings + kRescaleRoundings * (count - 1);
    scores[j] = exponential(scores[j] - most);
    total += scores[j];
    meanError += scores[j] * errors[j];
  }
  meanError /= total;
  for (int64_t j = 0; j < keys; ++j) {
    scores[j] = scores[j] / total;
    // Two sums, a quotient and a product, or the same with an inverse.
    const double error = kRowRoundoff * (errors[j] + meanError + 2 * count + 4);
    errors[j] = error < 0.5 ? error / (1 - error) : kInfinity;
  }
}

// An element of the result: adds a key's value to it, and makes it what is expected.
inline void addWeighed(Expectation &element, double weight, double error, double value) {
  element.value += weight * value;
  element.bound += weight * magnitudeOf(value) * error;
}
inline Expectation weighedElement(const NumberWidth &width, const Expectation &sum) {
  return rounded(width, sum.value, sum.bound + 8 * 0x1p-149);
}

// A mean of so many numbers with equal weights, `inType` being it as the type has it. `magnitude` is no less than the
// mean of their magnitudes.
inline Expectation meanOfEqual(const NumberWidth &width, uint64_t count, double mean, double inType, double magnitude) {
  // Weights that are powers of two lose nothing, and sums of integers up to 2^24 are exact.
  if ((count & (count - 1)) == 0 && static_cast<double>(count) * magnitude <= 0x1p24)
    return {inType, kVanishing};
  return rounded(width, mean, kRowRoundoff * (static_cast<double>(count) + 4) * magnitude);
}

//===--- Norms ----------------------------------------------------------------------------------------------------===//

// A row's mean (0 of RMS norm) and its variance around that, and how far a program may be from them.
struct RowMoments {
  double mean = 0, variance = 0;
  double meanBound = 0, varianceBound = 0;
  double epsilon = 0; // what is added to the variance

  // Of equal numbers that are small integers the sum is exact in any order.
  static bool isExactSum(bool areEqual, double first, double columns) {
    const double magnitude = magnitudeOf(first);
    return areEqual && magnitude * columns <= 0x1p24 &&
           magnitude == static_cast<double>(static_cast<int64_t>(magnitude));
  }
  // `magnitudes` is the sum of those of the elements.
  void setMean(double sum, double magnitudes, double columns, bool isExact) {
    mean = sum / columns;
    // A sum in any order; a division, or a product with the inverse.
    meanBound = 3 * kRowRoundoff * magnitudeOf(mean) + (isExact ? 0 : relativeError(columns) * magnitudes / columns);
  }
  // Of squares of the distances from the mean, and of their magnitudes.
  void setVariance(double squares, double distances, double columns) {
    variance = squares / columns;
    // Each difference is off by what the mean is, and a rounding; then come the square, a sum and a division.
    varianceBound = 2 * meanBound * distances / columns + meanBound * meanBound +
                    relativeError(columns + 8) * (variance + meanBound * meanBound);
  }

  double scaleOf(double ofVariance) const { return 1 / __builtin_sqrt(largerOf(ofVariance, 0.0) + epsilon); }
};

// x * scale + shift by its row's moments, gamma and beta.
inline Expectation normalizedElement(const NumberWidth &width, const RowMoments &moments, double x, double gamma,
                                     double beta) {
  const double scale = moments.scaleOf(moments.variance),
               largest = moments.scaleOf(moments.variance - moments.varianceBound);
  const double offScale = largerOf(largest - scale, scale - moments.scaleOf(moments.variance + moments.varianceBound));
  const double distance = x - moments.mean, value = distance * scale * gamma + beta;
  // Epsilon is added, a root drawn, a number divided by it: four roundings with that of the inverse. The products may
  // come in any order, also as x * (scale * gamma) + (beta - mean * scale * gamma): five more of each part.
  const double bound = magnitudeOf(gamma) * (magnitudeOf(distance) * offScale + moments.meanBound * largest) +
                       relativeError(9) * (magnitudeOf(gamma) * largest * (magnitudeOf(x) + magnitudeOf(moments.mean)) +
                                           magnitudeOf(beta));
  return rounded(width, value, bound);
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_ROW_RESULTS_H
