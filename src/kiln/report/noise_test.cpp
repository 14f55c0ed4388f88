#include "kiln/report/model/noise.h"

#include <gtest/gtest.h>

#include <vector>

namespace kiln::report {
namespace {

// A candidate whose median is known to `half` of itself.
store::CandidateEstimate estimate(double median, double half, uint64_t rank = 1, bool dropped = false) {
  store::CandidateEstimate result;
  result.median = median;
  result.low = median * (1 - half);
  result.high = median * (1 + half);
  result.rank = rank;
  result.dropped = dropped;
  return result;
}

std::optional<NoiseWarning> warning(const std::vector<store::CandidateEstimate> &group) {
  std::vector<const store::CandidateEstimate *> pointers;
  for (const store::CandidateEstimate &one : group)
    pointers.push_back(&one);
  return noiseWarning(pointers);
}

TEST(NoiseWarning, NoiseThatExceedsTheDifferencesIsTold) {
  std::optional<NoiseWarning> found = warning({estimate(100, 0.05), estimate(102, 0.04), estimate(101, 0.06)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->candidates, 3u);
  EXPECT_NEAR(found->noise, 0.05, 1e-9);
  EXPECT_NEAR(found->difference, 0.02, 1e-9);
  EXPECT_EQ(found->text(), "warning: noise of 5.0 % hides the 2.0 % between the best 3; see `kiln doctor`");
}

TEST(NoiseWarning, DifferencesThatExceedTheNoiseAreFine) {
  EXPECT_FALSE(warning({estimate(100, 0.05), estimate(120, 0.05, 2), estimate(150, 0.05, 3)}));
}

TEST(NoiseWarning, EqualAndWellKnownIsAResult) {
  EXPECT_FALSE(warning({estimate(100, 0.009), estimate(100.1, 0.009)}));
  EXPECT_TRUE(warning({estimate(100, 0.011), estimate(100.1, 0.011)}));
}

// Their times are noisy, but the rounds that they had in common tell them apart.
TEST(NoiseWarning, RanksThatTellThemApartAreNotHidden) {
  std::vector<store::CandidateEstimate> group = {estimate(100, 0.27, 1), estimate(120, 0.27, 2)};
  EXPECT_FALSE(warning(group));
  group[0].ties = {"second"};
  EXPECT_TRUE(warning(group));
}

TEST(NoiseWarning, NoPercentsAreSaidOfEqualTimes) {
  EXPECT_EQ(warning({estimate(100, 0.05), estimate(100.01, 0.05)})->text(),
            "warning: noise of 5.0 % hides what is between the best 2; see `kiln doctor`");
}

TEST(NoiseWarning, OnlyTheBestThatRanToTheEndCount) {
  // The tenth is far away, which says nothing of the best three.
  EXPECT_TRUE(warning({estimate(100, 0.05), estimate(101, 0.05), estimate(102, 0.05), estimate(900, 0.05, 4)}));
  EXPECT_FALSE(warning({estimate(100, 0.05), estimate(101, 0.05, 2, /*dropped=*/true)}));
  EXPECT_FALSE(warning({estimate(100, 0.05), estimate(101, 0.05, /*rank=*/0)}));
  EXPECT_FALSE(warning({estimate(100, 0.5)}));
  EXPECT_FALSE(warning({}));
}

TEST(NoiseWarning, OneWildCandidateHidesOnlyItself) {
  EXPECT_FALSE(warning({estimate(100, 0.001), estimate(101, 0.001), estimate(102, 0.8)}));
}

TEST(NoiseWarning, FitsIntoALine) {
  for (double half : {0.011, 0.1, 0.5, 0.99, 50.0}) {
    std::optional<NoiseWarning> found = warning({estimate(100, half), estimate(100.5, half), estimate(100.7, half)});
    ASSERT_TRUE(found);
    EXPECT_LE(found->text().size(), 80u) << found->text();
  }
}

TEST(MachineWarning, IsReadFromTheRun) {
  store::Run run;
  EXPECT_EQ(machineWarning(run), "");
  run.flags = R"({"machine":{"busyCpus":1.5,"warning":"warning: it is busy"}})";
  EXPECT_EQ(machineWarning(run), "warning: it is busy");
  for (const char *other :
       {R"({"machine":{"busyCpus":0}})", R"({"machine":3})", "no JSON", R"({"machine":{"warning":1}})"}) {
    run.flags = other;
    EXPECT_EQ(machineWarning(run), "") << other;
  }
}

} // namespace
} // namespace kiln::report
