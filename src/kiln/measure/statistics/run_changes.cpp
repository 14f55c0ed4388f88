#include "kiln/measure/statistics/run_changes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace kiln::measure {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// How many standard errors intervals reach to either side: those of medians have 95 %; those of ratios are for a whole
// group's ranking, which takes at least this.
constexpr double kMedianReach = 1.96;
constexpr double kRatioReach = 3;
// Where nothing was estimated from few numbers, Student's t is the normal distribution.
constexpr double kKnownDegrees = 1e9;

using Side = std::vector<std::optional<RunLevel>> RunSeries::*;
constexpr Side kSides[] = {&RunSeries::before, &RunSeries::after};

double square(double value) {
  return value * value;
}

// The mean over the runs of one side that have the candidate; NaN where none has.
template <typename Get> double meanOf(const std::vector<std::optional<RunLevel>> &runs, const Get &get) {
  double sum = 0;
  size_t count = 0;
  for (size_t run = 0; run < runs.size(); ++run)
    if (runs[run]) {
      sum += get(run, *runs[run]);
      ++count;
    }
  return count ? sum / static_cast<double>(count) : kNan;
}

// The standard error of a logarithm whose interval reaches so many of them to either side.
double errorOf(double low, double high, double reach) {
  return low > 0 && std::isfinite(high) ? std::log(high / low) / (2 * reach) : kInfinity;
}

// How far the runs' own intervals let the difference of the two sides' means be off, as a variance.
template <double RunLevel::*error> double ownVariance(const RunSeries &series) {
  double variance = 0;
  for (Side side : kSides) {
    double sum = 0;
    double count = 0;
    for (const std::optional<RunLevel> &level : series.*side)
      if (level) {
        sum += square((*level).*error);
        ++count;
      }
    variance += sum / square(count);
  }
  return variance;
}

// The change of a candidate's time or ratio, from side to side.
template <double RunLevel::*member> double changeOf(const RunSeries &series) {
  auto get = [](size_t, const RunLevel &level) { return level.*member; };
  return meanOf(series.after, get) - meanOf(series.before, get);
}

// One group's controls.
struct Controls {
  double count = 0;
  double ratioChange = 0;        // mean
  double squares = 0;            // of the deviations from it
  std::vector<double> levels[2]; // mean ratio of each run of a side
};

// What all controls tell of the noise between the runs.
struct ControlNoise {
  std::map<size_t, Controls> groups; // those that have a control
  double variance = 0;               // of one control's change against others
  double degrees = 0;
  double ownVariance = 0; // mean, as the runs' intervals have it
  double meanSquare = 0;  // of the changes of times, the common one included
};

bool inEveryRun(const RunSeries &series, const std::vector<bool> (&exists)[2]) {
  for (size_t side = 0; side < 2; ++side)
    for (size_t run = 0; run < exists[side].size(); ++run)
      if (exists[side][run] && !(series.*kSides[side])[run])
        return false;
  return true;
}

Controls controlsOf(std::span<const RunSeries *const> controls) {
  Controls found;
  found.count = static_cast<double>(controls.size());
  for (const RunSeries *each : controls)
    found.ratioChange += changeOf<&RunLevel::ratio>(*each) / found.count;
  for (const RunSeries *each : controls)
    found.squares += square(changeOf<&RunLevel::ratio>(*each) - found.ratioChange);
  for (size_t side = 0; side < 2; ++side)
    for (size_t run = 0; run < (controls[0]->*kSides[side]).size(); ++run) {
      double sum = 0;
      for (const RunSeries *each : controls)
        if (const std::optional<RunLevel> &level = (each->*kSides[side])[run])
          sum += level->ratio / found.count;
      found.levels[side].push_back(sum);
    }
  return found;
}

