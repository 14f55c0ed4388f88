#include "kiln/runtime/io/element_text.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "fmt/format.h"
#include "kiln/base/narrow_float.h"

namespace kiln::io {

namespace {

template <typename T> T load(const uint8_t *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <typename T> void store(uint8_t *element, T value) {
  std::memcpy(element, &value, sizeof(T));
}

// The narrow format of a type, or null.
const NarrowFloat *narrowFormat(ElementType type) {
  switch (type) {
  case ElementType::F16: return &kF16;
  case ElementType::BF16: return &kBF16;
  case ElementType::F8E4M3FN: return &kF8E4M3FN;
  case ElementType::F8E5M2: return &kF8E5M2;
  case ElementType::F4E2M1FN: return &kF4E2M1FN;
  case ElementType::F8E4M3: return &kF8E4M3;
  case ElementType::F8E3M4: return &kF8E3M4;
  case ElementType::F8E4M3FNUZ: return &kF8E4M3FNUZ;
  case ElementType::F8E5M2FNUZ: return &kF8E5M2FNUZ;
  case ElementType::F8E4M3B11FNUZ: return &kF8E4M3B11FNUZ;
  case ElementType::F8E8M0FNU: return &kF8E8M0FNU;
  default: return nullptr;
  }
}

bool hasInfinity(ElementType type) {
  const NarrowFloat *format = narrowFormat(type);
  return !format || format->hasInfinity();
}

uint16_t loadNarrow(ElementType type, const uint8_t *element) {
  return hal::elementTypeByteSize(type) == 1 ? *element : load<uint16_t>(element);
}

bool isUnsigned(ElementType type) {
  return type == ElementType::UI8 || type == ElementType::UI16 || type == ElementType::UI32 ||
         type == ElementType::UI64;
}

Status notANumber(std::string_view text, ElementType type) {
  return invalidArgument("'{}' is not {} {} number", text, isFloat(type) ? "a floating-point" : "an integer",
                         hal::elementTypeName(type));
}

Status beyondRange(std::string_view text, ElementType type) {
  return outOfRange("{} is out of the range of {}", text, hal::elementTypeName(type));
}

// Formats without infinity or NaN keep the nearest number instead; so does one without zero and sign.
bool holds(ElementType type, double value) {
  const NarrowFloat *format = narrowFormat(type);
  if (!format || std::isnan(value))
    return !format || format->nan != format->largest;
  if (format->mantissaBits == 0 && value <= 0)
    return false;
  return format->nan != format->largest || std::fabs(value) <= format->decode(format->largest);
}

Status parseFloat(ElementType type, std::string_view text, uint8_t *element) {
  std::string terminated(text);
  // strtod skips white space, which no number holds.
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front())))
    return notANumber(text, type);
  char *end = nullptr;
  double value =
      type == ElementType::F32 ? std::strtof(terminated.c_str(), &end) : std::strtod(terminated.c_str(), &end);
  if (end != terminated.c_str() + terminated.size())
    return notANumber(text, type);
  bool saysInfinity = terminated.find_first_of("iI") != std::string::npos;
  storeFloat(type, value, element);
  if (!holds(type, value))
    return beyondRange(text, type);
  if (!std::isnan(value) && !std::isfinite(elementAsDouble(type, element)) && !(saysInfinity && hasInfinity(type)))
    return beyondRange(text, type);
  return okStatus();
}

Status parseInteger(ElementType type, std::string_view text, uint8_t *element) {
  std::string_view digits = text;
  bool negative = !digits.empty() && digits.front() == '-';
  if (negative || (!digits.empty() && digits.front() == '+'))
    digits.remove_prefix(1);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    digits.remove_prefix(2);
  }
  uint64_t magnitude = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (end != digits.data() + digits.size() || digits.empty() || error == std::errc::invalid_argument)
    return notANumber(text, type);
  if (error == std::errc::result_out_of_range)
    return beyondRange(text, type);
  unsigned bits = hal::elementTypeBits(type);
  uint64_t all = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  uint64_t largest = isUnsigned(type) || base == 16 ? all : all >> 1;
  uint64_t smallest = isUnsigned(type) ? 0 : (all >> 1) + 1; // as a magnitude
  if (magnitude > (negative ? smallest : largest))
    return beyondRange(text, type);
  uint64_t value = (negative ? 0 - magnitude : magnitude) & all;
  std::memcpy(element, &value, hal::elementTypeByteSize(type));
  return okStatus();
}

