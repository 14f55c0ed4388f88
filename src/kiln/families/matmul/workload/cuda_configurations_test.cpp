#include "kiln/families/matmul/workload/cuda_configurations.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "kiln/families/matmul/workload/matmul_family.h"

namespace kiln::families {
namespace {

std::vector<std::string> namesFor(std::string_view problem, std::string_view target) {
  const MatmulFamily family(problem.substr(0, problem.find_first_of("0123456789") - 1));
  Result<std::unique_ptr<measure::Problem>> parsed = family.parse(problem);
  EXPECT_TRUE(parsed.ok()) << parsed.status().toString();
  return family.configurations(**parsed, target);
}

std::vector<std::string> spaceOf(std::string_view problem, std::string_view target) {
  const MatmulFamily family(problem.substr(0, problem.find_first_of("0123456789") - 1));
  Result<std::unique_ptr<measure::Problem>> parsed = family.parse(problem);
  EXPECT_TRUE(parsed.ok()) << parsed.status().toString();
  return family.configurationSpace(**parsed, target);
}

std::set<std::string> classesFor(std::string_view problem, std::string_view target) {
  std::set<std::string> classes;
  for (const std::string &name : namesFor(problem, target)) {
    Result<TileConfig> config = TileConfig::parse(name);
    EXPECT_TRUE(config.ok()) << name;
    classes.insert(config->instructions);
  }
  return classes;
}

using Names = std::set<std::string>;

// Those that document 001 prints.
TEST(CudaConfigurations, TheDocumentsAreAmongThem) {
  for (const char *target : {"cuda:sm_80", "cuda:sm_90a"}) {
    std::vector<std::string> names = namesFor("matmul_3456x1024x2048_f16t_f16t_f16t", target);
    EXPECT_EQ(names.size(), MatmulFamily::kConfigurationCount);
    const Names all(names.begin(), names.end());
    EXPECT_EQ(all.size(), names.size());
    for (const char *name :
         {"tile_config_128x128_64x4_tensorcore_mmasync", "tile_config_128x128_32x5_tensorcore_mmasync",
          "tile_config_128x64_32x5_tensorcore_mmasync", "tile_config_64x64_64x5_tensorcore_mmasync",
          "tile_config_64x64_32x10_tensorcore_mmasync", "tile_config_128x256_32x3_tensorcore_mmasync"})
      EXPECT_TRUE(all.contains(name)) << target << " " << name;
  }
  std::vector<std::string> names = namesFor("matmul_3456x1024x2048_f32t_f32t_f32t", "cuda:sm_80");
  EXPECT_NE(std::ranges::find(names, "tile_config_128x128_16x5_tensorcore_mmasync"), names.end());
}

// 192 tiles of 192x128 leave 60 after a round of 132 multiprocessors; 108 tiles of 128x256 leave none.
TEST(CudaConfigurations, WhatIsLeftIsCut) {
  auto countIn = [](std::string_view problem, std::string_view target) {
    std::vector<std::string> names = namesFor(problem, target);
    return std::ranges::count_if(names, [](const std::string &name) { return name.find("_streamk") != name.npos; });
  };
  EXPECT_GT(countIn("matmul_4480x1024x7040_f16t_f16t_f16t", "cuda:sm_90a"), 0);
  EXPECT_EQ(countIn("matmul_4480x1024x7040_f16t_f16t_f16t", "cuda:sm_90"), 0);
  EXPECT_EQ(countIn("matmul_512x512x7040_f16t_f16t_f16t", "cuda:sm_90a"), 0);
}

TEST(CudaConfigurations, ClassesAreThoseThatMultiplyTheTypes) {
  const Names simt = {"simt_ffma"}, wmma = {"simt_ffma", "tensorcore_wmma"},
              mma = {"simt_ffma", "tensorcore_mmasync", "tensorcore_wmma"},
              all = {"simt_ffma", "tensorcore_mmasync", "tensorcore_wgmma", "tensorcore_wmma"};
  EXPECT_EQ(classesFor("matmul_512x512x512_f16t_f16t_f16t", "cuda:sm_90a"), all);
  EXPECT_EQ(classesFor("matmul_512x512x512_f16t_f16t_f16t", "cuda:sm_90"), mma);
  EXPECT_EQ(classesFor("batch_matmul_4x512x512x512_bf16n_bf16t_f32t", "cuda:sm_80"), mma);
  EXPECT_EQ(classesFor("matmul_512x512x512_f16t_f16t_f16t_accf16", "cuda:sm_90a"), simt);
  EXPECT_EQ(classesFor("matmul_512x512x512_i8t_i8t_i32t", "cuda:sm_90a"), wmma);
  EXPECT_EQ(classesFor("matmul_512x512x512_i8t_i8n_i32t", "cuda:sm_90a"), all);
  EXPECT_EQ(classesFor("matmul_512x512x512_f32n_f32t_f32t", "cuda:sm_90a"), mma) << "K is innermost in neither";
  EXPECT_EQ(classesFor("matmul_512x512x512_f32t_f32n_f32t", "cuda:sm_90a"), all);
  for (const char *turned : {"f32t_f32t", "f32n_f32n"})
    EXPECT_EQ(classesFor(std::string("matmul_512x512x512_") + turned + "_f32t", "cuda:sm_90a"), all) << turned;
  EXPECT_EQ(classesFor("matmul_512x511x512_f16t_f16t_f16t", "cuda:sm_90a"), mma) << "rows are not whole 16 bytes";
  EXPECT_TRUE(classesFor("matmul_512x512x512_f16t_f16t_f16t", "cuda:sm_75").empty());
  EXPECT_TRUE(classesFor("matmul_512x512x512_f16t_f16t_f16t", "cuda:a100").empty());
}

// A sweep measures clusters of two, and tune has larger ones, where there are so many tiles.
TEST(CudaConfigurations, ClustersAreMeasuredBesideTheSameTiles) {
  const std::string_view problem = "matmul_4096x4096x4096_f16t_f16t_f16t";
  std::vector<std::string> names = namesFor(problem, "cuda:sm_90a"), space = spaceOf(problem, "cuda:sm_90a");
  const Names all(names.begin(), names.end()), every(space.begin(), space.end());
  EXPECT_EQ(
      std::ranges::count_if(names, [](const std::string &name) { return name.find("_cluster") != std::string::npos; }),
      4);
  for (const char *tail : {"", "_cluster2x1", "_cluster1x2"})
    EXPECT_TRUE(all.contains("tile_config_128x256_64x4_tensorcore_wgmma" + std::string(tail))) << tail;
  EXPECT_TRUE(every.contains("tile_config_256x128_64x3_tensorcore_wgmma_cluster4x1"));
  for (const std::string &name : spaceOf("matmul_64x4096x512_f16t_f16t_f16t", "cuda:sm_90a"))
    EXPECT_TRUE(name.find("_cluster2x") == std::string::npos && name.find("_cluster4x") == std::string::npos) << name;
}

// Where a tile for each multiprocessor is more than there are, k is cut.
TEST(CudaConfigurations, PartsOfKAreMeasuredWhereTilesAreFew) {
  auto parts = [](const std::vector<std::string> &names) {
    return std::ranges::count_if(names, [](const std::string &name) { return name.find("_cluster1x1x") != name.npos; });
  };
  const std::string_view odd = "matmul_127x255x513_f16t_f16t_f16t";
  EXPECT_GT(parts(namesFor(odd, "cuda:sm_90a")), 0);
  EXPECT_GT(parts(spaceOf(odd, "cuda:sm_120")), 100);
  EXPECT_EQ(parts(spaceOf(odd, "cuda:sm_80")), 0) << "it has no clusters";
  EXPECT_EQ(parts(spaceOf("matmul_4096x4096x4096_f16t_f16t_f16t", "cuda:sm_90a")), 0);
}

// Two groups of warps hold 128 columns of B, or rows of A; registers are shared with no other block.
TEST(CudaConfigurations, WhatGoesThroughRegistersHasTilesOfItsOwn) {
  for (auto [layouts, fits, large] :
       {std::tuple("f32t_f32t", "256x128_32x4", "128x256"), {"f32n_f32n", "128x256_32x4", "256x128"}}) {
    std::vector<std::string> space = spaceOf(std::string("matmul_4096x4096x4096_") + layouts + "_f32t", "cuda:sm_90a");
    EXPECT_EQ(std::ranges::count(space, std::string("tile_config_") + fits + "_tensorcore_wgmma"), 1) << layouts;
    for (const std::string &name : space)
      EXPECT_FALSE(name.ends_with("wgmma") && name.starts_with(std::string("tile_config_") + large)) << name;
    EXPECT_TRUE(
        std::ranges::none_of(space, [](const std::string &name) { return name.find("_cluster") != name.npos; }));
  }
}

TEST(CudaConfigurations, SharedMemoryIsTheArchitectures) {
  std::vector<std::string> names = namesFor("matmul_4096x4096x4096_f16t_f16t_f16t", "cuda:sm_89"); // 101,376 bytes
  const Names all(names.begin(), names.end());
  EXPECT_FALSE(all.contains("tile_config_128x128_64x4_tensorcore_mmasync")); // 131,072
  EXPECT_TRUE(all.contains("tile_config_128x128_32x5_tensorcore_mmasync"));  // 81,920
}

TEST(CudaConfigurations, SpacesAreLargerAndWithoutRepeats) {
  for (const char *name : {"matmul_1x1x1_f32t_f32t_f32t", "matmul_37x1000x5_f16t_f16n_f16t",
                           "matmul_bias_relu_256x512x128_f32t_f32t_f32t"}) {
    const std::string_view text(name);
    const MatmulFamily family(text.substr(0, text.find_first_of("0123456789") - 1));
    Result<std::unique_ptr<measure::Problem>> problem = family.parse(name);
    ASSERT_TRUE(problem.ok()) << problem.status().toString();
    std::vector<std::string> space = family.configurationSpace(**problem, "cuda:sm_90a"),
                             few = family.configurations(**problem, "cuda:sm_90a");
    const Names all(space.begin(), space.end());
    EXPECT_EQ(all.size(), space.size()) << name;
    EXPECT_GT(few.size(), 5U) << name;
    for (const std::string &one : few)
      EXPECT_TRUE(all.contains(one)) << one;
  }
}

} // namespace
} // namespace kiln::families
