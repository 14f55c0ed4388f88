#include "kiln/measure/names.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "fmt/ranges.h"
#include "kiln/base/split.h"
#include "kiln/measure/verify/number.h"

namespace kiln::measure {

Result<uint64_t> parseNumber(std::string_view text, std::string_view what) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return invalidArgument("'{}' is too large for a {}", text, what);
  if (error != std::errc() || end != text.data() + text.size())
    return invalidArgument("'{}' is no {}", text, what);
  if (text.size() > 1 && text.front() == '0')
    return invalidArgument("'{}' has a leading zero", text);
  return value;
}

Result<uint64_t> parseExtent(std::string_view text) {
  KILN_ASSIGN_OR_RETURN(uint64_t value, parseNumber(text, "size"));
  if (value >= uint64_t(1) << 31)
    return invalidArgument("'{}' is too large for a size", text);
  if (value == 0)
    return invalidArgument("sizes must be positive");
  return value;
}

Result<std::vector<uint64_t>> parseShape(std::string_view text) {
  std::vector<uint64_t> shape;
  for (std::string_view word : split(text, 'x')) {
    KILN_ASSIGN_OR_RETURN(uint64_t extent, parseExtent(word));
    shape.push_back(extent);
  }
  return shape;
}

std::string shapeText(std::span<const uint64_t> shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

Result<hal::ElementType> parseType(std::string_view text) {
  if (std::optional<hal::ElementType> type = measure::verify::parseMeasuredType(text))
    return *type;
  return invalidArgument("'{}' is no element type", text);
}

Status checkShape(std::span<const uint64_t> shape, hal::ElementType type) {
  constexpr uint64_t kByteLimit = uint64_t(1) << 40;
  uint64_t left = kByteLimit / hal::elementTypeByteSize(type);
  for (uint64_t extent : shape) {
    if (extent == 0 || extent >= uint64_t(1) << 31)
      return invalidArgument("sizes go from 1 to 2147483647, not {}", extent);
    left /= extent;
  }
  if (left == 0)
    return invalidArgument("its tensors would have more than {} GiB", kByteLimit >> 30);
  return okStatus();
}

} // namespace kiln::measure
