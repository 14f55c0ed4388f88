// Names, selections, configurations.
#include "kiln/families/reduction/workload/reduction_family.h"

#include <gtest/gtest.h>
#include <set>

#include "kiln/base/tile_config.h"
#include "kiln/families/families.h"
#include "kiln/families/reduction/workload/row_configurations.h"

namespace kiln::families {
namespace {

RowSpec parsed(const std::string &name) {
  Result<RowSpec> spec = RowSpec::parse(name.starts_with("softmax") ? "softmax" : "reduction", name);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.ok() ? *spec : RowSpec();
}

TEST(RowNames, ComeBackAsTheyWere) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  for (const char *name : {"reduction_sum_1000x1001_f16_f32", "reduction_max_1x7_bf16_bf16", "reduction_min_3x1_i8_i8",
                           "reduction_mean_3x4_f32_f32", "reduction_sum_3x4_i8_i32", "softmax_1000x1001_bf16",
                           "reduction_max_1x1000x64_f32_f32", "reduction_mean_8x1x2_bf16_f32"}) {
    Result<std::unique_ptr<measure::Problem>> problem = registry.parse(name);
    ASSERT_TRUE(problem.ok()) << problem.status().message();
    EXPECT_EQ((*problem)->name(), name);
  }
}

TEST(RowNames, FieldsAreWhatTheNameSays) {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  RowProblem sum(parsed("reduction_sum_3x1001_f16_f32"));
  EXPECT_EQ(sum.fields(), (Fields{{"op", "sum"},
                                  {"rows", "3"},
                                  {"columns", "1001"},
                                  {"type", "f16"},
                                  {"result_type", "f32"},
                                  {"accumulator", "f32"}}));
  EXPECT_EQ(sum.flops(), 3003);
  EXPECT_EQ(sum.bytes(), 3003 * 2 + 3 * 4);
  EXPECT_EQ(RowProblem(parsed("reduction_mean_3x1001_f16_f32")).flops(), 3006);
  RowProblem across(parsed("reduction_mean_2x5x7_f16_f32"));
  EXPECT_EQ(across.fields()[3], (std::pair<std::string, std::string>("inner", "7")));
  EXPECT_EQ(across.inputs()[0].shape, (std::vector<uint64_t>{2, 5, 7}));
  EXPECT_EQ(across.outputs()[0].shape, (std::vector<uint64_t>{2, 7}));
  EXPECT_EQ(across.flops(), 70 + 14);
  RowProblem softmax(parsed("softmax_3x5_bf16"));
  EXPECT_EQ(softmax.fields(), (Fields{{"rows", "3"}, {"columns", "5"}, {"type", "bf16"}, {"accumulator", "f32"}}));
  EXPECT_EQ(softmax.flops(), 75);
  EXPECT_EQ(softmax.bytes(), 60);
}

TEST(RowNames, WhatIsMalformedIsSaid) {
  struct Case {
    const char *family, *name, *part;
  };
  for (const Case &test :
       {Case{"reduction", "reduction_prod_4x4_f32_f32", "no reduction 'prod'; there are: sum, max"},
        Case{"reduction", "reduction_sum_4x4_f32", "it has 3 words"},
        Case{"reduction", "reduction_sum_4_f32_f32", "1 sizes instead of 2 or 3"},
        Case{"reduction", "reduction_sum_4x4x4x4_f32_f32", "4 sizes instead of 2 or 3"},
        Case{"reduction", "reduction_sum_4x4x1_f32_f32", "the last size of '4x4x1' is 1: leave it out"},
        Case{"softmax", "softmax_4x4x4_f32", "3 sizes instead of 2"},
        Case{"reduction", "reduction_sum_4x04_f32_f32", "leading zero"},
        Case{"reduction", "reduction_sum_4x4_f32_f16", "sum of f32 with results of f16"},
        Case{"reduction", "reduction_mean_4x4_i8_i32", "is not supported"},
        Case{"reduction", "reduction_max_4x4_f16_f32", "is not supported"},
        Case{"softmax", "softmax_4x4_i8", "softmax of i8"}, Case{"softmax", "softmax_4x4_f32_f32", "it has 3 words"},
        Case{"softmax", "softmax_2000000000x2000000000_f32", "more than 1024 GiB"}}) {
    Result<RowSpec> spec = RowSpec::parse(test.family, test.name);
    ASSERT_FALSE(spec.ok()) << test.name;
    EXPECT_EQ(spec.status().code(), StatusCode::InvalidArgument);
    EXPECT_NE(spec.status().message().find(test.part), std::string::npos) << spec.status().message();
    EXPECT_NE(spec.status().message().find("the form is"), std::string::npos) << spec.status().message();
  }
  EXPECT_EQ(RowSpec::parse("reduction", "softmax_4x4_f32").status().code(), StatusCode::NotFound);
}

size_t countProblems(bool softmax, const measure::ProblemSelection &selection) {
  auto problems = RowFamily(softmax).problems(selection);
  EXPECT_TRUE(problems.ok()) << problems.status().message();
  return problems.ok() ? problems->size() : 0;
}

TEST(RowFamily, SelectsBySizesAndTypes) {
  // Four reductions of three types, three of i8.
  EXPECT_EQ(countProblems(false, {}), 5U * (3 * 4 + 3));
  EXPECT_EQ(countProblems(true, {}), 3U * 3);
  measure::ProblemSelection sizes{{{"rows", {2, 3}}, {"columns", {5, 6}}}, {"f16_f32"}, {}};
  EXPECT_EQ(countProblems(false, sizes), 4U * 2); // sum and mean
  EXPECT_EQ(countProblems(true, sizes), 0U);
  sizes.dimensions["inner"] = {1, 7, 8};
  EXPECT_EQ(countProblems(false, sizes), 4U * 2 * 3);
  EXPECT_EQ(countProblems(true, {{{"rows", {2}}, {"columns", {5}}, {"inner", {7}}}, {}, {}}), 0U);
  EXPECT_FALSE(RowFamily(false).problems({{{"inner", {5}}}, {}, {}}).ok());
  EXPECT_FALSE(RowFamily(true).isMeantBy({{{"m", {5}}}, {}, {}}));
  EXPECT_EQ(countProblems(true, {{{"columns", {5}}}, {}, {}}), 0U);
  EXPECT_FALSE(RowFamily(false).isMeantBy({{}, {}, {{5, 6}}}));
  EXPECT_FALSE(RowFamily(false).problems({{{"rows", {5}}}, {}, {}}).ok());
}

TEST(RowFamily, ConfigurationsAreManyAndDifferent) {
  for (int64_t bits : {128, 256, 512})
    for (const char *name : {"reduction_sum_1000x1001_f32_f32", "softmax_1024x1024_f16", "reduction_max_64x4096_i8_i8",
                             "reduction_mean_4096x4096_bf16_bf16", "reduction_sum_8x1000x1024_f32_f32"}) {
      std::vector<std::string> names = rowConfigurations(parsed(name), bits);
      EXPECT_GE(names.size(), 8U) << name;
      EXPECT_LE(names.size(), 16U) << name;
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
      for (const std::string &text : names) {
        Result<TileConfig> config = TileConfig::parse(text);
        ASSERT_TRUE(config.ok()) << config.status().message();
        EXPECT_EQ(config->name(), text);
      }
    }
  for (const char *name : {"reduction_sum_1x1_f32_f32", "softmax_1x3_f32", "reduction_max_3x1000000_f32_f32",
                           "reduction_sum_1x4x2_f32_f32"})
    EXPECT_GE(rowConfigurations(parsed(name), 512).size(), 1U) << name;
  EXPECT_TRUE(RowFamily(true).configurations(RowProblem(parsed("softmax_4x4_f32")), "cuda").empty());
}

} // namespace
} // namespace kiln::families
