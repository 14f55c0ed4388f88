// What a user names: sizes and patterns.
#ifndef KILN_TOOLS_DISPATCH_PATTERNS_H
#define KILN_TOOLS_DISPATCH_PATTERNS_H

#include <cstdint>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/split.h"
#include "kiln/base/status.h"

namespace kiln {

// "256", "64,128" or "64:1024:128" (start, end, increment): the end counts where a step meets it. Without an increment
// it is 1. Lists may hold ranges. No size is less than `least`.
Result<std::vector<uint64_t>> parseSizes(std::string_view flag, std::string_view text, uint64_t least = 1);

// "64x64x3,1000": shapes with commas between; "" is none.
Result<std::vector<std::vector<uint64_t>>> parseShapes(std::string_view flag, std::string_view text);

// The expressions of --dispatches, one by one: a comma inside of brackets or braces belongs to the expression.
std::vector<std::string> splitPatterns(std::string_view text);

// --dispatches=<regex>,<regex>: a name is taken if one of them is found somewhere in it; no pattern takes all. A * that
// follows a letter, a digit or _ stands for any text, as on a command line; anywhere else it repeats.
class NamePatterns {
public:
  static Result<NamePatterns> parse(std::string_view text);

  bool matches(std::string_view name) const;
  bool all() const { return patterns.empty(); }

private:
  std::vector<std::regex> patterns;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_PATTERNS_H
