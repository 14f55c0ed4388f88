#include "kiln/base/expression.h"

namespace kiln {

// The library's parser calls itself for each bracket.
static constexpr size_t kLongest = 2000;

Result<std::regex> parseExpression(const std::string &text) {
  if (text.size() > kLongest)
    return invalidArgument("'{}...' is longer than {} characters", text.substr(0, 40), kLongest);
  std::regex::flag_type flags = std::regex::ECMAScript | std::regex::optimize;
#ifdef __GLIBCXX__
  flags |= std::regex_constants::__polynomial;
#endif
  // The standard library has no other way to say that an expression is wrong.
  try {
    return std::regex(text, flags);
  } catch (const std::regex_error &error) {
    if (error.code() == std::regex_constants::error_complexity)
      return invalidArgument("'{}' refers back to what it has found, or is too large; write it without \\1", text);
    return invalidArgument("'{}' is no regular expression: {}", text, error.what());
  }
}

} // namespace kiln
