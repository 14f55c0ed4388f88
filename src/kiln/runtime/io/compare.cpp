#include "kiln/runtime/io/compare.h"

#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "kiln/runtime/io/element_text.h"
#include "kiln/runtime/io/packed_elements.h"

namespace kiln::io {

namespace {

// Negative where elements are compared by their bits.
constexpr Tolerance kExact = {-1, 0};

Tolerance approximately(ElementType type) {
  switch (type) {
  case ElementType::F16: return {1e-3, 1e-5};
  case ElementType::BF16: return {1e-2, 1e-5};
  case ElementType::F32:
  case ElementType::F64: return {1e-4, 1e-5};
  default: return kExact;
  }
}

class ElementComparer {
public:
  ElementComparer(ElementType type, const Tolerance &tolerance)
      : type(type), bytes(hal::elementTypeByteSize(type)), floating(isFloat(type)), tolerance(tolerance) {}

  bool equal(const uint8_t *actual, const uint8_t *expected) const {
    if (std::memcmp(actual, expected, bytes) == 0)
      return true;
    if (type == ElementType::I1)
      return (*actual != 0) == (*expected != 0);
    if (!floating)
      return false;
    double a = elementAsDouble(type, actual);
    double e = elementAsDouble(type, expected);
    if (std::isnan(a) || std::isnan(e))
      return std::isnan(a) && std::isnan(e);
    // An infinite `e` would make the bound infinite, and everything equal to it.
    if (tolerance.atol < 0 || std::isinf(a) || std::isinf(e))
      return false;
    return std::fabs(a - e) <= tolerance.atol + tolerance.rtol * std::fabs(e);
  }

  std::string text(const uint8_t *element, Digits digits) const {
    std::string out;
    appendElement(type, element, digits, out);
    return out;
  }

private:
  ElementType type;
  uint64_t bytes;
  bool floating;
  Tolerance tolerance;
};

// "[1, 0]" of a row-major index.
std::string coordinates(uint64_t index, std::span<const uint64_t> shape) {
  std::string text;
  for (size_t i = shape.size(); i-- > 0; index /= shape[i])
    text = fmt::format("{}{}{}", index % shape[i], text.empty() ? "" : ", ", text);
  return "[" + text + "]";
}

} // namespace

std::optional<std::string> explainDifference(const TensorSpan &actual, const TensorSpan &expected, EqualityMode mode) {
  return explainDifference(actual, expected, mode == EqualityMode::Exact ? kExact : approximately(actual.type));
}

std::optional<std::string> explainDifference(const TensorSpan &actual, const TensorSpan &expected,
                                             const Tolerance &tolerance) {
  std::string actualType = actual.typeText(), expectedType = expected.typeText();
  if (actualType != expectedType)
    return fmt::format("{} {} does not match the expected {}", actual.type == expected.type ? "shape" : "type",
                       actualType, expectedType);

  ElementComparer comparer(actual.type, tolerance);
  WholeElements actualElements(actual), expectedElements(expected);
  uint64_t first = 0, worst = 0, different = 0;
  double largest = -1;
  for (uint64_t i = 0, count = actual.elementCount(); i < count; ++i) {
    const uint8_t *a = actualElements.at(i), *e = expectedElements.at(i);
    if (comparer.equal(a, e))
      continue;
    double difference = std::fabs(elementAsDouble(actual.type, a) - elementAsDouble(actual.type, e));
    if (std::isnan(difference))
      difference = HUGE_VAL;
    if (difference > largest) {
      largest = difference;
      worst = i;
    }
    if (different++ == 0)
      first = i;
  }
  if (different == 0)
    return std::nullopt;

  auto describe = [&](uint64_t index, Digits digits) {
    return std::pair(comparer.text(actualElements.at(index), digits),
                     comparer.text(expectedElements.at(index), digits));
  };
  auto [a, e] = describe(first, Digits::Six);
  if (a == e)
    std::tie(a, e) = describe(first, Digits::Exact);
  std::string message = fmt::format("element at index {} ({}) does not match the expected ({})", first, a, e);
  if (different > 1 || actual.shape.size() > 1) {
    message += fmt::format("\n  {} of {} elements do not match; the largest difference is {:g} at index {}", different,
                           actual.elementCount(), largest, worst);
    if (actual.shape.size() > 1)
      message += " = " + coordinates(worst, actual.shape);
  }
  return message;
}

} // namespace kiln::io
