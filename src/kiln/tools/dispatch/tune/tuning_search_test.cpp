#include "kiln/tools/dispatch/tune/tuning_search.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "kiln/families/matmul/workload/matmul_family.h"
#include "kiln/tools/dispatch/tune/regression_forest.h"
#include "kiln/tools/dispatch/tune/tuning_features.h"

namespace kiln {
namespace {

//===--- A surface ------------------------------------------------------------------------------------------------===//

// A space as a tuner sees one, and times that are made up: valleys, cliffs and waste, of which the order of the space
// knows little.
struct Surface {
  std::vector<std::vector<double>> features;
  std::vector<double> times;

  double fastest() const { return *std::ranges::min_element(times); }
};

double madeUpTime(double rows, double columns, double m, double n, double k, bool packed) {
  double registers = std::pow(2, rows) * (std::pow(2, columns) + 1);
  double time = 30 + 6 * std::pow(rows - 3, 2) + 9 * std::pow(columns - 2, 2) - 3 * (rows - 3) * (columns - 2);
  time += registers > 40 ? registers : 0; // a cliff
  time += 2 * std::pow(m - 6 + 0.5 * packed, 2) + std::pow(n - 8 - 0.3 * (k - 7), 2);
  time += std::abs(k - 8) * (packed ? 3 : 6);
  return time + (packed ? -8 : 0) + (m + n > 16 ? 25 : 0);
}

Surface makeSurface() {
  Surface surface;
  for (double rows : {0.0, 1.0, 1.6, 2.0, 2.6, 3.0, 3.6, 4.0})
    for (double columns : {0.0, 1.0, 1.6, 2.0, 2.6, 3.0})
      for (double m : {4.0, 5.0, 6.0, 6.6, 8.0})
        for (double n : {6.0, 7.0, 8.0, 9.0, 10.0})
          for (double k : {6.0, 7.0, 8.0})
            for (bool packed : {false, true}) {
              surface.features.push_back({rows, columns, packed ? 1.0 : 0.0, m, n, k, m + n - 16});
              surface.times.push_back(madeUpTime(rows, columns, m, n, k, packed));
            }
  return surface;
}

// The best time found with so many trials, over the best that there is.
double searched(const Surface &surface, const SearchOptions &options, size_t trials, double noise = 0) {
  TuningSearch search(surface.features, 3, options);
  Random random(options.seed + 99);
  double best = INFINITY;
  for (std::vector<size_t> batch = search.propose(); !batch.empty() && search.tried() <= trials;
       batch = search.propose())
    for (size_t candidate : batch) {
      best = std::min(best, surface.times[candidate]);
      search.tell(candidate, std::log(surface.times[candidate]) + noise * (random.uniform() - 0.5));
    }
  // What it takes for the best has to be it, too.
  EXPECT_LE(surface.times[search.best(1).front()], best * (1 + noise));
  return best / surface.fastest();
}

TEST(TuningSearch, FindsTheBestOfThousandsWithFewTrials) {
  Surface surface = makeSurface();
  ASSERT_GT(surface.times.size(), 7000U);
  for (uint64_t seed = 1; seed <= 4; ++seed)
    EXPECT_LE(searched(surface, {.seed = seed}, 320), 1.02) << "seed " << seed;
}

TEST(TuningSearch, FindsItThroughNoise) {
  Surface surface = makeSurface();
  for (uint64_t seed = 1; seed <= 2; ++seed)
    EXPECT_LE(searched(surface, {.seed = seed}, 480, 0.04), 1.03) << "seed " << seed;
}

// What a random choice does with as many trials; if it did as well, the tests above would show nothing.
TEST(TuningSearch, IsBetterThanChance) {
  Surface surface = makeSurface();
  std::vector<double> ratios;
  for (uint64_t seed = 1; seed <= 11; ++seed) {
    Random random(seed);
    double best = INFINITY;
    for (size_t i = 0; i < 320; ++i)
      best = std::min(best, surface.times[random.below(surface.times.size())]);
    ratios.push_back(best / surface.fastest());
  }
  std::ranges::sort(ratios);
  EXPECT_GT(ratios[5], 1.04);
}

//===--- Rules ----------------------------------------------------------------------------------------------------===//

std::vector<std::vector<size_t>> proposals(uint64_t seed, size_t batches) {
  static const Surface surface = makeSurface();
  TuningSearch search(surface.features, 3, {.seed = seed});
  std::vector<std::vector<size_t>> all;
  for (size_t i = 0; i < batches; ++i) {
    all.push_back(search.propose());
    for (size_t candidate : all.back())
      search.tell(candidate, std::log(surface.times[candidate]));
  }
  return all;
}

TEST(TuningSearch, IsDeterministic) {
  EXPECT_EQ(proposals(7, 6), proposals(7, 6));
  EXPECT_NE(proposals(7, 6), proposals(8, 6));
}

TEST(TuningSearch, ProposesFullBatchesOfWhatIsNew) {
  std::set<size_t> seen;
  for (const std::vector<size_t> &batch : proposals(3, 12)) {
    EXPECT_EQ(batch.size(), 16U);
    for (size_t candidate : batch)
      EXPECT_TRUE(seen.insert(candidate).second) << candidate;
  }
}

TEST(TuningSearch, SmallSpacesAreGoneThroughInOrder) {
  std::vector<std::vector<double>> features(20, {0.0});
  TuningSearch search(features, 1, {.seed = 1, .batch = 8, .exhaustive = 20});
  EXPECT_TRUE(search.isExhaustive());
  search.suggest(11);
  std::vector<size_t> all;
  for (std::vector<size_t> batch = search.propose(); !batch.empty(); batch = search.propose())
    for (size_t candidate : batch) {
      all.push_back(candidate);
      search.tell(candidate, 1.0);
    }
  EXPECT_EQ(all.front(), 11U);
  std::ranges::sort(all);
  std::vector<size_t> wanted(20);
  std::iota(wanted.begin(), wanted.end(), size_t(0));
  EXPECT_EQ(all, wanted);
}

TEST(TuningSearch, EndsWhenAllIsTriedAlsoWithoutAnswers) {
  for (bool fails : {false, true}) {
    std::vector<std::vector<double>> features;
    for (size_t i = 0; i < 100; ++i)
      features.push_back({static_cast<double>(i % 7), static_cast<double>(i)});
    TuningSearch search(features, 1, {.seed = 1, .batch = 8, .exhaustive = 10});
    size_t count = 0;
    for (std::vector<size_t> batch = search.propose(); !batch.empty(); batch = search.propose())
      for (size_t candidate : batch) {
        ++count;
        search.tell(candidate, fails ? std::nullopt : std::optional(1.0 + static_cast<double>(candidate)));
      }
    EXPECT_EQ(count, 100U);
    EXPECT_EQ(search.best(3), fails ? std::vector<size_t>() : (std::vector<size_t>{0, 1, 2}));
  }
  EXPECT_TRUE(TuningSearch({}, 0, {}).propose().empty());
}

TEST(RegressionForest, FollowsPoints) {
  std::vector<std::vector<double>> places;
  std::vector<RegressionForest::Point> points;
  for (int x = 0; x < 12; ++x)
    for (int y = 0; y < 12; ++y)
      places.push_back({x * 1.0, y * 1.0, 3.0}); // the last says nothing
  auto value = [](double x, double y) { return x < 6 ? y : 20 - y; };
  for (const std::vector<double> &place : places)
    points.push_back({place, value(place[0], place[1])});
  RegressionForest model(points, 5);
  for (const std::vector<double> &place : places)
    EXPECT_NEAR(model.predict(place).mean, value(place[0], place[1]), 1.5) << place[0] << " " << place[1];
  points.resize(1);
  RegressionForest one(points, 5);
  EXPECT_EQ(one.predict(places[100]).mean, points[0].value);
  EXPECT_EQ(one.predict(places[100]).deviation, 0);
}

//===--- Features -------------------------------------------------------------------------------------------------===//

void expectApart(const char *name, const char *target, const TuningMachine &machine) {
  families::MatmulFamily family("matmul");
  Result<std::unique_ptr<measure::Problem>> problem = family.parse(name);
  ASSERT_TRUE(problem.ok());
  std::vector<std::string> space = family.configurationSpace(**problem, target);
  EXPECT_GE(space.size(), 500U);
  std::vector<std::vector<double>> features = tuningFeatures(**problem, space, machine);
  ASSERT_EQ(features.size(), space.size());
  std::set<std::vector<double>> different;
  size_t length = features.front().size();
  for (std::vector<double> &numbers : features) {
    ASSERT_EQ(numbers.size(), length);
    ASSERT_TRUE(std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); }));
    numbers.pop_back(); // the place
    different.insert(numbers);
  }
  EXPECT_EQ(different.size(), space.size());
}

