#include "kiln/base/outcome.h"

#include <algorithm>
#include <array>

namespace kiln {

static constexpr std::array kNames = {"ok",      "not verified", "not profiled", "incorrect", "unsupported",
                                      "crashed", "timeout",      "implausible",  "failed"};

const char *outcomeName(Outcome outcome) {
  return kNames[static_cast<size_t>(std::min(outcome, Outcome::Failed))];
}

std::optional<Outcome> parseOutcome(std::string_view name) {
  const auto *found = std::ranges::find(kNames, name);
  return found == kNames.end() ? std::nullopt : std::optional(static_cast<Outcome>(found - kNames.begin()));
}

bool isSuccess(Outcome outcome) {
  return outcome <= Outcome::NotProfiled;
}

} // namespace kiln
