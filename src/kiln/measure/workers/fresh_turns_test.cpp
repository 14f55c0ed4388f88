#include "kiln/measure/workers/fresh_turns.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

// Whether a provider whose fresh turns take `ratio` times as long is rejected within so many turns of such noise.
// `disguise` changes what single turns take.
using Disguise = double (*)(bool fresh, size_t nth, double time);
constexpr int kTurnsToSettle = 24; // as the lab has
bool rejected(double ratio, double noise, int turns, uint64_t seed, Disguise disguise = nullptr) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  FreshTurns all;
  size_t counts[2] = {};
  for (int i = 0; i < turns || (i < turns + kTurnsToSettle && all.suspicious()); ++i) {
    bool fresh = all.draw(random);
    double time = 1e6 * std::exp(noise * normal(random)) * (fresh ? ratio : 1);
    if (random() % 20 == 0)
      time *= 3; // another process came between
    if (disguise)
      time = disguise(fresh, counts[fresh]++, time);
    all.add(fresh, time);
    if (!all.check().ok())
      return true;
  }
  return false;
}

double share(double ratio, double noise, int turns, Disguise disguise = nullptr) {
  int count = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed)
    count += rejected(ratio, noise, turns, seed, disguise);
  return count / 1000.0;
}

TEST(FreshTurns, TheHonestAreBelieved) {
  EXPECT_LE(share(1, 0.002, 100), 0.001);
  EXPECT_LE(share(1, 0.02, 100), 0.001);
  EXPECT_LE(share(1, 0.2, 100), 0.001);
  EXPECT_LE(share(1.04, 0.002, 100), 0.001);
  EXPECT_LE(share(1.04, 0.03, 100), 0.001);
  EXPECT_LE(share(1.04, 0.1, 100), 0.002);
}

// With 20 turns no rank sum is four deviations off.
TEST(FreshTurns, FewRoundsHideNothing) {
  EXPECT_GE(share(1.45, 0.02, 20), 0.95);
  EXPECT_GE(share(1.2, 0.02, 20), 0.95);
  EXPECT_LE(share(1, 0.05, 20), 0.001);
  EXPECT_LE(share(1, 0.05, 3), 0.001);
}

// Who answers from memory in half of the other turns has the same middle one.
TEST(FreshTurns, NorDoesCheatingByChance) {
  Disguise half = [](bool fresh, size_t nth, double time) { return !fresh && nth * 7919 % 100 < 48 ? time / 4 : time; };
  EXPECT_GE(share(1, 0.02, 100, half), 0.9);
}

TEST(FreshTurns, WhoComputesOnlyThenIsFound) {
  EXPECT_GE(share(10, 0.02, 60), 0.99);
  EXPECT_GE(share(2, 0.02, 100), 0.95);
}

// Who knows the test answers from memory as long as it is not certain. It gains what any turn counts for at least.
TEST(FreshTurns, CheatingBelowTheTestGainsLittle) {
  for (int turns : {3, 5, 12, 20, 40}) {
    double gained = 0;
    constexpr int kSeeds = 200;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      std::mt19937_64 random(seed);
      std::normal_distribution<double> normal;
      FreshTurns all;
      std::vector<double> counted;
      for (int i = 0; i < turns; ++i) {
        bool fresh = all.draw(random), honest = fresh || i == 3;
        double time = 1e6 * std::exp(0.02 * normal(random)) * (honest ? 1 : 0.25);
        all.add(fresh, time);
        counted.push_back(fresh ? time : std::max(time, all.least()));
      }
      std::ranges::sort(counted);
      gained += 1 - counted[counted.size() / 2] / 1e6;
    }
    EXPECT_LT(gained / kSeeds, 0.08) << turns;
  }
}

// One turn that is far off made a difference of means uncertain for ever.
TEST(FreshTurns, SingleTurnsDisguiseNothing) {
  Disguise fastOnce = [](bool fresh, size_t nth, double time) { return fresh && nth == 2 ? time / 20 : time; };
  Disguise slowOnce = [](bool fresh, size_t nth, double time) { return !fresh && nth == 1 ? time * 1000 : time; };
  EXPECT_GE(share(2, 0.02, 120, fastOnce), 0.95);
  EXPECT_GE(share(2, 0.02, 120, slowOnce), 0.95);
}

TEST(FreshTurns, TheFirstTwoAreFresh) {
  std::mt19937_64 random(1);
  FreshTurns turns;
  EXPECT_EQ(turns.least(), 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(turns.draw(random));
    turns.add(true, 1000 + i);
    EXPECT_NEAR(turns.least(), 950, 1);
  }
}

} // namespace
} // namespace kiln::measure
