#include "kiln/tools/dispatch/duration.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kiln {

// Seconds of a unit; 0 where there is none of that name.
static double secondsOf(std::string_view unit) {
  constexpr double minute = 60, hour = 3600;
  if (unit == "s")
    return 1;
  if (unit.empty() || unit == "m" || unit == "min")
    return minute;
  return unit == "h" ? hour : 0;
}

Result<double> parseDuration(std::string_view flag, std::string_view text) {
  constexpr double most = 1000 * 3600;
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  double unit = secondsOf(text.substr(static_cast<size_t>(end - text.data())));
  double seconds = number * unit;
  if (error == std::errc() && unit > 0 && seconds > 0 && seconds <= most)
    return seconds;
  return invalidArgument("--{}={}: write minutes above 0, as in 10 or 0.5, or a unit, as in 90s, 5min or 1h", flag,
                         text);
}

std::string durationText(double seconds) {
  constexpr double minute = 60, hour = 3600, manySeconds = 100, manyMinutes = 100;
  double whole = std::ceil(seconds - 1e-9);
  if (whole == minute)
    return "1 minute";
  if (whole < manySeconds)
    return fmt::format("{:.0f} s", whole > 0 ? whole : 0.0);
  return whole < manyMinutes * minute ? fmt::format("{:.2g} minutes", whole / minute)
                                      : fmt::format("{:.1f} hours", whole / hour);
}

} // namespace kiln
