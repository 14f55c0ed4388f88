// What got faster or slower between runs.
#ifndef KILN_REPORT_MODEL_COMPARE_H
#define KILN_REPORT_MODEL_COMPARE_H

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/measure/statistics/run_changes.h"
#include "kiln/report/model/table.h"

namespace kiln::report {

enum class Verdict {
  Same,
  Faster,
  Slower,
  Broken,      // it worked before
  Mended,      // it works only after
  StillFails,  // neither before nor after
  NotCompared, // there are no times that tell something
  OnlyBefore,
  OnlyAfter,
};
const char *verdictName(Verdict verdict);

// A ratio of times with its interval; 0 where there are no times to compare.
struct TimeRatio {
  double ratio = 0, low = 0, high = 0;
};

// One dispatch before and after. `ratio` is the time after to the time before: above 1 is slower. From run to run it is
// what is left after the controls' change in the same problem, so that it may differ from the ratio of the two times; a
// control's own ratio is that of its times.
struct Comparison : TimeRatio {
  const Row *before = nullptr, *after = nullptr; // of the newest run of each side; null where it lacks the dispatch
  Verdict verdict = Verdict::Same;               // of this dispatch alone, with a confidence of 95 %
  double smallest = 0;     // 0.03: a change of 3 % would have been found in at least 95 of 100 such comparisons
  bool regression = false; // broken, or slower by more than the threshold; see CompareReport
  bool control = false;    // certainly the same code, so that its change is the machine's
  measure::NoiseSource noise = measure::NoiseSource::Assumed;
};

// The verdict's name; "control" where none is given.
const char *verdictText(const Comparison &comparison);

struct CompareOptions {
  double threshold = 0.02; // 0.02: a regression is slower by more than 2 %
  // The change from rounds that both rows took part in; nothing where they took part in no group together. May be
  // empty.
  std::function<std::optional<measure::Change>(const Row &before, const Row &after)> paired = {};
  // So many comparisons are made at once, and share the chance of a regression that is none.
  size_t together = 1;
  // Which dispatches are compared; the others still serve as controls. Empty: all.
  std::function<bool(const Row &row)> takes = {};
};

// The smallest changes that the data could have shown, found in at least 95 of 100 such comparisons: 0.03 is 3 %.
struct SmallestChange {
  double middle = 0;     // of half of the dispatches
  double worst = 0;      // of every dispatch
  double regression = 0; // marked as a regression, whichever dispatch it is
};

struct CompareReport {
  std::vector<Comparison> comparisons; // as in the newest run before, then what is new
  // A regression by time is one with a confidence of 95 % for all comparisons together: where nothing got slower by
  // more than the threshold, the chance that there is any is at most 5 %.
  size_t regressions = 0;
  std::vector<std::string> warnings; // why the runs may not be comparable: another machine, cache mode, threads
  std::vector<std::string> notes;    // what a reader has to know, and no reason to doubt the ratios
  std::string nothing;               // why no dispatch could be compared, which is a failure; empty where one could
  // Geometric means: of all that may have changed, and of the controls, which did not. Their intervals are as wide as
  // those of single dispatches on average, since what shifts one may shift all.
  std::optional<TimeRatio> mean, unchanged;
  bool lessControls = false;              // the controls' change was taken out of ratios
  std::optional<SmallestChange> smallest; // nothing where no dispatch has a ratio
};

// A side is one run or several, oldest first, each in a table of its own. The tables must outlive the report. A
// dispatch is found by problem, provider, variant, configuration and device.
using Runs = std::span<const Table *const>;
CompareReport compareRuns(Runs before, Runs after, const CompareOptions &options);
// Two variants of the same dispatches in one table: found by problem, provider and configuration.
CompareReport compareVariants(const Table &table, std::string_view before, std::string_view after,
                              const CompareOptions &options);
// Whether both rows are certainly the same code: a library of the same version, or the same module, run by the same
// worker. Such rows are controls: what their times differ by is the machine's, and no verdict is given on it.
bool isSameCode(const Row &before, const Row &after);
// How the row's dispatch changed between the runs, as a Comparison has it; nothing where a side has no time of it.
std::optional<measure::Change> changeOf(const Row &row, Runs before, Runs after);
// A change as a ratio with an interval of 95 %.
TimeRatio ratioOf(const measure::Change &change);
// The smallest change that the data could have shown, as in Comparison; infinite where there is none.
double smallestOf(const measure::Change &change);
// The verdict on an interval that holds 1 or does not.
Verdict verdictOf(const TimeRatio &ratio);
// Why the times of two runs may say little of each other: "the cache mode differs: 'cold' before, 'warm' after". Empty
// where nothing is known to differ.
std::vector<std::string> differencesOf(const store::Run &before, const store::Run &after);
// That two problems of one name are not the same, as programs of a corpus that were edited; empty where they are. How
// their FLOPs are counted makes no difference to times.
std::string problemDifference(const store::Problem &before, const store::Problem &after);

} // namespace kiln::report

#endif // KILN_REPORT_MODEL_COMPARE_H
