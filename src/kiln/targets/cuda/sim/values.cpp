#include "kiln/targets/cuda/sim/values.h"

namespace kiln::cudasim {

double decode(uint32_t bits, const Format &format) {
  const uint32_t mantissa = bits & ((1u << format.mantissaBits) - 1);
  const uint32_t exponent = bits >> format.mantissaBits & ((1u << format.exponentBits) - 1);
  const double sign = bits & format.signBit() ? -1 : 1;
  const uint32_t magnitude = bits & (format.signBit() - 1);
  if (format.hasInfinity() ? magnitude > format.infinity : magnitude == format.nan)
    return std::numeric_limits<double>::quiet_NaN();
  if (format.hasInfinity() && magnitude == format.infinity)
    return sign * std::numeric_limits<double>::infinity();
  const int scale = -format.bias() - int(format.mantissaBits);
  if (exponent == 0)
    return sign * std::ldexp(double(mantissa), scale + 1);
  return sign * std::ldexp(double(mantissa | 1u << format.mantissaBits), int(exponent) + scale);
}

uint32_t encode(double value, const Format &format, Rounding rounding, bool saturatesFinite) {
  if (std::isnan(value))
    return format.nan;
  const bool negative = std::signbit(value);
  const uint32_t sign = negative ? format.signBit() : 0;
  const double magnitude = std::fabs(value);
  const uint32_t overflow = saturatesFinite || !format.hasInfinity() ? format.largest : format.infinity;
  if (std::isinf(magnitude))
    return sign | (format.hasInfinity() && !saturatesFinite ? format.infinity
                   : saturatesFinite                        ? format.largest
                                                            : format.nan);
  if (magnitude == 0)
    return sign;
  // In units of the last place, which are fixed below the least normal number.
  int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  const double scaled = std::ldexp(magnitude, int(format.mantissaBits) - exponent);
  const double below = std::floor(scaled);
  const double rest = scaled - below;
  bool up = false;
  switch (rounding) {
  case Rounding::Nearest: up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0); break;
  case Rounding::NearestAway: up = rest >= 0.5; break;
  case Rounding::Zero: break;
  case Rounding::Down: up = negative && rest > 0; break;
  case Rounding::Up: up = !negative && rest > 0; break;
  }
  const auto units = uint64_t(below) + up;
  // A carry out of the mantissa raises the exponent by itself.
  const uint64_t bits = (uint64_t(exponent + format.bias() - 1) << format.mantissaBits) + units;
  if (bits > format.largest) {
    const bool toInfinity = rounding == Rounding::Nearest || rounding == Rounding::NearestAway || up ||
                            (rounding == Rounding::Down && negative) || (rounding == Rounding::Up && !negative);
    return sign | (toInfinity ? overflow : format.largest);
  }
  return sign | uint32_t(bits);
}

double fusedToOdd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  // What the sum has lost, exactly.
  const double back = sum - product;
  const double lost = (product - (sum - back)) + (c - back);
  if (lost == 0 || std::bit_cast<uint64_t>(sum) & 1)
    return sum;
  return std::nextafter(sum,
                        lost > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
}

} // namespace kiln::cudasim
