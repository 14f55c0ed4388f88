#include "kiln/measure/workers/turn_plan.h"

#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

TEST(TurnPlan, TurnsMakeUpForStarting) {
  EXPECT_EQ(planTurn(10 * kMillisecond, {}), 10 * kMillisecond);
  EXPECT_EQ(planTurn(10 * kMillisecond, {kMillisecond}), 10 * kMillisecond);
  EXPECT_EQ(planTurn(10 * kMillisecond, {5 * kMillisecond}), 35 * kMillisecond);
  EXPECT_EQ(planTurn(10 * kMillisecond, {5 * kMillisecond, 900 * kMillisecond, 6 * kMillisecond}), 42 * kMillisecond);
  EXPECT_EQ(planTurn(10 * kMillisecond, {900 * kMillisecond}), kLongestTurn);
}

TEST(TurnPlan, WhoStartsQuicklyLivesForATurn) {
  EXPECT_EQ(planLife({5 * kMillisecond, 1000}, 35 * kMillisecond, 2 * kMillisecond), 1U);
}

TEST(TurnPlan, WhoStartsSlowlyOrCallsLongLivesForSeveral) {
  EXPECT_EQ(planLife({98 * kMillisecond, 1000}, kLongestTurn, 2 * kMillisecond), 7U);
  EXPECT_EQ(planLife({5 * kMillisecond, 50 * kMillisecond}, 35 * kMillisecond, 2 * kMillisecond), 8U);
}

// A context of a GPU, an interpreter with its libraries: they are started again, too.
TEST(TurnPlan, NobodyLivesForEver) {
  EXPECT_EQ(planLife({300 * kMillisecond, 1000}, kLongestTurn, 2 * kMillisecond), 20U);
  EXPECT_EQ(planLife({1800 * kMillisecond, 1000}, kLongestTurn, 2 * kMillisecond), 20U);
  EXPECT_EQ(planLife({9998 * kMillisecond, 1000}, kLongestTurn, 2 * kMillisecond), 100U);
}

} // namespace
} // namespace kiln::measure
