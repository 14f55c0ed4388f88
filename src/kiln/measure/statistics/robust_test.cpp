#include "kiln/measure/statistics/robust.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kiln/measure/statistics/levels.h"
#include "kiln/measure/statistics/rounds.h"

namespace kiln::measure {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Percentile, InterpolatesBetweenNeighbours) {
  EXPECT_EQ(percentile(std::vector<double>{2, 1}, 0.5), 1.5);
  EXPECT_EQ(percentile(std::vector<double>{5, 1, 3}, 0.5), 3);
  EXPECT_EQ(percentile(std::vector<double>{5, 1, 3}, 0.25), 2);
  EXPECT_EQ(percentile(std::vector<double>{5, 1, 3}, 0), 1);
  EXPECT_EQ(percentile(std::vector<double>{5, 1, 3}, 1), 5);
  EXPECT_EQ(percentile(std::vector<double>{5, 1, 3}, 7), 5);
  EXPECT_EQ(percentile(std::vector<double>{4}, 0.9), 4);
  EXPECT_TRUE(std::isnan(percentile({}, 0.5)));
}

// The values of any printed table.
TEST(Student, QuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(studentQuantile(0.05, 1), 12.706, 1e-3);
  EXPECT_NEAR(studentQuantile(0.05, 2), 4.303, 1e-3);
  EXPECT_NEAR(studentQuantile(0.05, 3), 3.182, 1e-3);
  EXPECT_NEAR(studentQuantile(0.05, 10), 2.228, 1e-3);
  EXPECT_NEAR(studentQuantile(0.01, 7), 3.499, 1e-3);
  EXPECT_NEAR(studentQuantile(0.001, 30), 3.646, 1e-3);
  EXPECT_NEAR(studentQuantile(0.05, 120), 1.980, 1e-3);
  EXPECT_NEAR(studentQuantile(1e-6, 5), 28.478, 1e-3);
}

TEST(Student, ExtremesAreSafe) {
  EXPECT_TRUE(std::isinf(studentQuantile(0.05, 0.9)));
  EXPECT_TRUE(std::isinf(studentQuantile(0.05, kNan)));
  EXPECT_TRUE(std::isinf(studentQuantile(0, 5)));
  EXPECT_EQ(studentQuantile(1, 5), 0);
  EXPECT_GT(studentQuantile(1e-300, 1), 1e290);
  EXPECT_GT(studentQuantile(1e-320, 1), 1e290);
  EXPECT_EQ(studentQuantile(0.05, 10.9), studentQuantile(0.05, 10));
  EXPECT_EQ(studentQuantile(0.05, 1e9), studentQuantile(0.05, 400));
  StudentTable table(0.05);
  EXPECT_EQ(table.at(7), studentQuantile(0.05, 7));
  EXPECT_EQ(table.at(7), studentQuantile(0.05, 7));
  EXPECT_TRUE(std::isinf(table.at(0)));
}

TEST(Locate, OutliersDoNotMoveIt) {
  std::vector<double> series;
  for (int i = 0; i < 50; ++i)
    series.push_back((i * 7 % 11) * 0.001);
  const Location clean = locate(series);
  for (int i = 0; i < 50; i += 10)
    series[static_cast<size_t>(i)] = 10;
  const Location dirty = locate(series);
  EXPECT_NEAR(clean.value, 0.005, 5e-4);
  EXPECT_NEAR(dirty.value, clean.value, 1e-3);
  EXPECT_LT(dirty.error, 3 * clean.error);
}

TEST(Locate, TooFewSayNothing) {
  StudentTable table(0.05);
  EXPECT_TRUE(std::isnan(locate({}).value));
  EXPECT_TRUE(std::isinf(locate(std::vector<double>{1}).reach(table)));
  EXPECT_TRUE(std::isinf(locate(std::vector<double>{1, 1}).reach(table)));
  const Location three = locate(std::vector<double>{1, 2, 3});
  EXPECT_EQ(three.value, 2);
  EXPECT_NEAR(three.reach(table), 4.303 / std::sqrt(3.0), 1e-3);
}

