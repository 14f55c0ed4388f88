// What got faster or slower between two runs.
#ifndef KILN_REPORT_MODEL_COMPARE_H
#define KILN_REPORT_MODEL_COMPARE_H

#include <string>
#include <vector>

#include "kiln/report/model/table.h"

namespace kiln::report {

enum class Verdict { Same, Faster, Slower, Broken, Mended, OnlyBefore, OnlyAfter };
const char *verdictName(Verdict verdict);

// One dispatch in both runs. `ratio` is the time after to the time before: above 1 is slower. Its interval holds both
// runs' intervals; where it holds 1 they cannot be told apart, and are the same.
struct Comparison {
  const Row *before = nullptr, *after = nullptr; // null where a run lacks it
  Verdict verdict = Verdict::Same;
  double ratio = 0, low = 0, high = 0; // 0 where there are no times to compare
  bool regression = false;             // slower by more than the threshold with all of the interval, or broken
};

struct CompareOptions {
  double threshold = 0.05; // 0.05: a regression is slower by more than 5 %
};

struct CompareReport {
  std::vector<Comparison> comparisons; // as in the run before, then what is new
  size_t regressions = 0;
  std::vector<std::string> warnings; // why the runs may not be comparable: another machine, cache mode, threads
};

// The tables must outlive the report. A dispatch is found by problem, provider, variant and configuration.
CompareReport compareRuns(const Table &before, const Table &after, const CompareOptions &options);

} // namespace kiln::report

#endif // KILN_REPORT_MODEL_COMPARE_H
