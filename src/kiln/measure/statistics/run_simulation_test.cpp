// Whether what is claimed of changes between runs in docs/statistics.md holds: many simulated pairs and sets of runs
// under each of the noise models. What is printed here stands there as its tables.
#include "kiln/measure/statistics/run_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "fmt/core.h"

namespace kiln::measure::simulation {
namespace {

constexpr double kAlpha = 0.05;

// Counts over the comparisons of one study.
struct Tally {
  double comparisons = 0;
  double alarms = 0; // comparisons with a regression
  double rows = 0;
  double differing = 0;         // rows that are said to have changed
  double shown = 0, found = 0;  // rows whose smallest change is at most the planted one, and those that were found
  std::vector<double> smallest; // of each row, logarithms

  double middle() const { return percentile(smallest, 0.5); }
};

void count(const std::vector<RunSeries> &series, double planted, Tally &tally) {
  const std::vector<Change> changes = changesBetweenRuns(series);
  const auto judged =
      static_cast<double>(std::count_if(series.begin(), series.end(), [](auto &s) { return !s.control; }));
  StudentTable table(kAlpha);
  StudentTable familyTable(2 * kAlpha / judged);
  bool alarm = false;
  for (size_t i = 0; i < series.size(); ++i) {
    if (series[i].control)
      continue;
    const Interval interval = changes[i].interval(table);
    const double smallest = changes[i].smallest(table);
    tally.rows += 1;
    tally.differing += interval.contains(0) ? 0 : 1;
    tally.smallest.push_back(smallest);
    alarm |= changes[i].location.interval(familyTable).low > 0;
    if (smallest <= planted) {
      tally.shown += 1;
      tally.found += interval.low > 0 ? 1 : 0;
    }
  }
  tally.comparisons += 1;
  tally.alarms += alarm ? 1 : 0;
}

Tally play(const RunNoise &noise, const RunShape &shape, double planted, uint64_t comparisons) {
  Tally tally;
  for (uint64_t seed = 1; seed <= comparisons; ++seed)
    count(playRuns(noise, shape, planted, seed), planted, tally);
  return tally;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 100;
}

// Nothing changed, then a change of the size that the middle row of unchanged ones could have shown.
void study(std::string_view title, const RunShape &shape, uint64_t comparisons) {
  fmt::print("\n{}, {} comparisons: %\n\n| noise | false verdicts | false regressions | smallest change | found |\n"
             "|---|---:|---:|---:|---:|\n",
             title, comparisons);
  for (const RunNoise &noise : runNoiseModels()) {
    const Tally same = play(noise, shape, 0, comparisons);
    const double planted = same.middle();
    const Tally changed = play(noise, shape, planted, comparisons);
    fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", noise.name, percent(same.differing, same.rows),
               percent(same.alarms, same.comparisons), 100 * std::expm1(planted),
               percent(changed.found, changed.shown));
    EXPECT_LE(percent(same.differing, same.rows), 5) << noise.name;
    EXPECT_LE(percent(same.alarms, same.comparisons), 5) << noise.name;
    EXPECT_GE(percent(changed.found, changed.shown), 95) << noise.name;
    EXPECT_GE(changed.shown, 0.1 * changed.rows) << noise.name;
  }
}

TEST(RunSimulation, OneRunEachWithThreeControlsAProblem) {
  study("One run before and one after, 4 problems of 3 controls and 2 candidates", {}, 200);
}

TEST(RunSimulation, OneRunEachWithOneControlAProblem) {
  study("One run before and one after, 8 problems of 1 control and 1 candidate",
        {.groups = 8, .controls = 1, .others = 1}, 200);
}

TEST(RunSimulation, OneProblem) {
  study("One run before and one after, 1 problem of 3 controls and 4 candidates",
        {.groups = 1, .controls = 3, .others = 4}, 400);
}

TEST(RunSimulation, ThreeRunsEach) {
  study("Three runs before and three after, 2 problems of 2 controls and 2 candidates",
        {.groups = 2, .controls = 2, .others = 2, .before = 3, .after = 3}, 200);
}

TEST(RunSimulation, OneRunAfterFiveOfAHistory) {
  study("One run after five, 2 problems of 2 controls and 2 candidates",
        {.groups = 2, .controls = 2, .others = 2, .before = 5, .after = 1}, 200);
}

TEST(RunSimulation, WithoutControls) {
  study("One run before and one after, 4 problems of 2 candidates and no control",
        {.groups = 4, .controls = 0, .others = 2}, 200);
}

Change changeOfPair(const Noise &noise, double planted, uint64_t seed) {
  const double factors[] = {1, std::exp(planted)};
  Sweep sweep(noise, factors, {.seed = seed});
  (void)sweep.run();
  std::vector<double> ratios;
  for (size_t round = 0; round < std::min(sweep.locations(0).size(), sweep.locations(1).size()); ++round)
    if (const double ratio = sweep.locations(1)[round] - sweep.locations(0)[round]; !std::isnan(ratio))
      ratios.push_back(ratio);
  return changeInCommonRounds(ratios);
}

TEST(RunSimulation, TwoCompilersInCommonRounds) {
  constexpr uint64_t kPairs = 600;
  fmt::print("\nTwo candidates in common rounds, {} groups: %\n\n| noise | false verdicts | smallest change | found "
             "|\n|---|---:|---:|---:|\n",
             kPairs);
  StudentTable table(kAlpha);
  for (const Noise &noise : noiseModels()) {
    Tally tally;
    for (uint64_t seed = 1; seed <= kPairs; ++seed) {
      const Change change = changeOfPair(noise, 0, seed);
      tally.differing += change.interval(table).contains(0) ? 0 : 1;
      tally.smallest.push_back(change.smallest(table));
    }
    for (uint64_t seed = 1; seed <= kPairs; ++seed) {
      const Change change = changeOfPair(noise, tally.middle(), seed);
      if (change.smallest(table) > tally.middle())
        continue;
      tally.shown += 1;
      tally.found += change.interval(table).low > 0 ? 1 : 0;
    }
    fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} |\n", noise.name, percent(tally.differing, kPairs),
               100 * std::expm1(tally.middle()), percent(tally.found, tally.shown));
    EXPECT_LE(percent(tally.differing, kPairs), 5) << noise.name;
    EXPECT_GE(percent(tally.found, tally.shown), 95) << noise.name;
    EXPECT_GE(tally.shown, 0.1 * kPairs) << noise.name;
  }
}

} // namespace
} // namespace kiln::measure::simulation
