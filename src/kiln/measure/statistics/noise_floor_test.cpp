#include "kiln/measure/statistics/noise_floor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kiln/measure/statistics/simulation.h"

namespace kiln::measure {
namespace {

using simulation::Random;

struct Machine {
  double spread = 0.01;
  double drift = 0;
  double hits = 0;
  double second = 1; // the second process' own factor
};

Result<NoiseFloor> floorOf(const Machine &machine, uint32_t candidates, uint32_t rounds) {
  Result<GroupStatistics> group = GroupStatistics::create({});
  Random random(4);
  for (uint32_t candidate = 0; candidate < candidates; ++candidate)
    group->addCandidate();
  for (uint32_t round = 0; round < rounds; ++round)
    for (uint32_t candidate = 0; candidate < candidates; ++candidate) {
      double time = 1e6 * (1 + machine.drift * round / rounds) * (1 + machine.spread * random.normal());
      time *= candidate == 1 ? machine.second : 1;
      time *= random.uniform() < machine.hits ? 3 : 1;
      EXPECT_TRUE(group->addRound(candidate, round, std::vector<int64_t>{std::llround(time)}, 1).ok());
    }
  return noiseFloor(*group);
}

TEST(NoiseFloor, FindsWhatWasPlanted) {
  const Result<NoiseFloor> floor = floorOf({.spread = 0.015, .drift = 0.2, .hits = 0.05}, 4, 150);
  ASSERT_TRUE(floor.ok()) << floor.status().toString();
  EXPECT_EQ(floor->candidates, 4U);
  EXPECT_EQ(floor->rounds, 150U);
  EXPECT_NEAR(floor->roundSpread, 0.015, 0.003);
  EXPECT_NEAR(floor->drift, 0.16, 0.04);
  EXPECT_NEAR(floor->hits, 0.05, 0.02);
  EXPECT_LT(floor->spread, 0.01);
  EXPECT_GT(floor->resolvable, 0.003);
  EXPECT_LT(floor->resolvable, 0.02);
  EXPECT_EQ(floor->pairsApart, 0U);
}

TEST(NoiseFloor, MoreRoundsResolveMore) {
  const Result<NoiseFloor> few = floorOf({}, 2, 20);
  const Result<NoiseFloor> many = floorOf({}, 2, 180);
  ASSERT_TRUE(few.ok() && many.ok());
  EXPECT_GT(few->resolvable, 2 * many->resolvable);
  EXPECT_NEAR(few->roundSpread, many->roundSpread, 0.005);
}

TEST(NoiseFloor, ShowsProcessesThatDiffer) {
  const Result<NoiseFloor> floor = floorOf({.second = 1.03}, 3, 100);
  ASSERT_TRUE(floor.ok());
  EXPECT_NEAR(floor->spread, 0.03, 0.01);
  EXPECT_EQ(floor->pairsApart, 2U);
}

TEST(NoiseFloor, SaysWhatItLacks) {
  EXPECT_EQ(std::string(floorOf({}, 1, 20).status().message()),
            "the noise floor needs two candidates or more of the same program; there are 1");
  EXPECT_EQ(std::string(floorOf({}, 2, 5).status().message()),
            "the noise floor needs 8 rounds in which candidates 0 and 1 both ran; there are 5");
}

} // namespace
} // namespace kiln::measure