TEST(TuningFeatures, TellConfigurationsOfARealSpaceApart) {
  expectApart("matmul_256x512x128_f32t_f32t_f32t", "llvm-cpu", {.threads = 2});
  expectApart("matmul_3456x1024x2048_f16t_f16t_f16t", "cuda:sm_90a", TuningMachine::ofGpu("cuda:sm_90a"));
}

// On a GPU the first batch has tiles and clusters of each class, whatever the register tiles are.
TEST(TuningFeatures, KindsOfAGpuAreInstructionsTilesAndClusters) {
  families::MatmulFamily family("matmul");
  Result<std::unique_ptr<measure::Problem>> problem = family.parse("matmul_3456x1024x2048_f16t_f16t_f16t");
  ASSERT_TRUE(problem.ok());
  std::vector<std::vector<double>> features =
      tuningFeatures(**problem,
                     {"tile_config_128x256_64x4_tensorcore_wgmma", "tile_config_128x256_64x3_tensorcore_wgmma",
                      "tile_config_128x256_64x4_tensorcore_wgmma_cluster2x1",
                      "tile_config_128x128_64x4_tensorcore_wgmma", "tile_config_128x256_64x4_tensorcore_mmasync"},
                     TuningMachine::ofGpu("cuda:sm_90a"));
  auto kind = [&](size_t place) {
    return std::vector<double>(features[place].begin(), features[place].begin() + kTuningKinds);
  };
  EXPECT_EQ(kind(0), kind(1));
  for (size_t other : {2U, 3U, 4U})
    EXPECT_NE(kind(0), kind(other)) << other;
}

TEST(TuningFeatures, TakeAnyName) {
  families::MatmulFamily family("matmul");
  Result<std::unique_ptr<measure::Problem>> problem = family.parse("matmul_1x1x1_i8t_i8t_i32t");
  ASSERT_TRUE(problem.ok());
  std::vector<std::vector<double>> features =
      tuningFeatures(**problem, {"direct", "tile_config_0x0_0x1_vector", "winograd"}, {});
  ASSERT_EQ(features.size(), 3U);
  EXPECT_NE(features[0], features[1]);
  EXPECT_NE(features[0], features[2]);
}

} // namespace
} // namespace kiln
