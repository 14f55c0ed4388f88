#include "kiln/measure/verify/number.h"

#include "kiln/runtime/io/element_text.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace kiln::measure::verify {

double FloatFormat::unitRoundoff() const {
  return std::ldexp(1.0, -significand);
}

std::optional<ElementType> parseMeasuredType(std::string_view name) {
  std::optional<ElementType> type = hal::parseElementType(name);
  if (!type || hal::isPacked(*type) || (io::isFloat(*type) && !floatFormat(*type)))
    return std::nullopt;
  return type;
}

std::optional<FloatFormat> floatFormat(ElementType type) {
  switch (type) {
  case ElementType::F16: return kFormatF16;
  case ElementType::BF16: return kFormatBF16;
  case ElementType::F32: return kFormatF32;
  case ElementType::F64: return kFormatF64;
  case ElementType::F8E4M3FN: return FloatFormat{"f8E4M3FN", 4, -6, 448.0};
  case ElementType::F8E5M2: return FloatFormat{"f8E5M2", 3, -14, 57344.0};
  default: return std::nullopt;
  }
}

static bool isUnsigned(ElementType type) {
  return type == ElementType::UI8 || type == ElementType::UI16 || type == ElementType::UI32 ||
         type == ElementType::UI64;
}

bool isInteger(ElementType type) {
  return type != ElementType::I1 && !floatFormat(type);
}

int64_t smallestInteger(ElementType type) {
  return isUnsigned(type) ? 0 : -largestInteger(type) - 1;
}

int64_t largestInteger(ElementType type) {
  unsigned bits = hal::elementTypeByteSize(type) * 8;
  if (isUnsigned(type))
    return bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t(1) << bits) - 1;
  return bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t(1) << (bits - 1)) - 1;
}

int exactBits(ElementType type) {
  if (std::optional<FloatFormat> format = floatFormat(type))
    return format->significand;
  return static_cast<int>(hal::elementTypeByteSize(type) * 8) - (isUnsigned(type) ? 0 : 1);
}

// A multiple of 2^last.
static double roundAt(int last, double value, Rounding rounding) {
  double scaled = std::ldexp(value, -last);
  switch (rounding) {
  case Rounding::NearestEven: scaled = std::nearbyint(scaled); break;
  case Rounding::NearestAway: scaled = std::round(scaled); break;
  case Rounding::TowardZero: scaled = std::trunc(scaled); break;
  }
  return std::ldexp(scaled, last);
}

// Drops bits of the number itself: programs that are told to compute narrowly are simulated number by number.
static double roundNormal(int dropped, double value, Rounding rounding) {
  auto bits = std::bit_cast<uint64_t>(value);
  uint64_t unit = uint64_t(1) << dropped;
  switch (rounding) {
  case Rounding::NearestEven: bits += unit / 2 - 1 + (bits >> dropped & 1); break;
  case Rounding::NearestAway: bits += unit / 2; break;
  case Rounding::TowardZero: break;
  }
  return std::bit_cast<double>(bits & ~(unit - 1));
}

double roundTo(const FloatFormat &format, double value, Rounding rounding) {
  if (value == 0 || !std::isfinite(value) || format.significand == std::numeric_limits<double>::digits)
    return value;
  int exponent = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7FF) - 1023;
  double rounded = exponent >= format.lowestExponent
                       ? roundNormal(std::numeric_limits<double>::digits - format.significand, value, rounding)
                       : roundAt(format.lowestExponent - (format.significand - 1), value, rounding);
  if (std::fabs(rounded) > format.largest)
    return std::copysign(rounding == Rounding::TowardZero ? format.largest : HUGE_VAL, value);
  return rounded;
}

double roundTo(ElementType type, double value) {
  if (std::optional<FloatFormat> format = floatFormat(type))
    return roundTo(*format, value);
  auto low = static_cast<double>(smallestInteger(type)), high = static_cast<double>(largestInteger(type));
  if (value >= low && value <= high)
    return value;
  double range = high - low + 1;
  return value - range * std::floor((value - low) / range);
}

double ulpsBetween(ElementType type, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b))
    return HUGE_VAL;
  std::optional<FloatFormat> format = floatFormat(type);
  double distance = std::fabs(a - b);
  if (!format || distance == 0)
    return distance;
  int exponent = std::max(std::ilogb(std::max(std::fabs(a), std::fabs(b))), format->lowestExponent);
  return std::ldexp(distance, format->significand - 1 - exponent);
}

bool sameNumber(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

} // namespace kiln::measure::verify
