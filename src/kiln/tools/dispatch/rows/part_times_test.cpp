#include "kiln/tools/dispatch/rows/part_times.h"

#include "gtest/gtest.h"

namespace kiln {
namespace {

measure::RoundSamples watched(uint32_t candidate, DeviceTimes times) {
  measure::RoundSamples samples;
  samples.candidate = candidate;
  samples.watchedCall.assign(times.started.size(), 1000);
  samples.watched = std::move(times);
  return samples;
}

TEST(PartTimes, AreOfTheRoundsThatWereWatched) {
  PartTimes parts(2);
  // Ticks of half a nanosecond.
  parts.add(watched(1, {"ticks", 2'000'000'000, {0, 100, 200}, {10, 112, 214}, {50, 192, 334}}));
  measure::RoundSamples other;
  other.candidate = 1;
  other.call = {7};
  parts.add(other);
  ASSERT_TRUE(parts.device(1) && parts.launch(1));
  EXPECT_NEAR(*parts.device(1), 40, 1e-9);
  EXPECT_NEAR(*parts.launch(1), 6, 1e-9);
  EXPECT_FALSE(parts.device(0));
  EXPECT_FALSE(parts.launch(0));
}

TEST(PartTimes, AClockMayNotSeeTheSubmission) {
  PartTimes parts(1);
  parts.add(watched(0, {"ticks", 1'000'000'000, {}, {10}, {50}}));
  EXPECT_NEAR(*parts.device(0), 40, 1e-9);
  EXPECT_FALSE(parts.launch(0));
}

} // namespace
} // namespace kiln
