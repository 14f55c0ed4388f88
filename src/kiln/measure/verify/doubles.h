// What <cmath> says of f64, without the standard library, which GPU code has not.
#ifndef KILN_MEASURE_VERIFY_DOUBLES_H
#define KILN_MEASURE_VERIFY_DOUBLES_H

#include <stdint.h>

namespace kiln::measure::verify {

inline constexpr double kInfinity = __builtin_huge_val();

inline bool isNan(double number) {
  return number != number;
}
inline bool isInfinite(double number) {
  return number == kInfinity || number == -kInfinity;
}
inline double magnitudeOf(double number) {
  return __builtin_fabs(number);
}
inline double smallerOf(double a, double b) {
  return b < a ? b : a;
}
inline double largerOf(double a, double b) {
  return a < b ? b : a;
}
// What is below the smallest number is zero. Without a call of itself, which GPUs need a stack for.
inline double powerOfTwo(int64_t exponent) {
  constexpr int64_t kLowest = -1022, kFurther = 200;
  auto normal = [](int64_t of) { return __builtin_bit_cast(double, static_cast<uint64_t>(of + 1023) << 52); };
  if (exponent >= kLowest)
    return normal(exponent);
  return exponent + kFurther >= kLowest ? normal(exponent + kFurther) * 0x1p-200 : 0;
}
// The power of two that a number above zero is a multiple of, below 2; -1023 where it is less than the smallest normal
// number.
inline int32_t exponentOf(double number) {
  return static_cast<int32_t>(__builtin_bit_cast(uint64_t, number) >> 52 & 2047) - 1023;
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DOUBLES_H
