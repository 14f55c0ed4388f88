#include "kiln/measure/names.h"

#include <algorithm>
#include <charconv>

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

} // namespace kiln::measure
