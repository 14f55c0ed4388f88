#include "kiln/measure/workers/outcome.h"

#include <cstddef>

namespace kiln::measure {

static constexpr const char *kNames[] = {"ok",      "wrong",     "unsupported",  "failed",  "not started", "exited",
                                         "crashed", "timed out", "memory limit", "rubbish", "implausible"};

const char *outcomeName(Outcome outcome) {
  return kNames[static_cast<size_t>(outcome)];
}

std::optional<Outcome> parseOutcome(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i])
      return static_cast<Outcome>(i);
  return std::nullopt;
}

} // namespace kiln::measure
