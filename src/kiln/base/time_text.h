// Time of day as text.
#ifndef KILN_BASE_TIME_TEXT_H
#define KILN_BASE_TIME_TEXT_H

#include <cstdint>
#include <ctime>
#include <string>

namespace kiln {

// "2026-11-21 12:20:00", in UTC, of nanoseconds since 1970; `format` is strftime's. Empty beyond all calendars.
inline std::string timeText(int64_t nanoseconds, const char *format = "%Y-%m-%d %H:%M:%S") {
  const time_t seconds = nanoseconds / 1'000'000'000;
  tm parts = {};
  char text[64];
  return gmtime_r(&seconds, &parts) && strftime(text, sizeof text, format, &parts) > 0 ? text : std::string();
}

} // namespace kiln

#endif // KILN_BASE_TIME_TEXT_H
