// Names, selections, configurations.
#include "kiln/families/transpose/workload/transpose_family.h"

#include <gtest/gtest.h>

#include "kiln/families/families.h"
#include "kiln/measure/name_checks.h"

namespace kiln::families {
namespace {

TEST(TransposeNames, ComeBackAsTheyWere) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  measure::expectNamesComeBack(registry,
                               {"transpose_10_1000x1001_f32", "transpose_021_1x1x7_bf16", "transpose_0213_2x3x4x5_i8",
                                "transpose_3210_2x3x4x5_i32", "transpose_120_2x3x4_f16"});
}

TEST(TransposeNames, FieldsAreWhatTheNameSays) {
  Result<TransposeSpec> spec = TransposeSpec::parse("transpose_120_2x3x5_f16");
  ASSERT_TRUE(spec.ok());
  TransposeProblem problem(*spec);
  std::vector<std::pair<std::string, std::string>> expected = {
      {"permutation", "120"}, {"shape", "2x3x5"}, {"type", "f16"}};
  EXPECT_EQ(problem.fields(), expected);
  EXPECT_EQ(problem.outputs()[0].shape, (std::vector<uint64_t>{3, 5, 2}));
  EXPECT_EQ(problem.flops(), 0);
  EXPECT_EQ(problem.bytes(), 2.0 * 2 * 30);
  EXPECT_EQ(problem.passes(), (std::vector<std::string>{"values", "bits"}));
  EXPECT_EQ(TransposeProblem(*TransposeSpec::parse("transpose_10_2x3_i8")).passes().size(), 1U);
}

TEST(TransposeNames, WhatIsMalformedIsSaid) {
  measure::expectMalformed(TransposeFamily(), {{"transpose_01_4x4_f32", "moves nothing"},
                                               {"transpose_11_4x4_f32", "is no permutation of 2 dimensions"},
                                               {"transpose_1_4x4_f32", "is no permutation of 2 dimensions"},
                                               {"transpose_10_4x4x4_f32", "it has each of the digits 0 to 2 once"},
                                               {"transpose_ab_4x4_f32", "'ab' is no permutation"},
                                               {"transpose_0_4_f32", "2 to 4 dimensions, not 1"},
                                               {"transpose_10_4x04_f32", "leading zero"},
                                               {"transpose_10_4x4", "it has 2 words"},
                                               {"transpose_10_4x4_f64", "a transposition of f64 is not supported"},
                                               {"transpose_10_4x4_f31", "'f31' is no element type"},
                                               {"transpose_10_2000000000x2000000000_i8", "more than 1024 GiB"}});
  EXPECT_EQ(TransposeSpec::parse("matmul_1x1x1_f32t_f32t_f32t").status().code(), StatusCode::NotFound);
}

std::vector<std::string> namesOf(const measure::ProblemSelection &selection) {
  auto problems = TransposeFamily().problems(selection);
  EXPECT_TRUE(problems.ok()) << problems.status().message();
  std::vector<std::string> names;
  for (const auto &problem : *problems)
    names.push_back(problem->name());
  return names;
}

TEST(TransposeFamily, SelectsBySizesAndTypes) {
  using Names = std::vector<std::string>;
  // Three matrices in one order, a tensor of four dimensions in five; four types.
  EXPECT_EQ(namesOf({}).size(), 4U * (3 + 5));
  EXPECT_EQ(namesOf({{{"rows", {2}}, {"columns", {3, 5}}}, {"f32"}, {}}),
            (Names{"transpose_10_2x3_f32", "transpose_10_2x5_f32"}));
  EXPECT_EQ(namesOf({{{"permutation", {213, 10, 3210}}}, {"f16"}, {{2, 3, 4, 5}, {2, 3}}}),
            (Names{"transpose_0213_2x3x4x5_f16", "transpose_3210_2x3x4x5_f16", "transpose_10_2x3_f16"}));
  // Sizes and types of other families.
  EXPECT_EQ(namesOf({{}, {"f32"}, {{7}}}), Names{});
  EXPECT_EQ(namesOf({{{"columns", {5}}}, {"f32"}, {}}), Names{});
  EXPECT_EQ(namesOf({{{"rows", {5}}, {"columns", {5}}}, {"f64", "f16_f32"}, {}}), Names{});
  EXPECT_FALSE(TransposeFamily().isMeantBy({{{"m", {64}}}, {}, {}}));
  Status wrong = TransposeFamily().problems({{{"permutation", {12}}}, {}, {{2, 3, 4, 5}}}).status();
  EXPECT_NE(wrong.message().find("--problem-permutation: 12 fits no shape"), std::string::npos) << wrong.message();
}

TEST(TransposeFamily, ConfigurationsAreManyAndDifferent) {
  for (int64_t bits : {128, 256, 512})
    measure::expectConfigurations(transposeConfigurations(*TransposeSpec::parse("transpose_10_1000x1001_f32"), bits), 8,
                                  12);
  EXPECT_EQ(transposeConfigurations(*TransposeSpec::parse("transpose_10_1x1_f32"), 512).size(), 1U);
}

} // namespace
} // namespace kiln::families
