// Names, selections, programs.
#include "kiln/families/attention/workload/attention_family.h"

#include <gtest/gtest.h>

#include "kiln/families/families.h"
#include "kiln/measure/name_checks.h"

namespace kiln::families {
namespace {

AttentionSpec parsed(const std::string &name) {
  return *AttentionSpec::parse(name);
}

TEST(AttentionNames, ComeBackAsTheyWere) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  measure::expectNamesComeBack(registry,
                               {"attention_12x128x128x64x64_f32", "attention_1x1x1x1x1_bf16",
                                "attention_causal_3x37x131x40x24_f16", "attention_causal_8x512x512x64x64_bf16"});
}

TEST(AttentionNames, FieldsAreWhatTheNameSays) {
  AttentionProblem problem(parsed("attention_causal_3x4x6x5x7_f16"));
  std::vector<std::pair<std::string, std::string>> expected = {
      {"heads", "3"},       {"queries", "4"},   {"keys", "6"},   {"depth", "5"},
      {"value_depth", "7"}, {"mask", "causal"}, {"type", "f16"}, {"accumulator", "f32"}};
  EXPECT_EQ(problem.fields(), expected);
  ASSERT_EQ(problem.inputs().size(), 3U);
  EXPECT_EQ(problem.inputs()[0].shape, (std::vector<uint64_t>{3, 4, 5}));
  EXPECT_EQ(problem.inputs()[1].shape, (std::vector<uint64_t>{3, 6, 5}));
  EXPECT_EQ(problem.inputs()[2].shape, (std::vector<uint64_t>{3, 6, 7}));
  EXPECT_EQ(problem.outputs()[0].shape, (std::vector<uint64_t>{3, 4, 7}));
  EXPECT_EQ(problem.bytes(), 2.0 * 3 * (4 * 5 + 6 * 5 + 6 * 7 + 4 * 7));
  EXPECT_EQ(problem.passes(), (std::vector<std::string>{"means", "selection", "values"}));
}

// Of a triangle, the diagonal counts; rows below it see all keys.
TEST(AttentionNames, FlopsAreThoseOfPairsThatAreSeen) {
  double perPair = 2 * (5 + 7) + 5;
  EXPECT_EQ(AttentionProblem(parsed("attention_3x4x6x5x7_f32")).flops(), 3 * 24 * perPair);
  EXPECT_EQ(AttentionProblem(parsed("attention_causal_3x4x6x5x7_f32")).flops(), 3 * 10 * perPair);
  EXPECT_EQ(AttentionProblem(parsed("attention_causal_3x6x4x5x7_f32")).flops(), 3 * 18 * perPair);
}

TEST(AttentionNames, WhatIsMalformedIsSaid) {
  measure::expectMalformed(AttentionFamily(), {{"attention_1x2x3x4_f32", "has 4 sizes instead of 5"},
                                               {"attention_1x2x3x4x5", "it has 1 words"},
                                               {"attention_", "it has 1 words"},
                                               {"attention_causal", "it has 0 words"},
                                               {"attention_causal_1x2x3x4x5_f32_f32", "it has 3 words"},
                                               {"attention_masked_1x2x3x4x5_f32", "it has 3 words"},
                                               {"attention_0x2x3x4x5_f32", "sizes must be positive"},
                                               {"attention_1x2x03x4x5_f32", "leading zero"},
                                               {"attention_1x2x3x70000x5_f32", "a depth is at most 65536, not 70000"},
                                               {"attention_1x2x3x4x5_f64", "attention of f64 is not supported"},
                                               {"attention_1x2x3x4x5_f31", "'f31' is no element type"},
                                               {"attention_1x2000000x2000000x4x5_f16", "more than 1024 GiB"}});
  EXPECT_EQ(AttentionSpec::parse("matmul_1x1x1_f32t_f32t_f32t").status().code(), StatusCode::NotFound);
}

std::vector<std::string> namesOf(const measure::ProblemSelection &selection) {
  auto problems = AttentionFamily().problems(selection);
  EXPECT_TRUE(problems.ok()) << problems.status().message();
  std::vector<std::string> names;
  for (const auto &problem : *problems)
    names.push_back(problem->name());
  return names;
}

TEST(AttentionFamily, SelectsBySizesAndTypes) {
  using Names = std::vector<std::string>;
  // Three sizes with and without a mask, and one for a single query; three types.
  EXPECT_EQ(namesOf({}).size(), 3U * (3 * 2 + 1));
  EXPECT_EQ(namesOf({{{"heads", {2}}, {"queries", {3, 5}}, {"keys", {7}}, {"depth", {4}}}, {"f32"}, {}}),
            (Names{"attention_2x3x7x4x4_f32", "attention_causal_2x3x7x4x4_f32", "attention_2x5x7x4x4_f32",
                   "attention_causal_2x5x7x4x4_f32"}));
  EXPECT_EQ(namesOf({{{"heads", {2}}, {"queries", {1}}, {"keys", {7}}, {"depth", {4}}, {"value-depth", {6}}},
                     {"bf16", "i8"},
                     {}}),
            (Names{"attention_2x1x7x4x6_bf16"}));
  EXPECT_FALSE(AttentionFamily().isMeantBy({{{"m", {64}}}, {}, {}}));
  Status wrong = AttentionFamily().problems({{{"heads", {2}}, {"keys", {3}}}, {}, {}}).status();
  EXPECT_NE(wrong.message().find("together"), std::string::npos) << wrong.message();
}

// Both products are roots, and only these.
TEST(AttentionMlir, AConfigurationIsThatOfBothProducts) {
  std::string text = AttentionProblem(parsed("attention_2x3x7x4x4_f32")).mlir("f", "tile_config_2x3_4x1_fma_2x16");
  size_t count = 0;
  for (size_t at = text.find("kiln.configuration"); at != std::string::npos;
       at = text.find("kiln.configuration", at + 1))
    ++count;
  EXPECT_EQ(count, 2U);
  EXPECT_TRUE(
      AttentionFamily().configurations(AttentionProblem(parsed("attention_2x3x7x4x4_f32")), "llvm-cpu").empty());
}

} // namespace
} // namespace kiln::families
