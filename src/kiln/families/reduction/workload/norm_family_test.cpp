// Names and selections.
#include "kiln/families/reduction/workload/norm_family.h"

#include <gtest/gtest.h>

#include "kiln/families/families.h"
#include "kiln/measure/name_checks.h"

namespace kiln::families {
namespace {

TEST(NormNames, ComeBackAsTheyWere) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  measure::expectNamesComeBack(registry, {"layer_norm_1000x1024_f32", "rms_norm_1x7_bf16", "layer_norm_3x1_f16"});
}

TEST(NormNames, FieldsAreWhatTheNameSays) {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  NormProblem layer(*NormSpec::parse("layer_norm", "layer_norm_3x1001_f16"));
  EXPECT_EQ(
      layer.fields(),
      (Fields{{"rows", "3"}, {"columns", "1001"}, {"type", "f16"}, {"epsilon", "1e-05"}, {"accumulator", "f32"}}));
  EXPECT_EQ(layer.inputs().size(), 3U);
  EXPECT_EQ(layer.flops(), 7 * 3003);
  EXPECT_EQ(layer.bytes(), 2 * (2 * 3003 + 2 * 1001));
  NormProblem rms(*NormSpec::parse("rms_norm", "rms_norm_3x1001_f32"));
  EXPECT_EQ(rms.inputs().size(), 2U);
  EXPECT_EQ(rms.flops(), 4 * 3003);
}

TEST(NormNames, WhatIsMalformedIsSaid) {
  measure::expectMalformed(NormFamily(true), {{"layer_norm_4x4", "it has 1 words"},
                                              {"layer_norm_4_f32", "1 sizes instead of 2"},
                                              {"layer_norm_4x04_f32", "leading zero"},
                                              {"layer_norm_4x4_i8", "a norm of i8 is not supported"},
                                              {"layer_norm_4x4_f31", "'f31' is no element type"},
                                              {"layer_norm_2000000000x2000000000_f32", "more than 1024 GiB"}});
  EXPECT_EQ(NormFamily(false).parse("layer_norm_4x4_f32").status().code(), StatusCode::NotFound);
}

TEST(NormFamily, SelectsBySizesAndTypes) {
  auto count = [](const measure::ProblemSelection &selection) {
    auto problems = NormFamily(false).problems(selection);
    EXPECT_TRUE(problems.ok()) << problems.status().message();
    return problems.ok() ? problems->size() : 0;
  };
  EXPECT_EQ(count({}), 9U);
  EXPECT_EQ(count({{{"rows", {2, 3}}, {"columns", {5}}}, {"f32", "i8", "f16_f32"}, {}}), 2U);
  EXPECT_EQ(count({{{"columns", {5}}}, {}, {}}), 0U);
  EXPECT_FALSE(NormFamily(true).problems({{{"rows", {5}}}, {}, {}}).ok());
  EXPECT_GE(NormFamily(true).configurations(**NormFamily(true).parse("layer_norm_1000x1024_f32"), "llvm-cpu").size(),
            8U);
}

} // namespace
} // namespace kiln::families