// An integer of less than a byte, which stands in the lowest bits.
int signExtended(ElementType type, uint8_t element) {
  unsigned unused = 8 - hal::elementTypeBits(type);
  return int8_t(element << unused) >> unused;
}

template <typename Float> void appendFloat(Float value, Digits digits, std::string &out) {
  // The sign of a NaN says nothing.
  if (std::isnan(value))
    out += "nan";
  else if (digits == Digits::Six)
    fmt::format_to(std::back_inserter(out), "{:g}", value);
  else
    fmt::format_to(std::back_inserter(out), "{}", value);
}

} // namespace

bool isFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 || narrowFormat(type) != nullptr;
}

Status parseElement(ElementType type, std::string_view text, uint8_t *element) {
  if (isFloat(type))
    return parseFloat(type, text, element);
  if (type != ElementType::I1)
    return parseInteger(type, text, element);
  if (text != "0" && text != "1" && text != "false" && text != "true")
    return invalidArgument("'{}' is no i1; write 0, 1, false or true", text);
  *element = text == "1" || text == "true";
  return okStatus();
}

void appendElement(ElementType type, const uint8_t *element, Digits digits, std::string &out) {
  auto integer = [&](auto value) { fmt::format_to(std::back_inserter(out), "{}", value); };
  switch (type) {
  case ElementType::I1: return integer(*element != 0 ? 1 : 0);
  case ElementType::I2:
  case ElementType::I4: return integer(signExtended(type, *element));
  case ElementType::I8:
  case ElementType::SI8: return integer(int(load<int8_t>(element)));
  case ElementType::I16:
  case ElementType::SI16: return integer(load<int16_t>(element));
  case ElementType::I32:
  case ElementType::SI32: return integer(load<int32_t>(element));
  case ElementType::I64:
  case ElementType::SI64: return integer(load<int64_t>(element));
  case ElementType::UI8: return integer(unsigned(*element));
  case ElementType::UI16: return integer(load<uint16_t>(element));
  case ElementType::UI32: return integer(load<uint32_t>(element));
  case ElementType::UI64: return integer(load<uint64_t>(element));
  case ElementType::F64: return appendFloat(load<double>(element), digits, out);
  case ElementType::F32: return appendFloat(load<float>(element), digits, out);
  default:
    // Shortest as a float is shorter than as a double, and still tells narrow numbers apart.
    return appendFloat(float(elementAsDouble(type, element)), digits, out);
  }
}

void storeFloat(ElementType type, double value, uint8_t *element) {
  if (type == ElementType::F64)
    store(element, value);
  else if (type == ElementType::F32)
    store(element, float(value));
  else if (uint16_t bits = narrowFormat(type)->encode(value); hal::elementTypeByteSize(type) == 1)
    *element = bits;
  else
    store(element, bits);
}

double elementAsDouble(ElementType type, const uint8_t *element) {
  switch (type) {
  case ElementType::I1: return *element != 0;
  case ElementType::I2:
  case ElementType::I4: return signExtended(type, *element);
  case ElementType::I8:
  case ElementType::SI8: return load<int8_t>(element);
  case ElementType::I16:
  case ElementType::SI16: return load<int16_t>(element);
  case ElementType::I32:
  case ElementType::SI32: return load<int32_t>(element);
  case ElementType::I64:
  case ElementType::SI64: return double(load<int64_t>(element));
  case ElementType::UI8: return *element;
  case ElementType::UI16: return load<uint16_t>(element);
  case ElementType::UI32: return load<uint32_t>(element);
  case ElementType::UI64: return double(load<uint64_t>(element));
  case ElementType::F64: return load<double>(element);
  case ElementType::F32: return load<float>(element);
  default: return narrowFormat(type)->decode(loadNarrow(type, element));
  }
}

} // namespace kiln::io
