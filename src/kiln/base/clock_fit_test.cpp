#include "kiln/base/clock_fit.h"

#include "kiln/base/random.h"

#include "gtest/gtest.h"

#include <cmath>
#include <vector>

namespace kiln {
namespace {

// A clock that is planted: at the host's time t it shows offset + t / nanosecondsPerTick.
struct Planted {
  double nanosecondsPerTick;
  uint64_t offset;
  uint64_t ticksAt(uint64_t host) const {
    return offset + static_cast<uint64_t>(std::floor(static_cast<double>(host) / nanosecondsPerTick));
  }
};

constexpr uint64_t kBegin = 3'000'000'000'000; // of the samples; the host has been up for a while

// Readings of the other clock lie anywhere between those of the host's; a tenth of the samples are interrupted.
std::vector<ClockSample> sample(const Planted &clock, Random &random, size_t count, uint64_t apart) {
  std::vector<ClockSample> samples;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t width = random.below(10) ? 40 + random.below(20) : 100'000 + random.below(1'000'000);
    const uint64_t before = kBegin + i * apart + random.below(apart / 2);
    samples.push_back({before, clock.ticksAt(before + random.below(width)), before + width});
  }
  return samples;
}

TEST(ClockFitTest, FindsPlantedClocks) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const Planted clock{std::exp2(6 * random.uniform() - 3) * (1 + 2e-4 * random.uniform()), random.bits() >> 8};
    const uint64_t apart = 10'000'000;
    const size_t count = 50 + random.below(50);
    Result<ClockFit> fit = ClockFit::of(sample(clock, random, count, apart));
    ASSERT_TRUE(fit.ok()) << fit.status().toString();
    // No used sample is off by more than half of its width and a tick.
    const double most = 30 + clock.nanosecondsPerTick;
    EXPECT_LE(fit->uncertainty, 30);
    EXPECT_GT(fit->residual, 0);
    EXPECT_LE(fit->residual, 2 * most);
    EXPECT_NEAR(fit->nanosecondsPerTick / clock.nanosecondsPerTick, 1, 4 * most / double(apart * count));
    for (uint64_t host : {kBegin, kBegin + count / 3 * apart, kBegin + count * apart})
      EXPECT_NEAR(static_cast<double>(static_cast<int64_t>(fit->toHost(clock.ticksAt(host)) - host)), 0, 2 * most);
  }
}

// What the fit did not see tells of a clock that changes its rate, or jumps.
TEST(ClockFitTest, TheResidualTellsOfClocksThatAreNoLine) {
  Random random(2);
  const Planted clock{8, 1 << 20};
  std::vector<ClockSample> drifts = sample(clock, random, 100, 10'000'000), jumps = drifts;
  for (size_t i = 50; i < jumps.size(); ++i) {
    jumps[i].ticks += 1'000;                                              // 8 microseconds
    drifts[i].ticks += (jumps[i].before - jumps[50].before) * 1 / 40'000; // 200 ppm
  }
  EXPECT_LT(ClockFit::of(sample(clock, random, 100, 10'000'000))->residual, 100);
  EXPECT_GT(ClockFit::of(jumps)->residual, 2'000);
  EXPECT_GT(ClockFit::of(drifts)->residual, 20'000);
}

TEST(ClockFitTest, TheSameClockIsExact) {
  std::vector<ClockSample> samples;
  for (uint64_t i = 0; i < 8; ++i)
    samples.push_back({kBegin + i * 1000, kBegin + i * 1000, kBegin + i * 1000});
  Result<ClockFit> fit = ClockFit::of(samples);
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->nanosecondsPerTick, 1);
  EXPECT_EQ(fit->residual, 0);
  EXPECT_EQ(fit->toHost(kBegin + 12'345), kBegin + 12'345);
  EXPECT_EQ(fit->toHost(kBegin - 12'345), kBegin - 12'345);
}

TEST(ClockFitTest, ClocksThatDoNotRunAreErrors) {
  const std::vector<ClockSample> still(8, {10, 5, 20}), three(3);
  EXPECT_EQ(ClockFit::of(still).status().message(),
            "the clock does not run: 8 samples over 10 nanoseconds have no ticks that grow");
  EXPECT_EQ(ClockFit::of(three).status().message(), "3 samples do not tell the rate of a clock; 4 do");
  EXPECT_FALSE(ClockFit::of({}).ok());
  std::vector<ClockSample> backwards;
  for (uint64_t i = 0; i < 8; ++i)
    backwards.push_back({i * 100, 1000 - i, i * 100 + 10});
  EXPECT_FALSE(ClockFit::of(backwards).ok());
}

} // namespace
} // namespace kiln
