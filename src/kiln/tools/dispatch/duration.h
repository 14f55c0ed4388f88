// How long something may take, as flags say it, and has taken.
#ifndef KILN_TOOLS_DISPATCH_DURATION_H
#define KILN_TOOLS_DISPATCH_DURATION_H

#include <string>
#include <string_view>

#include "kiln/base/clock.h"
#include "kiln/base/status.h"

namespace kiln {

// "10" and "0.5" are minutes; "90s", "2.5min" (also 2.5m) and "1h" say their unit. In seconds: above 0, and at most
// 1000 hours. `flag`, without dashes, is named by the error.
Result<double> parseDuration(std::string_view flag, std::string_view text);

// How long that is, for people, rounded up: "20 s", "1 minute", "2.5 minutes", "1.7 hours".
std::string durationText(double seconds);

// Since a point of monotonicNanoseconds().
inline double secondsSince(uint64_t start) {
  return static_cast<double>(monotonicNanoseconds() - start) / 1e9;
}

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_DURATION_H
