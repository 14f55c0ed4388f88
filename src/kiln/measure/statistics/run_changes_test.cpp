#include "kiln/measure/statistics/run_changes.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kiln::measure {
namespace {

RunLevel levelOf(double time, double ratio, double error) {
  return {time, ratio, error, error};
}

// A candidate with one run on each side, whose time and ratio changed by as much.
RunSeries pairOf(size_t group, bool control, double change, double error = 0.001) {
  return {group, control, {levelOf(1, 0, error)}, {levelOf(1 + change, change, error)}};
}

TEST(RunChanges, TheControlsCommonChangeIsTakenOut) {
  std::vector<RunSeries> all;
  for (size_t group = 0; group < 3; ++group) {
    const double machine = 0.05 * static_cast<double>(group);
    for (double scatter : {-0.004, 0.0, 0.004})
      all.push_back(pairOf(group, true, machine + scatter));
    all.push_back(pairOf(group, false, machine + 0.03));
  }
  const std::vector<Change> changes = changesBetweenRuns(all);
  for (size_t i = 3; i < all.size(); i += 4) {
    EXPECT_NEAR(changes[i].location.value, 0.03, 1e-12);
    EXPECT_EQ(changes[i].source, NoiseSource::Controls);
    EXPECT_EQ(changes[i].location.degrees, 6) << "two of each group's three controls";
    EXPECT_NEAR(changes[i].location.error, 0.004 * std::sqrt(4.0 / 3), 1e-12) << "and that of the controls' mean";
  }
  EXPECT_NEAR(changes[4].location.value, 0.05 - 0.004, 1e-12) << "a control's own is that of its time";
}

TEST(RunChanges, AWiderIntervalScattersMoreAndAnEstimateIsNeverBetterThanItsInterval) {
  std::vector<RunSeries> all;
  for (double scatter : {-0.004, -0.004, 0.004, 0.004})
    all.push_back(pairOf(0, true, scatter, 0.001));
  all.push_back(pairOf(0, false, 0, 0.001));
  all.push_back(pairOf(0, false, 0, 0.003));
  std::vector<Change> changes = changesBetweenRuns(all);
  EXPECT_NEAR(changes[5].location.error / changes[4].location.error, 3, 1e-9);
  for (RunSeries &each : all)
    each.before[0]->ratioError = each.after[0]->ratioError = 0.1;
  changes = changesBetweenRuns(all);
  EXPECT_NEAR(changes[4].location.error, 0.1 * std::sqrt(2 * 1.25), 1e-9);
}

TEST(RunChanges, WithoutControlsShiftsAreAssumedAndNeverLessThanWhatControlsElsewhereDid) {
  std::vector<RunSeries> all = {pairOf(0, false, 0.1), pairOf(1, true, 0.3), pairOf(1, true, 0.3)};
  Change change = changesBetweenRuns({all.data(), 1})[0];
  EXPECT_EQ(change.source, NoiseSource::Assumed);
  StudentTable table(0.05);
  EXPECT_NEAR(change.location.reach(table), 1.96 * kUncontrolledShift, 0.002);
  change = changesBetweenRuns(all)[0];
  EXPECT_NEAR(change.location.error, 0.3, 0.001);
  EXPECT_NEAR(change.location.value, 0.1, 1e-12) << "another group's controls ran at another time";
}

TEST(RunChanges, OneControlAloneTellsNothingOfItsScatter) {
  const std::vector<RunSeries> all = {pairOf(0, true, 0.02), pairOf(0, false, 0.05)};
  const Change change = changesBetweenRuns(all)[1];
  EXPECT_EQ(change.source, NoiseSource::Assumed);
  EXPECT_NEAR(change.location.value, 0.03, 1e-12);
  EXPECT_GT(change.location.error, kControlledShift * std::sqrt(2.0));
}

TEST(RunChanges, SixRunsSpeakForThemselves) {
  RunSeries one{0, false, {}, {}};
  RunSeries control{0, true, {}, {}};
  for (double machine : {0.0, 0.1, -0.2}) {
    control.before.emplace_back(levelOf(machine, 0, 0.001));
    control.after.emplace_back(levelOf(machine, 0, 0.001));
    const double own = 0.03 * machine;
    one.before.emplace_back(levelOf(machine + own, own, 0.001));
    one.after.emplace_back(levelOf(machine + own + 0.05, own + 0.05, 0.001));
  }
  const std::vector<RunSeries> all = {one, control};
  Change change = changesBetweenRuns(all)[0];
  EXPECT_EQ(change.source, NoiseSource::Runs);
  EXPECT_EQ(change.location.degrees, 4);
  EXPECT_NEAR(change.location.value, 0.05, 1e-12);
  // A run that lacks the candidate is no observation of it.
  std::vector<RunSeries> fewer = all;
  fewer[0].before[1].reset();
  change = changesBetweenRuns(fewer)[0];
  EXPECT_EQ(change.source, NoiseSource::Assumed) << "five runs, and one control";
}

TEST(RunChanges, WhatIsNotThereHasNoChange) {
  EXPECT_TRUE(changesBetweenRuns({}).empty());
  const std::vector<RunSeries> all = {{0, false, {std::nullopt}, {levelOf(1, 0, 0.1)}},
                                      {0, true, {levelOf(1, 0, 0.1)}, {std::nullopt}}};
  StudentTable table(0.05);
  for (const Change &change : changesBetweenRuns(all)) {
    EXPECT_TRUE(std::isnan(change.location.value));
    EXPECT_TRUE(std::isinf(change.location.reach(table)));
  }
}

TEST(RunChanges, LevelsTakeTheSmallerErrorAndTheLeaderThatOfTheNext) {
  const Estimate group[] = {{.median = 100, .low = 90, .high = 110},
                            {.median = 200, .low = 199, .high = 201, .ratio = 2, .ratioLow = 1.8, .ratioHigh = 2.2},
                            {.median = 300, .low = 200, .high = 400, .ratio = 3, .ratioLow = 2.9, .ratioHigh = 3.1}};
  const std::vector<RunLevel> levels = runLevels(group);
  EXPECT_NEAR(levels[0].timeError, std::log(110.0 / 90) / 3.92, 1e-9);
  EXPECT_NEAR(levels[0].ratioError, std::log(3.1 / 2.9) / 6, 1e-9);
  EXPECT_NEAR(levels[1].ratioError, std::log(201.0 / 199) / 3.92, 1e-9);
  EXPECT_NEAR(levels[2].ratio, std::log(3.0), 1e-12);
  const Estimate unknown[] = {{.median = 100, .high = INFINITY}};
  EXPECT_TRUE(std::isinf(runLevels(unknown)[0].ratioError));
}

TEST(RunChanges, CommonRoundsOfManyLieBetweenTheLowestAndTheHighest) {
  std::vector<double> ratios;
  for (int i = 0; i < 40; ++i)
    ratios.push_back(i < 20 ? 0.0 : 0.1);
  StudentTable table(0.05);
  const Change change = changeInCommonRounds(ratios);
  EXPECT_EQ(change.interval(table), (Interval{0, 0.1}));
  EXPECT_TRUE(std::isinf(changeInCommonRounds({ratios.data(), 2}).location.error));
}

} // namespace
} // namespace kiln::measure
