// What kiln-benchmark-module reports: Google Benchmark's console table, JSON and CSV, with three things made right. The
// build type is Kiln's, not that of the library's package; a time has three digits where the library's three decimals
// would show zeros; and a report that cannot be written is an error.
#ifndef KILN_TOOLS_BENCHMARK_REPORT_H
#define KILN_TOOLS_BENCHMARK_REPORT_H

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "kiln/base/status.h"

namespace kiln {

struct ReportFlags {
  std::string format = "console"; // of what is printed: console, json or csv
  std::string file;               // a report goes there as well; empty: none
  std::string fileFormat = "json";
  bool color = false;
  bool tabular = false; // counters as columns
};

// Reads what the library's flags, or the environment variables that it takes for flags (BENCHMARK_FORMAT), say of
// reports. Changes the flags so that the library writes no file itself.
Result<ReportFlags> takeReportFlags(std::vector<std::string> &libraryFlags);

// How many decimals show three digits of a time below 1. One that is rounded up to a power of ten has one less.
inline int decimalsOfThreeDigits(double time) {
  std::string rounded = fmt::format("{:.2e}", time); // 9.99e-05
  return std::min(2 - std::stoi(rounded.substr(rounded.find('e') + 1)), 15);
}

// What a benchmark says to State::SkipWithError where it was interrupted. Reports leave such repetitions out.
inline constexpr const char *kInterrupted = "interrupted";

// Runs the registered benchmarks and returns how many ran. benchmark::Initialize has been called with the changed
// flags. A file appears when all of it is written. Interrupted, reports end with what was measured.
Result<size_t> runAndReport(const ReportFlags &flags);

} // namespace kiln

#endif // KILN_TOOLS_BENCHMARK_REPORT_H
