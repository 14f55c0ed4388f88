// Names, selections, configurations, and the goldens in test/, which lit compiles and runs.
#include "kiln/families/elementwise/workload/elementwise_family.h"

#include <gtest/gtest.h>
#include <set>

#include "kiln/base/tile_config.h"
#include "kiln/families/elementwise/workload/elementwise_configurations.h"
#include "kiln/families/families.h"
#include "kiln/measure/name_checks.h"

namespace kiln::families {
namespace {

TEST(ElementwiseNames, ComeBackAsTheyWere) {
  ElementwiseFamily family;
  for (const char *name : {"elementwise_add_1000x1001_f32", "elementwise_gelu_7_bf16", "elementwise_gelu_tanh_7_bf16",
                           "elementwise_mul_2x3x4x5_i32", "elementwise_sqrt_1x1x1_f16"}) {
    Result<std::unique_ptr<measure::Problem>> problem = family.parse(name);
    ASSERT_TRUE(problem.ok()) << problem.status().message();
    EXPECT_EQ((*problem)->name(), name);
    EXPECT_EQ((*problem)->family(), "elementwise");
  }
}

TEST(ElementwiseNames, FieldsAreWhatTheNameSays) {
  Result<ElementwiseSpec> spec = ElementwiseSpec::parse("elementwise_gelu_3x1001_f16");
  ASSERT_TRUE(spec.ok());
  ElementwiseProblem problem(*spec);
  std::vector<std::pair<std::string, std::string>> expected = {{"op", "gelu"}, {"shape", "3x1001"}, {"type", "f16"}};
  EXPECT_EQ(problem.fields(), expected);
  EXPECT_EQ(problem.flops(), 5.0 * 3003);
  EXPECT_EQ(problem.bytes(), 2.0 * 2 * 3003);
  EXPECT_EQ(problem.inputs().size(), 1U);
  EXPECT_EQ(problem.passes().size(), 2U);
}

TEST(ElementwiseNames, WhatIsMalformedIsSaid) {
  measure::expectMalformed(ElementwiseFamily(),
                           {{"elementwise_sub_4_f32", "there is no operation 'sub'; there are: add, mul"},
                            {"elementwise_add_4x0_f32", "sizes must be positive"},
                            {"elementwise_add_04_f32", "leading zero"},
                            {"elementwise_add_4x_f32", "'' is no size"},
                            {"elementwise_add_2x2x2x2x2_f32", "1 to 4 dimensions"},
                            {"elementwise_add_4_f31", "'f31' is no element type"},
                            {"elementwise_add_4", "it has 2 words"},
                            {"elementwise_relu_4_i32", "relu of i32 is not supported"},
                            {"elementwise_add_3000000000_f32", "too large"},
                            {"elementwise_add_2000000000x2000000000_f32", "more than 1024 GiB"}});
  EXPECT_EQ(ElementwiseSpec::parse("matmul_1x1x1_f32t_f32t_f32t").status().code(), StatusCode::NotFound);
}

TEST(ElementwiseFamily, IsRegistered) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  EXPECT_TRUE(registry.find("elementwise").ok());
  EXPECT_TRUE(registry.parse("elementwise_add_4_f32").ok());
}

size_t countProblems(const measure::ProblemSelection &selection) {
  auto problems = ElementwiseFamily().problems(selection);
  EXPECT_TRUE(problems.ok()) << problems.status().message();
  return problems.ok() ? problems->size() : 0;
}

TEST(ElementwiseFamily, SelectsBySizesAndTypes) {
  // 9 operations of three types and 2 of a fourth.
  EXPECT_EQ(countProblems({}), 3U * (3 * 9 + 2));
  EXPECT_EQ(countProblems({{{"rows", {2, 3}}, {"columns", {5}}}, {"f32"}, {}}), 2U * 9);
  EXPECT_EQ(countProblems({{{"columns", {5}}}, {"f32"}, {}}), 9U);
  EXPECT_EQ(countProblems({{}, {"f16"}, {{2, 3, 4, 5}}}), 9U);
  // Types and sizes of other families.
  EXPECT_EQ(countProblems({{}, {"i8", "f16t_f16n_f32t"}, {}}), 0U);
  EXPECT_FALSE(ElementwiseFamily().isMeantBy({{{"m", {64}}}, {}, {}}));
  EXPECT_TRUE(ElementwiseFamily().isMeantBy({{{"m", {64}}, {"rows", {2}}}, {}, {}}));
  EXPECT_TRUE(ElementwiseFamily().isMeantBy({{}, {}, {{2}}}));
  EXPECT_FALSE(ElementwiseFamily().problems({{{"rows", {2}}}, {}, {}}).ok());
  EXPECT_FALSE(ElementwiseFamily().problems({{}, {}, {{2, 2, 2, 2, 2}}}).ok());
}

TEST(ElementwiseFamily, ConfigurationsAreManyAndDifferent) {
  for (int64_t bits : {128, 256, 512}) {
    Result<ElementwiseSpec> spec = ElementwiseSpec::parse("elementwise_add_1000x1001_f32");
    std::vector<std::string> names = elementwiseConfigurations(*spec, bits);
    EXPECT_GE(names.size(), 9U);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
    for (const std::string &name : names) {
      Result<TileConfig> config = TileConfig::parse(name);
      ASSERT_TRUE(config.ok()) << config.status().message();
      EXPECT_EQ(config->name(), name);
    }
  }
  EXPECT_GE(elementwiseConfigurations(*ElementwiseSpec::parse("elementwise_add_1_f32"), 512).size(), 1U);
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  auto other = registry.parse("matmul_1x1x1_f32t_f32t_f32t");
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(ElementwiseFamily().configurations(**other, "llvm-cpu").empty());
  EXPECT_TRUE(ElementwiseFamily()
                  .configurations(ElementwiseProblem(*ElementwiseSpec::parse("elementwise_add_1_f32")), "cuda")
                  .empty());
}

} // namespace
} // namespace kiln::families
