#include "kiln/base/narrow_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace kiln {

static constexpr int kDoubleMantissaBits = 52;

uint16_t NarrowFloat::encode(double value) const {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint16_t sign = (bits >> 63) << (exponentBits + mantissaBits);
  if (std::isnan(value))
    return sign | nan;
  if (std::isinf(value))
    return sign | infinity;
  int exponent = int(bits >> kDoubleMantissaBits & 0x7FF) - 1023;
  if (exponent == -1023)
    return sign; // zero, or a subnormal f64, which is far below half of any narrow subnormal
  uint64_t significand = (bits & ((uint64_t(1) << kDoubleMantissaBits) - 1)) | uint64_t(1) << kDoubleMantissaBits;

  int bias = (1 << (exponentBits - 1)) - 1;
  int belowNormal = std::max(0, (1 - bias) - exponent);
  int shift = kDoubleMantissaBits - int(mantissaBits) + belowNormal;
  if (shift > kDoubleMantissaBits + 1)
    return sign; // less than half of the smallest subnormal
  uint64_t rounded = significand >> shift;
  uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  rounded += rest > half || (rest == half && (rounded & 1));
  // The leading one of a normal number adds 1 to the exponent field, and so does a carry out of the mantissa.
  uint64_t magnitude = belowNormal ? rounded : (uint64_t(exponent + bias - 1) << mantissaBits) + rounded;
  return sign | (magnitude > largest ? infinity : uint16_t(magnitude));
}

double NarrowFloat::decode(uint16_t bits) const {
  uint16_t magnitude = bits & ((1u << (exponentBits + mantissaBits)) - 1);
  bool negative = bits >> (exponentBits + mantissaBits) & 1;
  double value;
  if (magnitude > largest) {
    value = hasInfinity() && magnitude == infinity ? std::numeric_limits<double>::infinity()
                                                   : std::numeric_limits<double>::quiet_NaN();
  } else {
    int bias = (1 << (exponentBits - 1)) - 1;
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
