#include "kiln/base/narrow_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace kiln {

static constexpr int kDoubleMantissaBits = 52;

uint16_t NarrowFloat::encode(double value) const {
  if (mantissaBits == 0)
    return encodeExponent(std::fabs(value));
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint16_t sign = (bits >> 63) << (exponentBits + mantissaBits);
  if (std::isnan(value))
    return sign | nan;
  if (std::isinf(value))
    return sign | infinity;
  int exponent = int(bits >> kDoubleMantissaBits & 0x7FF) - 1023;
  uint16_t zero = hasNegativeZero() ? sign : 0;
  if (exponent == -1023)
    return zero; // zero, or a subnormal f64, which is far below half of any narrow subnormal
  uint64_t significand = (bits & ((uint64_t(1) << kDoubleMantissaBits) - 1)) | uint64_t(1) << kDoubleMantissaBits;

  int belowNormal = std::max(0, (1 - bias) - exponent);
  int shift = kDoubleMantissaBits - int(mantissaBits) + belowNormal;
  if (shift > kDoubleMantissaBits + 1)
    return zero; // less than half of the smallest subnormal
  uint64_t rounded = significand >> shift;
  uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  rounded += rest > half || (rest == half && (rounded & 1));
  // The leading one of a normal number adds 1 to the exponent field, and so does a carry out of the mantissa.
  uint64_t magnitude = belowNormal ? rounded : (uint64_t(exponent + bias - 1) << mantissaBits) + rounded;
  if (magnitude == 0)
    return zero;
  return sign | (magnitude > largest ? infinity : uint16_t(magnitude));
}

uint16_t NarrowFloat::encodeExponent(double magnitude) const {
  if (!std::isfinite(magnitude))
    return nan;
  int exponent;
  double significand = 2 * std::frexp(magnitude, &exponent); // from 1 to 2
  int biased = magnitude == 0 ? 0 : exponent - 1 + bias;
  if (magnitude != 0 && significand >= 1.5)
    ++biased;
  return uint16_t(std::clamp(biased, 0, int(nan)));
}

double NarrowFloat::decode(uint16_t bits) const {
  if (mantissaBits == 0)
    return bits == nan ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - bias);
  if (bits == nan && !hasNegativeZero())
    return std::numeric_limits<double>::quiet_NaN();
  uint16_t magnitude = bits & ((1u << (exponentBits + mantissaBits)) - 1);
  bool negative = bits >> (exponentBits + mantissaBits) & 1;
  double value;
  if (magnitude > largest) {
    value = hasInfinity() && magnitude == infinity ? std::numeric_limits<double>::infinity()
                                                   : std::numeric_limits<double>::quiet_NaN();
  } else {
    int exponent = magnitude >> mantissaBits;
    int mantissa = magnitude & ((1 << mantissaBits) - 1);
    if (exponent == 0)
      exponent = 1;
    else
      mantissa |= 1 << mantissaBits;
    value = std::ldexp(double(mantissa), exponent - bias - int(mantissaBits));
  }
  return negative ? -value : value;
}

} // namespace kiln
