// What a sweep is said to take; tests/lab/plan.test asks whether it does.
#include "kiln/tools/dispatch/sweep/sweep_plan.h"

#include "kiln/measure/workers/testing/tiny_matmul.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

class SweepPlan : public ::testing::Test {
protected:
  PlannedTime of(const std::vector<double> &starts) const { return measuringTime(problem, starts, 1, settings); }
  void SetUp() override { settings.group.measureNanoseconds = uint64_t(20) * 1'000'000'000; }

  measure::testing::TinyMatmul problem;
  SweepSettings settings;
};

// 35 candidates of 67x131x33 with --minutes=20s: 23 s after compiling, with a processor kept busy by others.
TEST_F(SweepPlan, ARoundUnderWayIsBroughtToItsEnd) {
  PlannedTime time = of(std::vector<double>(35, 0.008));
  EXPECT_GT(time.most, 24);
  EXPECT_LT(time.most, 40);
  EXPECT_LT(time.least, 20);
  EXPECT_GT(time.least, 3);
}

TEST_F(SweepPlan, WorkersThatStartSlowlyTakeLonger) {
  PlannedTime quick = of({0.008, 0.008}), slow = of({0.008, 2});
  EXPECT_GT(slow.most, quick.most + 4) << "once to be verified, and once in its last round";
  settings.profile = false;
  quick = of({0.008, 0.008}), slow = of({0.008, 2});
  EXPECT_LT(quick.most, 3) << "without rounds";
  EXPECT_GT(slow.least, 2);
}

// A tuning of half a minute took none of 16 candidates that open a device in 4 s: it was told of 2 minutes.
TEST_F(SweepPlan, WorkersOpenADeviceTogether) {
  settings.onGpu = true;
  settings.statistics.minimumRounds = settings.statistics.maximumRounds = 3;
  EXPECT_LT(of(std::vector<double>(2, 4)).most - of({4}).most, 2);
  EXPECT_LT(of(std::vector<double>(16, 4)).most, 40);
}

TEST_F(SweepPlan, FewRoundsTakeLittle) {
  settings.statistics.minimumRounds = settings.statistics.maximumRounds = 3;
  PlannedTime time = of({0.008, 0.008});
  EXPECT_LT(time.most, 3);
  EXPECT_LT(time.least, 1);
}

TEST_F(SweepPlan, CompilersShareModulesButNoModule) {
  EXPECT_EQ(compilingTime({}, 2).most, 0);
  std::vector<size_t> one = {32}, two = {32, 32}, many(20, 32);
  EXPECT_DOUBLE_EQ(compilingTime(one, 2).least, compilingTime(two, 2).least);
  EXPECT_GT(compilingTime(one, 1).most, 6);
  EXPECT_LT(compilingTime(many, 2).most, 0.6 * compilingTime(many, 1).most);
}

TEST_F(SweepPlan, IsToldInOneNumberWhereThereIsOne) {
  EXPECT_EQ((PlannedTime{11.2, 10.8}).text(), "about 11 s");
  EXPECT_EQ((PlannedTime{10.2, 33.1}).text(), "about 10 s to 34 s");
  EXPECT_EQ((PlannedTime{0.1, 0.9}).text(), "about 1 s");
}

} // namespace
} // namespace kiln
