#include "kiln/families/conv/workload/conv_family.h"

#include <gtest/gtest.h>

#include "kiln/families/families.h"

namespace kiln::families {
namespace {

using measure::Problem;

std::unique_ptr<Problem> parse(std::string_view name) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  Result<std::unique_ptr<Problem>> problem = registry.parse(name);
  EXPECT_TRUE(problem.ok()) << problem.status().toString();
  return *std::move(problem);
}

TEST(ConvFamily, IsRegistered) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  EXPECT_TRUE(registry.find("conv2d").ok());
  EXPECT_EQ(parse("conv2d_nhwc_hwcf_1x5x5x1_3x3x1_s1x1_d1x1_p0x0_g1_f32_f32_f32")->family(), "conv2d");
}

TEST(ConvFamily, FieldsFlopsAndBytes) {
  std::unique_ptr<Problem> problem = parse("conv2d_nchw_fchw_2x30x31x12_3x4x8_s5x6_d7x8_p9x10_g4_i8_i8_i32");
  EXPECT_EQ(problem->fields(), (std::vector<std::pair<std::string, std::string>>{{"layout", "nchw_fchw"},
                                                                                 {"n", "2"},
                                                                                 {"h", "30"},
                                                                                 {"w", "31"},
                                                                                 {"c", "12"},
                                                                                 {"r", "3"},
                                                                                 {"s", "4"},
                                                                                 {"f", "8"},
                                                                                 {"stride_h", "5"},
                                                                                 {"stride_w", "6"},
                                                                                 {"dilation_h", "7"},
                                                                                 {"dilation_w", "8"},
                                                                                 {"pad_h", "9"},
                                                                                 {"pad_w", "10"},
                                                                                 {"groups", "4"},
                                                                                 {"input_type", "i8"},
                                                                                 {"filter_type", "i8"},
                                                                                 {"result_type", "i32"},
                                                                                 {"accumulator", "i32"}}));
  // (30 + 18 - 14 - 1) / 5 + 1 = 7 rows, (31 + 20 - 24 - 1) / 6 + 1 = 5 columns.
  EXPECT_EQ(problem->outputs()[0].shape, (std::vector<uint64_t>{2, 8, 7, 5}));
  EXPECT_EQ(problem->flops(), 2.0 * 2 * 7 * 5 * 8 * 3 * 4 * 3);
  EXPECT_EQ(problem->bytes(), 2.0 * 30 * 31 * 12 + 8 * 3 * 3 * 4 + 4.0 * 2 * 8 * 7 * 5);
}

TEST(ConvFamily, Defaults) {
  auto problems = ConvFamily().problems({});
  ASSERT_TRUE(problems.ok()) << problems.status().toString();
  ASSERT_EQ(problems->size(), 40U); // 5 shapes, 4 types, 2 layouts
  EXPECT_EQ((*problems)[0]->name(), "conv2d_nhwc_hwcf_1x56x56x64_3x3x64_s1x1_d1x1_p1x1_g1_f32_f32_f32");
  EXPECT_EQ((*problems)[1]->name(), "conv2d_nchw_fchw_1x56x56x64_3x3x64_s1x1_d1x1_p1x1_g1_f32_f32_f32");
  EXPECT_EQ(problems->back()->name(), "conv2d_nchw_fchw_1x56x56x128_3x3x128_s1x1_d1x1_p1x1_g128_i8_i8_i32");
}

TEST(ConvFamily, SelectionsAreCombined) {
  ConvFamily family;
  auto names = [&](const measure::ProblemSelection &selection) {
    std::vector<std::string> names;
    auto problems = family.problems(selection);
    EXPECT_TRUE(problems.ok()) << problems.status().toString();
    if (problems.ok())
      for (const auto &problem : *problems)
        names.push_back(problem->name());
    return names;
  };
  std::vector<std::string> all =
      names({{{"h", {8}}, {"w", {9}}, {"c", {4}}, {"f", {6}}, {"r", {1, 5}}, {"pad", {0, 2}}}, {"f16_f16_f32"}});
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all[0], "conv2d_nhwc_hwcf_1x8x9x4_1x1x6_s1x1_d1x1_p0x0_g1_f16_f16_f32");
  EXPECT_EQ(all[7], "conv2d_nchw_fchw_1x8x9x4_5x5x6_s1x1_d1x1_p2x2_g1_f16_f16_f32");
  all =
      names({{{"h", {8}}, {"w", {9}}, {"c", {4}}, {"f", {6}}, {"n", {3}}, {"stride", {2}}, {"groups", {2}}, {"s", {1}}},
             {"f32"}});
  EXPECT_EQ(all[0], "conv2d_nhwc_hwcf_3x8x9x4_3x1x6_s2x2_d1x1_p0x0_g2_f32_f32_f32");
  // n alone is so many images, but not where it is a matrix product's.
  EXPECT_EQ(names({{{"n", {8}}}, {"f32"}})[0], "conv2d_nhwc_hwcf_8x56x56x64_3x3x64_s1x1_d1x1_p1x1_g1_f32_f32_f32");
  EXPECT_TRUE(names({{{"m", {8}}, {"n", {8}}, {"k", {8}}}, {"f32"}}).empty());
  EXPECT_EQ(names({{{"m", {8}}, {"n", {2}}, {"k", {8}}, {"h", {8}}, {"w", {9}}, {"c", {4}}, {"f", {6}}}, {"f32"}})[0],
            "conv2d_nhwc_hwcf_2x8x9x4_3x3x6_s1x1_d1x1_p0x0_g1_f32_f32_f32");
  // Types that other families have are not for this one.
  EXPECT_EQ(names({{}, {"f64", "f16t_f16n_f32t", "f32"}}).size(), 10U);
}

TEST(ConvFamily, WrongSelectionsAreErrors) {
  ConvFamily family;
  auto message = [&](const measure::ProblemSelection &selection) {
    auto problems = family.problems(selection);
    return problems.ok() ? std::string("ok") : std::string(problems.status().message());
  };
  EXPECT_NE(message({{{"h", {5}}}, {}}).find("--problem-h, --problem-w, --problem-c and --problem-f together"),
            std::string::npos);
  EXPECT_NE(message({{{"stride", {2}}}, {}}).find("together"), std::string::npos);
  EXPECT_NE(message({{{"h", {2}}, {"w", {2}}, {"c", {1}}, {"f", {1}}}, {}}).find("its output has no pixels"),
            std::string::npos);
  EXPECT_NE(message({{{"h", {5}}, {"w", {5}}, {"c", {3}}, {"f", {4}}, {"groups", {2}}}, {}}).find("3 channels"),
            std::string::npos);
  EXPECT_NE(message({{}, {"f33"}}).find("'f33' names no types"), std::string::npos);
}

TEST(ConvFamily, ConfigurationsAreOfKnownTargets) {
  ConvFamily family;
  std::unique_ptr<Problem> problem = parse("conv2d_nhwc_hwcf_1x56x56x64_3x3x64_s1x1_d1x1_p1x1_g1_f32_f32_f32");
  EXPECT_EQ(family.configurations(*problem, "llvm-cpu").size(), ConvFamily::kConfigurationCount);
  EXPECT_TRUE(family.configurations(*problem, "tpu").empty());
}

} // namespace
} // namespace kiln::families
