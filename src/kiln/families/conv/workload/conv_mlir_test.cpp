#include "kiln/families/conv/workload/conv_mlir.h"

#include <gtest/gtest.h>

namespace kiln::families {
namespace {

// Named ops where linalg has them.
TEST(ConvMlir, OpsOfTheForms) {
  const std::tuple<const char *, const char *, const char *> cases[] = {
      {"1x9x9x4_3x3x6", "g1", "linalg.conv_2d_"},
      {"1x9x9x6_3x3x6", "g6", "linalg.depthwise_conv_2d_"},
      {"1x9x9x3_3x3x6", "g3", ""},
      {"1x9x9x4_3x3x6", "g2", ""},
  };
  for (auto [shape, groups, op] : cases)
    for (const char *layout : {"nhwc_hwcf", "nchw_fchw"}) {
      Result<ConvSpec> spec =
          ConvSpec::parse(fmt::format("conv2d_{}_{}_s1x1_d1x1_p0x0_{}_f32_f32_f32", layout, shape, groups));
      ASSERT_TRUE(spec.ok()) << spec.status().toString();
      std::string grouped = spec->channelsFirst ? "linalg.conv_2d_ngchw_gfchw" : "linalg.generic";
      std::string text = convMlir(*spec, "f", "");
      EXPECT_NE(text.find(*op ? op : grouped), std::string::npos) << text;
      EXPECT_EQ(text.find("tensor.pad"), std::string::npos);
    }
}

TEST(ConvMlir, ConfigurationStandsOnTheConvolutionAlone) {
  for (const char *name : {"conv2d_nhwc_hwcf_1x9x9x4_3x3x6_s1x1_d1x1_p1x1_g1_f16_f16_f16",
                           "conv2d_nhwc_hwcf_1x9x9x4_3x3x6_s1x1_d1x1_p1x1_g2_f16_f16_f16",
                           "conv2d_nchw_fchw_1x9x9x4_3x3x6_s1x1_d1x1_p1x1_g2_i8_i8_i32"}) {
    Result<ConvSpec> spec = ConvSpec::parse(name);
    ASSERT_TRUE(spec.ok());
    std::string text = convMlir(*spec, "f", "tile_config_1x1_1x1_fma");
    size_t at = text.find("kiln.configuration = \"tile_config_1x1_1x1_fma\"");
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_EQ(text.find("kiln.configuration", at + 1), std::string::npos);
    EXPECT_LT(text.find("%sum = linalg."), at);
    EXPECT_GT(text.find("outs(%zeros"), at);
  }
}

TEST(ConvMlir, SumsAreInTheAccumulatorsType) {
  for (auto [types, sum, rounds] : {std::tuple("f32_f32_f32", "f32", false), std::tuple("f16_f16_f16", "f32", true),
                                    std::tuple("f16_f16_f32", "f32", false), std::tuple("bf16_bf16_bf16", "f32", true),
                                    std::tuple("i8_i8_i32", "i32", false)}) {
    Result<ConvSpec> spec = ConvSpec::parse(fmt::format("conv2d_nhwc_hwcf_1x5x5x1_3x3x1_s1x1_d1x1_p0x0_g1_{}", types));
    ASSERT_TRUE(spec.ok());
    std::string text = convMlir(*spec, "f", "");
    EXPECT_NE(text.find(fmt::format("outs(%zeros : tensor<1x3x3x1x{}>)", sum)), std::string::npos) << text;
    EXPECT_EQ(text.find("arith.truncf") != std::string::npos, rounds) << text;
  }
}

} // namespace
} // namespace kiln::families
