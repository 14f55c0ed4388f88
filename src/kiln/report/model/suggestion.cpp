#include "kiln/report/model/suggestion.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "kiln/base/flags.h"

namespace kiln::report {

static std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string suggestion(std::string_view name, std::span<const std::string> known) {
  std::vector<std::string> lower;
  for (const std::string &one : known)
    lower.push_back(lowerCase(one));
  std::string wanted = lowerCase(name);
  auto found = std::ranges::find(lower, wanted);
  if (found == lower.end())
    found = std::ranges::find(lower, nearestName(wanted, lower));
  if (found == lower.end() && !wanted.empty())
    found = std::ranges::find_if(lower, [&](const std::string &one) { return one.starts_with(wanted); });
  return found == lower.end() ? ""
                              : fmt::format("; did you mean '{}'?", known[static_cast<size_t>(found - lower.begin())]);
}

} // namespace kiln::report
