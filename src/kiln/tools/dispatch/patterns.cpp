#include "kiln/tools/dispatch/patterns.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "kiln/base/expression.h"

namespace kiln {

// More values of one dimension than this are a mistake.
static constexpr size_t kMaxValues = 10000;
// A larger size is one, too; with it, no sum or product of a few sizes overflows before a problem is refused.
static constexpr uint64_t kMaxSize = uint64_t(1) << 31;

static Status tooLarge(std::string_view flag, std::string_view text) {
  return invalidArgument("--{}: '{}' is too large; write sizes up to {}", flag, text, kMaxSize);
}

static Result<uint64_t> parseSize(std::string_view flag, std::string_view text, uint64_t least) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least)
    return invalidArgument("--{}: '{}' is no size; write 256, a list 64,128 or a range start:end:increment", flag,
                           text);
  if (value > kMaxSize)
    return tooLarge(flag, text);
  return value;
}

Result<std::vector<uint64_t>> parseSizes(std::string_view flag, std::string_view text, uint64_t least) {
  std::vector<uint64_t> sizes;
  for (std::string_view part : split(text, ',')) {
    std::vector<std::string_view> range = split(part, ':');
    if (range.size() > 3)
      return invalidArgument("--{}: '{}' is no range; write start:end:increment", flag, part);
    KILN_ASSIGN_OR_RETURN(uint64_t start, parseSize(flag, range[0], least));
    uint64_t end = start, step = 1;
    if (range.size() > 1) {
      KILN_ASSIGN_OR_RETURN(end, parseSize(flag, range[1], least));
    }
    if (range.size() > 2) {
      KILN_ASSIGN_OR_RETURN(step, parseSize(flag, range[2], 1));
    }
    if (end < start)
      return invalidArgument("--{}: the range '{}' ends before it starts", flag, part);
    if ((end - start) / step >= kMaxValues)
      return invalidArgument("--{}: '{}' are more than {} values", flag, part, kMaxValues);
    for (uint64_t value = start; value <= end; value += step)
      sizes.push_back(value);
  }
  return sizes;
}

Result<std::vector<std::vector<uint64_t>>> parseShapes(std::string_view flag, std::string_view text) {
  std::vector<std::vector<uint64_t>> shapes;
  if (text.empty())
    return shapes;
  for (std::string_view part : split(text, ',')) {
    std::vector<uint64_t> &shape = shapes.emplace_back();
    for (std::string_view word : split(part, 'x')) {
      uint64_t extent = 0;
      auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), extent);
      if (error != std::errc() || end != word.data() + word.size() || extent == 0)
        return invalidArgument("--{}: '{}' is no shape; write sizes with x between, as in 64x64x3,1000", flag, part);
      if (extent > kMaxSize)
        return tooLarge(flag, part);
      shape.push_back(extent);
    }
  }
  return shapes;
}

static bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// The expression that a pattern stands for.
static std::string expressionOf(std::string_view pattern) {
  std::string expression;
  bool escaped = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    bool followsWord = i == 0 || (isWord(pattern[i - 1]) && !(i >= 2 && pattern[i - 2] == '\\'));
    if (pattern[i] == '*' && !escaped && followsWord)
      expression += '.';
    escaped = pattern[i] == '\\' && !escaped;
    expression += pattern[i];
  }
  return expression;
}

std::vector<std::string> splitPatterns(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0; // of ( and {
  bool inClass = false, escaped = false;
  for (char c : text) {
    if (c == ',' && depth <= 0 && !inClass) {
      parts.emplace_back();
      depth = 0;
      escaped = false;
      continue;
    }
    parts.back() += c;
    if (std::exchange(escaped, c == '\\' && !escaped))
      continue;
    // In a class, no character but its end is special.
    if (!inClass)
      depth += (c == '{' || c == '(') - (c == '}' || c == ')');
    inClass = inClass ? c != ']' : c == '[';
  }
  std::erase(parts, "");
  return parts;
}

Result<NamePatterns> NamePatterns::parse(std::string_view text) {
  NamePatterns result;
  for (const std::string &part : splitPatterns(text)) {
    Result<std::regex> expression = parseExpression(expressionOf(part));
    if (!expression.ok())
      return std::move(expression).status().withContext("--dispatches");
    result.patterns.push_back(*std::move(expression));
  }
  return result;
}

bool NamePatterns::matches(std::string_view name) const {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::regex &pattern) {
           return std::regex_search(name.begin(), name.end(), pattern);
         });
}

} // namespace kiln
