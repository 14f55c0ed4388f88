#include "kiln/families/matmul/workload/cpu_configurations.h"

#include <gtest/gtest.h>
#include <set>

namespace kiln::families {
namespace {

constexpr CpuShape kAvx512{.vectorBits = 512, .vectorRegisters = 32};
constexpr CpuShape kAvx2{};
constexpr CpuShape kSse{.vectorBits = 128, .vectorRegisters = 16};

MatmulSpec parse(std::string_view name) {
  Result<MatmulSpec> spec = MatmulSpec::parse(name.starts_with("batch") ? "batch_matmul" : "matmul", name);
  EXPECT_TRUE(spec.ok()) << spec.status().toString();
  return *spec;
}

TileConfig config(std::string_view name) {
  Result<TileConfig> parsed = TileConfig::parse(name);
  EXPECT_TRUE(parsed.ok()) << parsed.status().toString();
  return *parsed;
}

class OrdinarySizes : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(CpuConfigurations, OrdinarySizes,
                         testing::Values("matmul_256x512x128_f32t_f32t_f32t", "matmul_2560x2560x2560_f16t_f16t_f16t",
                                         "matmul_3456x1024x2048_bf16n_bf16n_bf16t", "matmul_500x333x777_i8t_i8n_i32t",
                                         "matmul_64x64x64_f32n_f32t_f32t",
                                         "batch_matmul_16x512x64x512_f16t_f16t_f16t"));

TEST_P(OrdinarySizes, HaveEnoughLegalAndDistinctOnes) {
  MatmulSpec spec = parse(GetParam());
  for (const CpuShape &cpu : {kAvx512, kAvx2, kSse}) {
    std::vector<std::string> names = cpuConfigurations(spec, cpu, 32);
    EXPECT_EQ(names.size(), 32U);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
    for (const std::string &name : names)
      EXPECT_TRUE(verifyCpuConfiguration(config(name)).ok()) << name;
  }
}

TEST_P(OrdinarySizes, DifferInAllThatMatters) {
  std::set<std::pair<int64_t, int64_t>> registers, tiles;
  std::set<int64_t> depths;
  for (const std::string &name : cpuConfigurations(parse(GetParam()), kAvx512, 32)) {
    TileConfig tile = config(name);
    registers.insert({tile.rows, tile.columns});
    tiles.insert({tile.m, tile.n});
    depths.insert(tile.k);
  }
  EXPECT_GE(registers.size(), 8U);
  EXPECT_GE(tiles.size(), 3U);
  EXPECT_GE(depths.size(), parse(GetParam()).k > 64 ? 2U : 1U);
}

TEST_P(OrdinarySizes, AreCutToTheProblem) {
  MatmulSpec spec = parse(GetParam());
  for (const RatedConfig &rated : cpuConfigurationSpace(spec, kAvx512)) {
    const TileConfig &tile = rated.config;
    ASSERT_GE(tile.m, 1);
    ASSERT_GE(tile.n, 1);
    ASSERT_GE(tile.k, 1);
    ASSERT_LE(tile.m, static_cast<int64_t>(spec.m)) << tile.name();
    ASSERT_LE(tile.n, static_cast<int64_t>(spec.n)) << tile.name();
    ASSERT_LE(tile.k, static_cast<int64_t>(spec.k)) << tile.name();
    ASSERT_LE(tile.rows, static_cast<int64_t>(spec.m)) << tile.name();
    ASSERT_LE(tile.columns, static_cast<int64_t>(spec.n + 15) / 16 * 16) << tile.name();
  }
}

TEST(CpuConfigurations, SpacesAreLargeAndWithoutRepeats) {
  for (const char *name : {"matmul_256x512x128_f32t_f32t_f32t", "matmul_2560x2560x2560_f32t_f32t_f32t"})
    for (const CpuShape &cpu : {kAvx512, kAvx2, kSse}) {
      std::vector<RatedConfig> space = cpuConfigurationSpace(parse(name), cpu);
      EXPECT_GE(space.size(), 500U) << name;
      std::set<std::string> names;
      for (const RatedConfig &rated : space) {
        EXPECT_TRUE(verifyCpuConfiguration(rated.config).ok()) << rated.config.name();
        EXPECT_TRUE(names.insert(rated.config.name()).second) << rated.config.name();
      }
    }
}

TEST(CpuConfigurations, TinyProblemsHaveWhatThereIs) {
  EXPECT_EQ(cpuConfigurations(parse("matmul_1x1x1_f32t_f32t_f32t"), kAvx512, 32),
            std::vector<std::string>{"tile_config_1x1_1x1_fma_1x16"});
  std::vector<std::string> names = cpuConfigurations(parse("matmul_5x7x3_f32t_f32t_f32t"), kAvx2, 32);
  EXPECT_GE(names.size(), 3U);
  EXPECT_LE(names.size(), 32U);
}

TEST(CpuConfigurations, AskedForFewGivesFew) {
  MatmulSpec spec = parse("matmul_256x512x128_f32t_f32t_f32t");
  EXPECT_TRUE(cpuConfigurations(spec, kAvx512, 0).empty());
  EXPECT_EQ(cpuConfigurations(spec, kAvx512, 1).size(), 1U);
}

// A column-major B is read through panels whatever the name says, so one spelling has to be enough.
TEST(CpuConfigurations, PackingIsSpelledOnceWhereItIsForced) {
  for (const RatedConfig &rated : cpuConfigurationSpace(parse("matmul_256x512x128_f32t_f32n_f32t"), kAvx2))
    EXPECT_EQ(rated.config.packB, rated.config.rows > 1) << rated.config.name();
}

TEST(CpuConfigurations, WhatTheCompilerRejectsIsRejected) {
  for (const char *name : {"tile_config_96x128_256x2_fma_12x32", "tile_config_96x128_256x1_fma_12x32_packa",
                           "tile_config_96x128_256x1_tensorcore_mmasync", "tile_config_96x128_256x1_fma_33x4",
                           "tile_config_96x128_256x1_fma_32x64", "tile_config_96x128_256x1_fma_8x16_v12"})
    EXPECT_FALSE(verifyCpuConfiguration(config(name)).ok()) << name;
  EXPECT_TRUE(verifyCpuConfiguration(config("tile_config_96x128_256x1_fma_12x32_packb")).ok());
}

} // namespace
} // namespace kiln::families
