#include "kiln/tools/dispatch/rows/part_times.h"

#include "gtest/gtest.h"

namespace kiln {
namespace {

measure::RoundSamples samplesOf(uint32_t candidate, uint32_t batch, std::vector<int64_t> device,
                                std::vector<int64_t> launch) {
  measure::RoundSamples samples;
  samples.candidate = candidate;
  samples.batch = batch;
  samples.call.assign(5, 1'000'000);
  samples.device = std::move(device);
  samples.launch = std::move(launch);
  return samples;
}

TEST(PartTimes, AreOfOneCallAndRoundsCountAlike) {
  PartTimes parts(2);
  parts.add(samplesOf(1, 10, {900, 900, 900}, {100, 100, 100}));
  parts.add(samplesOf(1, 10, {1000}, {0}));
  parts.add(samplesOf(1, 10, {2000, 2000, 2000, 2000, 2000}, {50, 50, 50, 50, 50}));
  ASSERT_TRUE(parts.device(1) && parts.launch(1));
  EXPECT_NEAR(*parts.device(1), 100, 1e-9);
  EXPECT_NEAR(*parts.launch(1), 5, 1e-9);
  EXPECT_FALSE(parts.device(0));
  EXPECT_FALSE(parts.launch(0));
}

TEST(PartTimes, ALaunchMayTakeNoTime) {
  PartTimes parts(1);
  for (int i = 0; i < 20; ++i)
    parts.add(samplesOf(0, 1, {7, 7}, {0, 0}));
  EXPECT_EQ(parts.launch(0), 0);
  EXPECT_EQ(parts.device(0), 7);
}

TEST(PartTimes, WhatIsNotToldEachTimeIsNotKnown) {
  PartTimes parts(1);
  parts.add(samplesOf(0, 1, {7, 7}, {1, 1}));
  parts.add(samplesOf(0, 1, {}, {1, 1}));
  parts.add(samplesOf(0, 1, {7, 7}, {1, 1}));
  EXPECT_FALSE(parts.device(0));
  EXPECT_EQ(parts.launch(0), 1);
}

} // namespace
} // namespace kiln
