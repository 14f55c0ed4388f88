// Scalar operations whose result the VM fixes where C++ leaves it open.
#ifndef KILN_RUNTIME_VM_ARITHMETIC_H
#define KILN_RUNTIME_VM_ARITHMETIC_H

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kiln::vm {

// IEEE 754-2019 minimum and maximum: NaN where either is NaN, and -0 is less than +0.
template <typename T> T minimum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T> T maximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

// Towards zero; saturates where the value is out of range, and gives 0 for NaN.
template <typename T> int64_t toSigned(T value) {
  constexpr T limit = T(9223372036854775808.0); // 2^63
  if (std::isnan(value))
    return 0;
  if (value >= limit)
    return std::numeric_limits<int64_t>::max();
  if (value < -limit)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}
template <typename T> uint64_t toUnsigned(T value) {
  if (!(value > T(0)))
    return 0;
  if (value >= T(18446744073709551616.0)) // 2^64
    return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(value);
}

// The opcodes that are a function of the C library, on f32 and f64, each with the function; those with two operands.
#define KILN_VM_UNARY_MATH(X)                                                                                          \
  X(Abs, std::fabs)                                                                                                    \
  X(Ceil, std::ceil)                                                                                                   \
  X(Floor, std::floor)                                                                                                 \
  X(RoundEven, std::nearbyint)                                                                                         \
  X(Sqrt, std::sqrt)                                                                                                   \
  X(Exp, std::exp)                                                                                                     \
  X(Exp2, std::exp2)                                                                                                   \
  X(Log, std::log)                                                                                                     \
  X(Log2, std::log2)                                                                                                   \
  X(Sin, std::sin)                                                                                                     \
  X(Cos, std::cos)                                                                                                     \
  X(Tanh, std::tanh)                                                                                                   \
  X(Erf, std::erf)
#define KILN_VM_BINARY_MATH(X)                                                                                         \
  X(Rem, std::fmod)                                                                                                    \
  X(Pow, std::pow)

inline constexpr const char *kDivisionByZero = "integer division by zero";
inline constexpr const char *kDivisionOverflow = "signed overflow in an integer division: the least value by -1";

// The remainder that goes with a division towards zero; the one that overflows leaves none.
template <typename T> T remainderSigned(T a, T b) {
  return b == -1 ? T(0) : static_cast<T>(a % b);
}

} // namespace kiln::vm

#endif // KILN_RUNTIME_VM_ARITHMETIC_H
