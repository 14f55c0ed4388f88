#include "kiln/tools/dispatch/nearest_names.h"
#include "kiln/tools/dispatch/rows/stored_row.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

using Names = std::vector<std::string>;

// Problems of several families, each with a few configurations.
std::vector<NamedProblem> sample() {
  Names names;
  for (const char *sizes : {"128x128x128", "256x512x128", "512x512x512", "1024x1024x1024", "33x65x17"})
    for (const char *tensors : {"f32t_f32t_f32t", "f32t_f32n_f32t", "f16t_f16t_f16t", "bf16t_bf16t_bf16t"}) {
      names.push_back(fmt::format("matmul_{}_{}", sizes, tensors));
      names.push_back(fmt::format("matmul_bias_relu_{}_{}", sizes, tensors));
      names.push_back(fmt::format("batch_matmul_4x{}_{}", sizes, tensors));
      names.push_back(fmt::format("matmul_splitk_serial_4_{}_{}_partf32", sizes, tensors));
    }
  for (const char *name : {"softmax_64x1000_f32", "reduction_sum_64x1000_f32_f32", "elementwise_gelu_64x64_f32",
                           "conv2d_nhwc_hwcf_1x56x56x64_3x3x64_s1x1_d1x1_p1x1_g1_f32_f32_f32",
                           "conv2d_nchw_fchw_1x56x56x64_3x3x64_s1x1_d1x1_p1x1_g1_f32_f32_f32"})
    names.emplace_back(name);
  std::vector<NamedProblem> problems;
  for (const std::string &name : names) {
    NamedProblem &problem = problems.emplace_back();
    problem.problem = name;
    for (const char *configuration : {"96x128_256x1_fma_12x32_packb", "128x256_128x1_fma_6x64", "32x48_96x1_fma_8x48"})
      problem.dispatches.push_back(fmt::format("{}_tile_config_{}", name, configuration));
  }
  return problems;
}

std::string nearest(std::string_view pattern) {
  Names names = nearestDispatches(pattern, sample(), 3);
  return names.empty() ? "" : names.front();
}

// Whether it is one of those that are shown.
bool among(std::string_view pattern, std::string_view name) {
  Names names = nearestDispatches(pattern, sample(), 3);
  return std::ranges::find(names, name) != names.end();
}

TEST(NearestNames, AMistakenSizeIsTheSizeNextToIt) {
  EXPECT_EQ(nearest("matmul_256x512x12_f32*"), "matmul_256x512x128_f32t_f32t_f32t");
  EXPECT_EQ(nearest("matmul_128x128x129*"), "matmul_128x128x128_f32t_f32t_f32t");
  EXPECT_EQ(nearest("^matmul_500x500x500_f16t.*"), "matmul_512x512x512_f16t_f16t_f16t");
  EXPECT_EQ(nearest("softmax_64x100_f32"), "softmax_64x1000_f32");
}

TEST(NearestNames, AMisspeltFamilyIsFound) {
  EXPECT_EQ(nearest("mamtul_512x512x512_f32*"), "matmul_512x512x512_f32t_f32t_f32t");
  EXPECT_EQ(nearest("batchmatmul_4x256x512x128*"), "batch_matmul_4x256x512x128_f32t_f32t_f32t");
  EXPECT_EQ(nearest("matmul_bais_relu_33x65x17"), "matmul_bias_relu_33x65x17_f32t_f32t_f32t");
  EXPECT_EQ(nearest("matmul_split_k_serial_4_512x"), "matmul_splitk_serial_4_512x512x512_f32t_f32t_f32t_partf32");
  EXPECT_EQ(nearest("conv_nchw.*"), "conv2d_nchw_fchw_1x56x56x64_3x3x64_s1x1_d1x1_p1x1_g1_f32_f32_f32");
  EXPECT_EQ(nearest("Softmax"), "softmax_64x1000_f32");
  EXPECT_EQ(nearest("reduce_sum*"), "reduction_sum_64x1000_f32_f32");
}

TEST(NearestNames, AMisspeltLayoutOrTypeIsFound) {
  EXPECT_TRUE(among("matmul_512x512x512_f32t_f32m_f32t", "matmul_512x512x512_f32t_f32n_f32t"));
  EXPECT_EQ(nearest("matmul_512x512x512_f16_f16_f16"), "matmul_512x512x512_f16t_f16t_f16t");
  EXPECT_EQ(nearest("matmul_33x65x17_bf16t_bf16t_f32n"), "matmul_33x65x17_bf16t_bf16t_bf16t");
}