TEST(Autocorrelation, SeesResemblanceAndNotItsLack) {
  std::vector<double> alternating;
  std::vector<double> blocks;
  for (int i = 0; i < 60; ++i) {
    alternating.push_back(i % 2);
    blocks.push_back(i / 10 % 2);
  }
  EXPECT_EQ(autocorrelationFactor(alternating), 1);
  EXPECT_GT(autocorrelationFactor(blocks), 5);
  EXPECT_EQ(autocorrelationFactor(std::vector<double>(60, 3.0)), 1);
  EXPECT_EQ(autocorrelationFactor(std::vector<double>{1, 1, 1, 1, 5, 5, 5, 5}), 1);
}

TEST(Levels, AreFoundThroughDriftAndAbsence) {
  const std::vector<double> first = {1, 2, 3, 4, 5};
  const std::vector<double> second = {1.5, 2.5, 3.5, kNan, 5.5};
  const std::vector<double> third = {kNan, 1.9, 2.9};
  const std::vector<double> absent = {kNan};
  const std::vector<std::span<const double>> series = {first, second, third, absent};
  const Levels levels = splitLevels(series);
  EXPECT_NEAR(levels.candidates[1] - levels.candidates[0], 0.5, 0.01);
  EXPECT_NEAR(levels.candidates[0] - levels.candidates[2], 0.1, 0.05);
  EXPECT_TRUE(std::isnan(levels.candidates[3]));
  EXPECT_NEAR(levels.rounds[4] - levels.rounds[0], 4, 0.1);
  EXPECT_TRUE(splitLevels({}).rounds.empty());
}

TEST(CandidateRounds, RoundsCountAlike) {
  CandidateRounds rounds;
  rounds.add({10, 10, 10, 10, 10, 10, 10, 10, 10});
  rounds.add({20});
  rounds.add({20});
  const CandidateRounds::Summary summary = rounds.summarize(0.05);
  EXPECT_EQ(summary.median, 20);
  EXPECT_EQ(rounds.samples(), 11U);
  EXPECT_EQ(rounds.rounds(), 3U);
  EXPECT_LE(summary.interval.low, 10);
  EXPECT_GE(summary.interval.high, 20);
}

TEST(CandidateRounds, ManySamplesAreKeptAsPercentiles) {
  CandidateRounds rounds;
  for (int round = 0; round < 20; ++round) {
    std::vector<double> times;
    for (int i = 0; i < 10001; ++i)
      times.push_back(1000 + (i * 37) % 10001 + round);
    rounds.add(std::move(times));
  }
  const CandidateRounds::Summary summary = rounds.summarize(0.05);
  EXPECT_NEAR(summary.median, 6010, 20);
  EXPECT_NEAR(summary.p10, 2010, 100);
  EXPECT_NEAR(summary.p90, 10010, 100);
  EXPECT_EQ(rounds.samples(), 200020U);
  EXPECT_TRUE(summary.interval.contains(summary.median));
}

// The median lies between two frequencies: an interval that names one of them would be a lie.
TEST(CandidateRounds, TwoFrequenciesWidenTheInterval) {
  CandidateRounds rounds;
  for (int round = 0; round < 40; ++round)
    rounds.add({round * 7 % 2 == 0 ? 100.0 : 120.0});
  const CandidateRounds::Summary summary = rounds.summarize(0.05);
  EXPECT_DOUBLE_EQ(summary.interval.low, 100);
  EXPECT_DOUBLE_EQ(summary.interval.high, 120);
}

TEST(CandidateRounds, NoSingleSampleEndsTheIntervalOfAMachineThatChanged) {
  CandidateRounds rounds;
  for (int round = 0; round < 40; ++round) {
    const double time = round < 20 ? 120 : 100;
    rounds.add({time, time, round == 3 ? 90'000 : time, time});
  }
  const CandidateRounds::Summary summary = rounds.summarize(0.05);
  EXPECT_DOUBLE_EQ(summary.interval.low, 100);
  EXPECT_DOUBLE_EQ(summary.interval.high, 120);
}

TEST(CandidateRounds, NothingIsKnownOfNothing) {
  const CandidateRounds::Summary summary = CandidateRounds().summarize(0.05);
  EXPECT_TRUE(std::isnan(summary.median));
  EXPECT_EQ(summary.interval.low, 0);
  EXPECT_TRUE(std::isinf(summary.interval.high));
}

} // namespace
} // namespace kiln::measure
