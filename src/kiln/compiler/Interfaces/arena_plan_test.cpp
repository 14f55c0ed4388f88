#include "kiln/compiler/Interfaces/ArenaPlan.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace kiln {
namespace {

int64_t roundedUp(int64_t size) {
  return (std::max<int64_t>(size, 1) + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// The same numbers each time.
std::mt19937 seeded(unsigned seed) {
  return std::mt19937(seed);
}

// What arenaLowerBound says, step by step.
int64_t mostAlive(const std::vector<ArenaValue> &values) {
  unsigned last = 0;
  for (const ArenaValue &value : values)
    last = std::max(last, value.last);
  int64_t most = 0;
  for (unsigned step = 0; step <= last; ++step) {
    int64_t alive = 0;
    for (const ArenaValue &value : values)
      if (value.first <= step && step <= value.last)
        alive += roundedUp(value.size);
    most = std::max(most, alive);
  }
  return most;
}

void expectSound(const std::vector<ArenaValue> &values, const ArenaPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), values.size());
  for (size_t a = 0; a < values.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % kArenaAlignment, 0);
    EXPECT_GE(plan.offsets[a], 0);
    EXPECT_LE(plan.offsets[a] + roundedUp(values[a].size), plan.size);
    for (size_t b = 0; b < a; ++b) {
      bool together = values[a].first <= values[b].last && values[b].first <= values[a].last;
      bool apart =
          plan.offsets[a] + values[a].size <= plan.offsets[b] || plan.offsets[b] + values[b].size <= plan.offsets[a];
      EXPECT_TRUE(!together || apart) << a << " and " << b;
    }
  }
}

std::vector<ArenaValue> drawValues(std::mt19937 &generator, size_t count) {
  std::uniform_real_distribution<double> magnitude(0, 14), part(0, 1);
  std::vector<ArenaValue> values;
  for (size_t i = 0; i < count; ++i) {
    auto first = static_cast<unsigned>(part(generator) * static_cast<double>(count));
    auto length = static_cast<unsigned>(-3 * std::log(1 - part(generator)));
    values.push_back({static_cast<int64_t>(std::exp2(magnitude(generator)) * 50), first, first + length});
  }
  return values;
}

TEST(ArenaPlan, placesNothingWhereSomethingElseIs) {
  std::mt19937 generator = seeded(7);
  double most = 1;
  for (size_t count : {0, 1, 2, 10, 60, 200}) {
    std::vector<ArenaValue> values = drawValues(generator, count);
    ArenaPlan plan = planArena(values);
    expectSound(values, plan);
    EXPECT_EQ(arenaLowerBound(values), mostAlive(values));
    EXPECT_GE(plan.size, arenaLowerBound(values));
    if (count)
      most = std::max(most, static_cast<double>(plan.size) / static_cast<double>(arenaLowerBound(values)));
  }
  EXPECT_LE(most, 1.05);
}

TEST(ArenaPlan, placesNothingOfNoBytesTogether) {
  std::vector<ArenaValue> values = {{0, 1, 1}, {0, 1, 1}, {64, 1, 1}};
  ArenaPlan plan = planArena(values);
  expectSound(values, plan);
  EXPECT_EQ(plan.size, 3 * kArenaAlignment);
}

// The first five blocks of ResNet-50, whose 3x3 convolutions are done in tiles: with the largest values first they took
// 1.33 of what is alive.
TEST(ArenaPlan, losesNothingOnResNet) {
  std::vector<ArenaValue> values = {
      {634800, 1, 2},    {3211264, 2, 3},   {802816, 3, 4},   {802816, 4, 5},    {861184, 5, 6},    {1806336, 6, 7},
      {1806336, 7, 8},   {802816, 8, 9},    {3211264, 4, 9},  {3211264, 9, 15},  {802816, 10, 11},  {861184, 11, 12},
      {1806336, 12, 13}, {1806336, 13, 14}, {802816, 14, 15}, {3211264, 15, 21}, {802816, 16, 17},  {861184, 17, 18},
      {1806336, 18, 19}, {1806336, 19, 20}, {802816, 20, 21}, {3211264, 21, 22}, {1605632, 22, 23}, {1722368, 23, 24},
      {401408, 24, 25},  {1605632, 22, 25}};
  ArenaPlan plan = planArena(values);
  expectSound(values, plan);
  EXPECT_LE(plan.size, arenaLowerBound(values) * 105 / 100);
}

} // namespace
} // namespace kiln