// A control counts where it is in all runs that its group is in: else the mean over the controls would depend on which
// of them a run has.
std::map<size_t, std::vector<const RunSeries *>> usableControls(std::span<const RunSeries> candidates) {
  std::map<size_t, std::vector<bool>[2]> exists;
  for (const RunSeries &series : candidates)
    for (size_t side = 0; side < 2; ++side) {
      std::vector<bool> &runs = exists[series.group][side];
      runs.resize((series.*kSides[side]).size());
      for (size_t run = 0; run < runs.size(); ++run)
        runs[run] = runs[run] || (series.*kSides[side])[run];
    }
  std::map<size_t, std::vector<const RunSeries *>> usable;
  for (const RunSeries &series : candidates)
    if (series.control && inEveryRun(series, exists[series.group]) &&
        std::isfinite(ownVariance<&RunLevel::ratioError>(series)))
      usable[series.group].push_back(&series);
  return usable;
}

ControlNoise controlNoise(std::span<const RunSeries> candidates) {
  ControlNoise noise;
  double withinSquares = 0;
  double withinDegrees = 0;
  std::vector<double> changes;
  for (const auto &[group, controls] : usableControls(candidates)) {
    const Controls &found = noise.groups.emplace(group, controlsOf(controls)).first->second;
    withinSquares += found.squares;
    withinDegrees += found.count - 1;
    for (const RunSeries *each : controls) {
      changes.push_back(changeOf<&RunLevel::time>(*each));
      noise.ownVariance += ownVariance<&RunLevel::ratioError>(*each);
      noise.meanSquare += square(changes.back());
    }
  }
  if (changes.empty())
    return noise;
  const auto count = static_cast<double>(changes.size());
  const auto groups = static_cast<double>(noise.groups.size());
  noise.ownVariance /= count;
  noise.meanSquare /= count;
  constexpr double kEnoughWithin = 3;
  if (withinDegrees >= std::min(groups - 1, kEnoughWithin)) {
    noise.degrees = withinDegrees;
    noise.variance = withinDegrees > 0 ? withinSquares / withinDegrees : 0;
    return noise;
  }
  // Few groups have two controls. Controls of different groups scatter at least as much as those of one group would.
  double mean = 0;
  for (double change : changes)
    mean += change / count;
  for (double change : changes)
    noise.variance += square(change - mean) / (count * (1 - 1 / groups));
  noise.degrees = groups - 1;
  return noise;
}

// How a candidate scatters from run to run, within both sides.
struct OwnScatter {
  double variance = 0; // of the difference of the sides' means
  double degrees = 0;
};

OwnScatter ownScatter(const RunSeries &series, const Controls *controls) {
  double squares = 0;
  double runs = 0;
  double perRun = 0;
  for (size_t side = 0; side < 2; ++side) {
    auto get = [&](size_t run, const RunLevel &level) {
      return controls ? level.ratio - controls->levels[side][run] : level.time;
    };
    const std::vector<std::optional<RunLevel>> &levels = series.*kSides[side];
    const double mean = meanOf(levels, get);
    double count = 0;
    for (size_t run = 0; run < levels.size(); ++run)
      if (levels[run]) {
        squares += square(get(run, *levels[run]) - mean);
        ++count;
      }
    runs += count;
    perRun += 1 / count;
  }
  const double degrees = runs - 2;
  return degrees > 0 ? OwnScatter{squares / degrees * perRun, degrees} : OwnScatter{};
}

