// Arithmetic by the processor's own roundings. The build compiles this file so that the compiler knows of them.
#include "kiln/targets/cuda/sim/values.h"

#include <cfenv>

namespace kiln::cudasim {

namespace {

class RoundingScope {
public:
  explicit RoundingScope(Rounding rounding) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
    std::fesetround(kModes[size_t(rounding)]);
  }
  RoundingScope(const RoundingScope &) = delete;
  RoundingScope &operator=(const RoundingScope &) = delete;
  ~RoundingScope() { std::fesetround(FE_TONEAREST); }
};

} // namespace

template <typename T> static T computeAny(FloatOp op, Rounding rounding, T a, T b, T c) {
  RoundingScope scope(rounding);
  // Volatile, so that nothing is computed before or after the scope.
  volatile T x = a, y = b, z = c;
  volatile T result = 0;
  switch (op) {
  case FloatOp::Add: result = x + y; break;
  case FloatOp::Sub: result = x - y; break;
  case FloatOp::Mul: result = x * y; break;
  case FloatOp::Fma: result = std::fma(T(x), T(y), T(z)); break;
  case FloatOp::Div: result = x / y; break;
  case FloatOp::Sqrt: result = std::sqrt(T(x)); break;
  }
  return result;
}

float compute(FloatOp op, Rounding rounding, float a, float b, float c) {
  return computeAny(op, rounding, a, b, c);
}
double compute(FloatOp op, Rounding rounding, double a, double b, double c) {
  return computeAny(op, rounding, a, b, c);
}

template <typename To, typename From> static To convertAny(Rounding rounding, From value) {
  RoundingScope scope(rounding);
  volatile From from = value;
  volatile To to = To(from);
  return to;
}

float toFloat(Rounding rounding, int64_t value) {
  return convertAny<float>(rounding, value);
}
float toFloat(Rounding rounding, double value) {
  return convertAny<float>(rounding, value);
}
double toDouble(Rounding rounding, int64_t value) {
  return convertAny<double>(rounding, value);
}

// Compilers convert what has the highest bit set by halving it, which directed roundings take part in as they should,
// as the bit that is lost is kept in the last one.
float toFloat(Rounding rounding, uint64_t value) {
  return convertAny<float>(rounding, value);
}
double toDouble(Rounding rounding, uint64_t value) {
  return convertAny<double>(rounding, value);
}

double toInteger(Rounding rounding, double value) {
  switch (rounding) {
  case Rounding::Zero: return std::trunc(value);
  case Rounding::Down: return std::floor(value);
  case Rounding::Up: return std::ceil(value);
  case Rounding::NearestAway: return std::round(value);
  case Rounding::Nearest: break;
  }
  const double below = std::floor(value), rest = value - below;
  return std::copysign(rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0) ? below + 1 : below, value);
}

} // namespace kiln::cudasim
