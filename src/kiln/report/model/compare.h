// What got faster or slower between two runs.
#ifndef KILN_REPORT_MODEL_COMPARE_H
#define KILN_REPORT_MODEL_COMPARE_H

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/report/model/table.h"

namespace kiln::report {

enum class Verdict { Same, Faster, Slower, Broken, Mended, OnlyBefore, OnlyAfter };
const char *verdictName(Verdict verdict);

// A ratio of times with its interval.
struct TimeRatio {
  double ratio = 0, low = 0, high = 0;
};

// One dispatch before and after. `ratio` is the time after to the time before: above 1 is slower. Its interval comes
// from the rounds that both ran in, or holds both runs' intervals; where it holds 1 they cannot be told apart, and are
// the same.
struct Comparison {
  const Row *before = nullptr, *after = nullptr; // null where a run lacks it
  Verdict verdict = Verdict::Same;
  double ratio = 0, low = 0, high = 0; // 0 where there are no times to compare
  bool regression = false;             // slower by more than the threshold with all of the interval, or broken
  bool paired = false;                 // from common rounds
};

struct CompareOptions {
  double threshold = 0.02; // 0.02: a regression is slower by more than 2 %
  // The ratio from rounds that both rows took part in; nothing where there are too few. May be empty.
  std::function<std::optional<TimeRatio>(const Row &before, const Row &after)> paired = {};
};

struct CompareReport {
  std::vector<Comparison> comparisons; // as in the run before, then what is new
  size_t regressions = 0;
  std::vector<std::string> warnings; // why the runs may not be comparable: another machine, cache mode, threads
  // Geometric means: of all that have a ratio, and of libraries of the same version, which should be 1.
  std::optional<TimeRatio> mean, unchanged;
};

// The tables must outlive the report. A dispatch is found by problem, provider, variant and configuration.
CompareReport compareRuns(const Table &before, const Table &after, const CompareOptions &options);
// Two variants of the same dispatches in one table: found by problem, provider and configuration.
CompareReport compareVariants(const Table &table, std::string_view before, std::string_view after,
                              const CompareOptions &options);
// The ratio of two rows that both have times, from their intervals.
TimeRatio ratioOf(const Row &before, const Row &after);
// Why the times of two runs may say little of each other: "the cache mode differs: 'cold' before, 'warm' after". Empty
// where nothing is known to differ.
std::vector<std::string> differencesOf(const store::Run &before, const store::Run &after);
// That two problems of one name are not the same, as programs of a corpus that were edited; empty where they are. How
// their FLOPs are counted makes no difference to times.
std::string problemDifference(const store::Problem &before, const store::Problem &after);

} // namespace kiln::report

#endif // KILN_REPORT_MODEL_COMPARE_H
