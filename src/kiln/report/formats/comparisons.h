// What `compare` found, in the forms that reports have.
#ifndef KILN_REPORT_FORMATS_COMPARISONS_H
#define KILN_REPORT_FORMATS_COMPARISONS_H

#include <span>
#include <string>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/report/model/compare.h"

namespace kiln::report {

// A comparison with what its sides are: runs, variants or compilers.
struct NamedComparison {
  std::string before, after;
  std::string heading; // lines above the console's table
  CompareReport report;
  double threshold = 0; // as in CompareOptions
  bool excused = false; // warnings are no failure
};

// Before anything is measured: NotFound, with the names that there are, where comparisons have no such format.
Status checkComparisonFormat(std::string_view format);

// "console", "csv", "json", "markdown" or "junit". `width` is the console's.
Result<std::string> formatComparisons(std::span<const NamedComparison> comparisons, std::string_view format,
                                      size_t width);

// What got slower first, what got faster last; then what has no ratio.
std::vector<const Comparison *> slowestFirst(const CompareReport &report);
// "2.4": in percent, without digits that mean nothing; empty where there is no ratio.
std::string smallestText(const Comparison &comparison);
// The smallest changes that these data could have shown, in one sentence; empty where no dispatch has a ratio.
std::string smallestSentence(const CompareReport &report);
// What the controls did, or that there is nothing else; empty where there is no control.
std::string controlsSentence(const CompareReport &report);
// "warning: the cache mode differs; ratios say little", the end only where there are ratios.
std::string warningText(const CompareReport &report, std::string_view warning);
// What the comparison says of all dispatches together, in lines: means, and how many got faster or slower.
std::string summaryOf(const CompareReport &report);

} // namespace kiln::report

#endif // KILN_REPORT_FORMATS_COMPARISONS_H