TEST(NearestNames, WhereTheConfigurationIsWrongItIsADispatch) {
  EXPECT_EQ(nearest("matmul_256x512x128_f32t.*_tile_config_96x129_256"),
            "matmul_256x512x128_f32t_f32t_f32t_tile_config_96x128_256x1_fma_12x32_packb");
  EXPECT_EQ(nearest("^matmul_256x512x128_f32t_f32t_f32t_tile_config_32x48_64x1"),
            "matmul_256x512x128_f32t_f32t_f32t_tile_config_32x48_96x1_fma_8x48");
}

TEST(NearestNames, EachIsToldOnceAndOfSeveralPatternsTheNearest) {
  Names names = nearestDispatches("matmul_256x512x12_f32*", sample(), 3);
  ASSERT_EQ(names.size(), 3U);
  for (const std::string &name : names)
    EXPECT_NE(name.find("matmul_256x512x128_f"), std::string::npos) << name;
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 3U);
  EXPECT_EQ(nearest("zzzzzzzzzz,softmx"), "softmax_64x1000_f32");
  EXPECT_EQ(nearestText("x", {}), "");
}

// A row is asked for, and a problem is none.
TEST(NearestRows, OfAProblemItsDispatchesAreTold) {
  EXPECT_EQ(nearestRows("softmax_64x1000_f32", std::vector<NamedProblem>{{"softmax_64x1000_f32", {"one", "two"}},
                                                                         {"softmax_64x1000_f32", {"two", "three"}}}),
            "; it is a problem, whose dispatches are:\n  one\n  two\n  three");
  std::vector<NamedProblem> many = {{"matmul_1x2x3_f32t_f32t_f32t", {}}};
  for (int i = 0; i < 10; ++i)
    many[0].dispatches.push_back(fmt::format("matmul_1x2x3_f32t_f32t_f32t_tile_config_{}", i));
  std::string text = nearestRows(many[0].problem, many);
  EXPECT_NE(text.find("_tile_config_7\n  and 2 more"), std::string::npos) << text;
  text = nearestRows("matmul_1x2x4_f32t_f32t_f32t", many);
  EXPECT_EQ(text, "; the nearest are:\n  matmul_1x2x3_f32t_f32t_f32t_tile_config_0\n"
                  "  matmul_1x2x3_f32t_f32t_f32t_tile_config_1\n  matmul_1x2x3_f32t_f32t_f32t_tile_config_2");
  EXPECT_EQ(nearestRows("0123abcd", many), "") << "the key of a row";
  EXPECT_EQ(nearestRows("x", {}), "");
}

TEST(NearestNames, OfAnExpressionOnlyWhatIsLetterForLetterCounts) {
  EXPECT_EQ(editsToMatch("^matmul_[0-9]+x(1|2)56x.*f\\d\\dt$", "matmul_128x256x64_f32t"), 0U);
  EXPECT_EQ(editsToMatch("matmul", "mxatmul"), 2U);
  EXPECT_EQ(editsToMatch("mamtul", "batch_matmul"), 2U);
  EXPECT_EQ(editsToMatch("batch-Matmul", "batch_matmul"), 2U);
  for (const char *odd : {"", "*", "[", "(", "{", "\\", "a{2", "[]a]", "a|b", "+"})
    (void)editsToMatch(odd, "matmul"); // no more is asked of them than to come back
}

// Each pattern is asked for: one that finds something excuses no other.
TEST(CheckPatterns, NamesTheOneThatMatchesNothing) {
  const std::vector<NamedProblem> problems = {{"matmul_64x64x64", {"matmul_64x64x64_a", "matmul_64x64x64_b"}},
                                              {"softmax_64x64", {"softmax_64x64_a"}}};
  EXPECT_TRUE(checkPatterns("", problems).ok());
  EXPECT_TRUE(checkPatterns("matmul_6{1,2}4,softmax", problems).ok());
  const Status status = checkPatterns("matmul,sotfmax", problems);
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_TRUE(status.message().starts_with("--dispatches=sotfmax matches nothing; the nearest are:\n  softmax_64x64"))
      << status.message();
}

} // namespace
} // namespace kiln