Change changeOf(const RunSeries &series, const ControlNoise &noise) {
  const double own = ownVariance<&RunLevel::ratioError>(series);
  const double time = changeOf<&RunLevel::time>(series);
  if (!(own >= 0) || std::isnan(time))
    return {{kNan, kInfinity, 0}};
  const auto found = noise.groups.find(series.group);
  const Controls *controls = found == noise.groups.end() ? nullptr : &found->second;
  // Controls are never believed to scatter less than their own intervals let them, and a candidate whose interval is
  // wider than theirs scatters more by as much.
  const double scatter = std::max(noise.variance, noise.ownVariance);
  const double wider = noise.ownVariance > 0 ? std::max(1.0, own / noise.ownVariance) : 1;
  const double expected = std::max(own, scatter * wider);
  if (series.control)
    return {{time, std::sqrt(expected), noise.degrees}, NoiseSource::Controls};

  const OwnScatter runs = ownScatter(series, controls);
  if (!controls) {
    const double assumed =
        std::max(square(kUncontrolledShift), noise.meanSquare) + ownVariance<&RunLevel::timeError>(series);
    if (runs.variance > assumed)
      return {{time, std::sqrt(runs.variance), runs.degrees}, NoiseSource::Runs};
    return {{time, std::sqrt(assumed), kKnownDegrees}, NoiseSource::Assumed};
  }
  const double value = changeOf<&RunLevel::ratio>(series) - controls->ratioChange;
  auto change = [&](double variance, double degrees, NoiseSource source) {
    Change less{{value, std::sqrt(variance), degrees}, source};
    less.lessControls = true;
    return less;
  };
  if (runs.degrees >= kRunsAlone)
    return change(std::max(runs.variance, own), runs.degrees, NoiseSource::Runs);
  const double perControl = 1 + 1 / controls->count;
  if (noise.degrees >= kFewestDegrees)
    return change(std::max(expected * perControl, runs.variance), noise.degrees, NoiseSource::Controls);
  const double assumed = std::max(expected, square(kControlledShift) + own) * perControl;
  return change(std::max(assumed, runs.variance), kKnownDegrees, NoiseSource::Assumed);
}

} // namespace

std::vector<RunLevel> runLevels(std::span<const Estimate> group) {
  // The leader's ratio to itself has no error. As its error counts the smallest one of the others' ratios to it.
  double leaderError = kInfinity;
  for (const Estimate &each : group)
    if (const double error = errorOf(each.ratioLow, each.ratioHigh, kRatioReach); error > 0)
      leaderError = std::min(leaderError, error);
  std::vector<RunLevel> levels;
  for (const Estimate &each : group) {
    const double timeError = errorOf(each.low, each.high, kMedianReach);
    const double ratioError = errorOf(each.ratioLow, each.ratioHigh, kRatioReach);
    levels.push_back({std::log(each.median), std::log(each.ratio), timeError,
                      std::min(timeError, ratioError > 0 ? ratioError : leaderError)});
  }
  return levels;
}

std::string_view noiseSourceName(NoiseSource source) {
  switch (source) {
  case NoiseSource::CommonRounds: return "common rounds";
  case NoiseSource::Controls: return "controls";
  case NoiseSource::Runs: return "runs";
  case NoiseSource::Assumed: return "assumed";
  }
  return "unknown";
}

Interval Change::interval(StudentTable &table) const {
  const Interval found = location.interval(table);
  return {std::max(found.low, bounds.low), std::min(found.high, bounds.high)};
}

std::vector<Change> changesBetweenRuns(std::span<const RunSeries> candidates) {
  const ControlNoise noise = controlNoise(candidates);
  std::vector<Change> changes;
  changes.reserve(candidates.size());
  for (const RunSeries &series : candidates)
    changes.push_back(changeOf(series, noise));
  return changes;
}

Change changeInCommonRounds(std::span<const double> logRatios) {
  // Few rounds do not show all of the correlation where it has several causes at once. A tenth more is what intervals
  // need to cover under all of the simulation's noise.
  constexpr double kHiddenMemory = 1.1;
  Change change{locate(logRatios), NoiseSource::CommonRounds};
  change.location.error *= kHiddenMemory;
  // A disturbance that began or ended halfway makes all rounds look correlated, so that the interval would have no end.
  // With this many rounds it ends at the lowest and the highest of them.
  constexpr size_t kMany = 12;
  if (logRatios.size() >= kMany) {
    const auto [lowest, highest] = std::ranges::minmax(logRatios);
    change.bounds = {lowest, highest};
  }
  return change;
}

} // namespace kiln::measure
