// Bits of registers as numbers, and back.
#ifndef KILN_TARGETS_CUDA_SIM_VALUES_H
#define KILN_TARGETS_CUDA_SIM_VALUES_H

#include "kiln/targets/cuda/sim/ptx_module.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kiln::cudasim {

template <typename T> T get(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(uint32_t(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

template <typename T> uint64_t put(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::isnan(value) ? 0x7fffffff : std::bit_cast<uint32_t>(value); // the one NaN that f32 gives
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else
    return std::make_unsigned_t<T>(value);
}

// Rounding of an inexact result.
enum class Rounding : uint8_t { Nearest, Zero, Down, Up, NearestAway };

// A format of floats of up to 32 bits.
struct Format {
  uint32_t exponentBits, mantissaBits;
  uint32_t largest, infinity, nan; // infinity == nan where there is none
  bool hasInfinity() const { return infinity != nan; }
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
};
inline constexpr Format kHalf{5, 10, 0x7bff, 0x7c00, 0x7fff}, kBrain{8, 7, 0x7f7f, 0x7f80, 0x7fff},
    kSingle{8, 23, 0x7f7fffff, 0x7f800000, 0x7fffffff}, kTensor32{8, 10, 0x3fbff, 0x3fc00, 0x3ffff},
    kE4M3{4, 3, 0x7e, 0x7f, 0x7f}, kE5M2{5, 2, 0x7b, 0x7c, 0x7f};

// Of a double, with one rounding. What is too large becomes infinity or, as the rounding has it, the largest number;
// where `saturatesFinite` it becomes the largest number always.
uint32_t encode(double value, const Format &format, Rounding rounding = Rounding::Nearest,
                bool saturatesFinite = false);
double decode(uint32_t bits, const Format &format);

inline float halfToFloat(uint16_t bits) {
  const uint32_t magnitude = uint32_t(bits & 0x7fff) << 13, sign = uint32_t(bits & 0x8000) << 16;
  if ((bits & 0x7c00) == 0x7c00)
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x7fffff));
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f));
}
inline float brainToFloat(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

// The double that is nearest to a * b + c, or where that is inexact the neighbour whose last bit is odd, so that a
// second rounding, to a format with two bits less at least, gives what one rounding would have given. For factors whose
// product is exact in a double.
double fusedToOdd(double a, double b, double c);

template <typename T> T flushed(T value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T(0), value) : value;
}
template <typename T> T saturated(T value) {
  return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
}

// Arithmetic of f32 and f64 in every rounding.
enum class FloatOp : uint8_t { Add, Sub, Mul, Fma, Div, Sqrt };
float compute(FloatOp op, Rounding rounding, float a, float b, float c);
double compute(FloatOp op, Rounding rounding, double a, double b, double c);
// An integer, and a double, as floats.
float toFloat(Rounding rounding, int64_t value);
float toFloat(Rounding rounding, uint64_t value);
float toFloat(Rounding rounding, double value);
double toDouble(Rounding rounding, int64_t value);
double toDouble(Rounding rounding, uint64_t value);
// The integer that a double is rounded to.
double toInteger(Rounding rounding, double value);

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_VALUES_H
