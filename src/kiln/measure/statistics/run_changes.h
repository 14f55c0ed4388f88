// By what factor candidates changed between runs, and how sure that is. A run is one observation of each candidate,
// however many rounds it had: everything that lasts for a run (the machine's frequency, its neighbours, where code and
// data lie in memory) shifts all of the run's samples, and no interval from within the run can see it.
//
// What is assumed, in plain words:
//  - Candidates of one group run in the same rounds, so that what slows the machine slows them by about the same
//  factor:
//    a candidate is compared with the controls of its own group, which are the candidates that certainly did not
//    change.
//  - A candidate that did not change scatters against the controls as they scatter against each other, or more by the
//    factor by which its interval is wider. From kRunsAlone runs on this is not assumed: the candidate's own scatter
//    from run to run decides.
//  - Where a group has no control, or controls too few to tell how they scatter, nothing in the data tells a change
//  from
//    a shift of the machine, and shifts are taken to be as large as kUncontrolledShift and kControlledShift.
// docs/statistics.md has the method and the simulations that check it.
#ifndef KILN_MEASURE_STATISTICS_RUN_CHANGES_H
#define KILN_MEASURE_STATISTICS_RUN_CHANGES_H

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kiln/base/estimate.h"
#include "kiln/measure/statistics/robust.h"

namespace kiln::measure {

// Standard deviations of the logarithm of a candidate's time after to its time before where nothing changed, as assumed
// where it cannot be estimated: without a control, and against the mean of a group's controls. docs/statistics.md says
// what was measured.
inline constexpr double kUncontrolledShift = 0.08;
inline constexpr double kControlledShift = 0.01;
// Degrees of freedom that the controls' scatter needs before it is believed, and those that a candidate's own scatter
// from run to run needs before the controls' is not needed any more.
inline constexpr double kFewestDegrees = 2;
inline constexpr double kRunsAlone = 4;

// What one run says of one candidate's time and of its ratio to the leader, as logarithms.
struct RunLevel {
  double time = 0;
  double ratio = 0;
  double timeError = 0;  // standard errors as seen from within the run; infinite where there was no interval
  double ratioError = 0; // at most this
};
// Of a whole group in one run. Intervals are taken to have a confidence of 95 %; those of ratios have more, so that
// their errors come out too large rather than too small.
std::vector<RunLevel> runLevels(std::span<const Estimate> group);

// One candidate in all runs of both sides. The series of all candidates have equal lengths; a run that lacks the
// candidate has no level.
struct RunSeries {
  size_t group = 0;     // its problem, in all runs
  bool control = false; // it certainly did not change
  std::vector<std::optional<RunLevel>> before, after;
};

// From what it is known how far a change may be off.
enum class NoiseSource {
  CommonRounds, // both sides ran in the same rounds
  Controls,     // the controls' scatter
  Runs,         // the candidate's own scatter between runs
  Assumed,      // kUncontrolledShift or kControlledShift
};
std::string_view noiseSourceName(NoiseSource source);

// The logarithm of a candidate's time after to its time before, less the common change of its group's controls.
struct Change {
  Location location;
  NoiseSource source = NoiseSource::Assumed;
  Interval bounds = {-kUnbounded, kUnbounded}; // the interval lies within, whatever its confidence
  bool lessControls = false;                   // its group has controls, whose change was taken out
  static constexpr double kUnbounded = 1e300;

  Interval interval(StudentTable &table) const;
  // The least change, as a logarithm, that lies outside of twice the reach: with the table's confidence, and at least
  // half of what it leaves on one side, a change of this size is found.
  double smallest(StudentTable &table) const { return 2 * location.reach(table); }
};

// One change for each series. A control's own is the change of its time. The location's value is NaN where a side lacks
// the candidate.
std::vector<Change> changesBetweenRuns(std::span<const RunSeries> candidates);

// From the logarithms of ratios in the rounds in which both took part. The error is infinite with fewer than 3.
Change changeInCommonRounds(std::span<const double> logRatios);

} // namespace kiln::measure

#endif // KILN_MEASURE_STATISTICS_RUN_CHANGES_H
