#include "kiln/families/conv/workload/conv_configurations.h"

#include <gtest/gtest.h>
#include <set>

namespace kiln::families {
namespace {

ConvSpec parse(std::string_view name) {
  Result<ConvSpec> spec = ConvSpec::parse(name);
  EXPECT_TRUE(spec.ok()) << spec.status().toString();
  return *spec;
}

constexpr CpuShape kAvx512{.vectorBits = 512, .vectorRegisters = 32, .l1Bytes = 48 << 10, .l2Bytes = 1 << 20};
constexpr CpuShape kAvx2{.vectorBits = 256, .vectorRegisters = 16};

constexpr const char *kProblems[] = {
    "conv2d_nhwc_hwcf_1x56x56x64_3x3x64_s1x1_d1x1_p1x1_g1_f32_f32_f32",
    "conv2d_nchw_fchw_1x56x56x64_3x3x64_s1x1_d1x1_p1x1_g1_f32_f32_f32",
    "conv2d_nhwc_hwcf_1x28x28x128_1x1x512_s1x1_d1x1_p0x0_g1_f16_f16_f16",
    "conv2d_nchw_fchw_1x28x28x128_1x1x512_s1x1_d1x1_p0x0_g1_i8_i8_i32",
    "conv2d_nhwc_hwcf_1x224x224x3_7x7x64_s2x2_d1x1_p3x3_g1_f32_f32_f32",
    "conv2d_nchw_fchw_1x224x224x3_7x7x64_s2x2_d1x1_p3x3_g1_f32_f32_f32",
    "conv2d_nhwc_hwcf_1x28x28x256_3x3x256_s1x1_d1x1_p1x1_g32_f32_f32_f32",
    "conv2d_nchw_fchw_1x28x28x256_3x3x256_s1x1_d1x1_p1x1_g32_f32_f32_f32",
    "conv2d_nhwc_hwcf_1x56x56x128_3x3x128_s1x1_d1x1_p1x1_g128_f32_f32_f32",
    "conv2d_nchw_fchw_1x56x56x128_3x3x128_s1x1_d1x1_p1x1_g128_bf16_bf16_bf16",
};

TEST(ConvConfigurations, OrdinaryProblemsHaveManyThatDiffer) {
  for (const CpuShape &cpu : {kAvx512, kAvx2})
    for (const char *name : kProblems) {
      std::vector<std::string> names = convConfigurations(parse(name), cpu, 32);
      EXPECT_GE(names.size(), 16U) << name;
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
      for (const std::string &configuration : names)
        EXPECT_TRUE(TileConfig::parse(configuration).ok()) << configuration;
    }
}

// No two have the same tiles after these are cut to the problem.
TEST(ConvConfigurations, TilesAreCutToTheProblem) {
  ConvSpec spec = parse("conv2d_nhwc_hwcf_2x9x9x5_3x3x20_s1x1_d1x1_p0x0_g1_f32_f32_f32"); // 7x7 pixels
  std::vector<RatedConfig> space = convConfigurationSpace(spec, kAvx512);
  ASSERT_FALSE(space.empty());
  for (const RatedConfig &rated : space) {
    EXPECT_LE(rated.config.rows, 7);
    EXPECT_LE(rated.config.m, 2 * 7 * 7);
    EXPECT_LE(rated.config.n, 20);
    EXPECT_LE(rated.config.k, 5);
    EXPECT_LE(rated.config.columns, 32);
  }
}

TEST(ConvConfigurations, RegisterTilesFitAndPanelsAreOfFilters) {
  for (const char *name : kProblems) {
    ConvSpec spec = parse(name);
    bool depthwise = spec.groups == spec.c;
    for (const RatedConfig &rated : convConfigurationSpace(spec, kAvx2)) {
      int64_t vectors = (rated.config.columns + 7) / 8;
      EXPECT_LT(rated.config.rows * vectors + vectors, 16) << rated.config.name();
      EXPECT_FALSE(rated.config.packB && (spec.channelsFirst || depthwise)) << rated.config.name();
    }
  }
}

TEST(ConvConfigurations, PanelsAreNotLargerThanTheCompilerTakes) {
  ConvSpec spec = parse("conv2d_nhwc_hwcf_1x14x14x512_3x3x512_s1x1_d1x1_p1x1_g1_f32_f32_f32");
  bool packs = false;
  for (const RatedConfig &rated : convConfigurationSpace(spec, kAvx512)) {
    packs |= rated.config.packB;
    int64_t columns = (rated.config.n + rated.config.columns - 1) / rated.config.columns * rated.config.columns;
    EXPECT_TRUE(!rated.config.packB || columns * rated.config.k * 9 * 4 <= 2 << 20) << rated.config.name();
  }
  EXPECT_TRUE(packs);
}

// The sums of filters need a row for each: what is outside of the rows must be whole before there is more than one.
TEST(ConvConfigurations, TilesOfChannelsFirstHaveTheirRows) {
  ConvSpec spec = parse("conv2d_nchw_fchw_1x30x30x16_3x3x32_s1x1_d1x1_p0x0_g1_f32_f32_f32"); // 28 rows of pixels
  for (const RatedConfig &rated : convConfigurationSpace(spec, kAvx512)) {
    EXPECT_EQ(rated.config.m % 28, 0) << rated.config.name();
    EXPECT_GE(rated.config.m / 28, rated.config.rows) << rated.config.name();
  }
}

} // namespace
} // namespace kiln::families
