#include "kiln/families/matmul/workload/quantized_spec.h"

#include <gtest/gtest.h>

#include "kiln/families/matmul/workload/quantized_family.h"
#include "kiln/measure/name_checks.h"

namespace kiln::families {
namespace {

TEST(QuantizedSpec, NamesComeBack) {
  measure::FamilyRegistry registry;
  registerQuantizedFamily(registry);
  measure::expectNamesComeBack(
      registry, {"qmatmul_256x512x128_i8t_i8n_i32t_za3_zbm5", "qmatmul_1x1x1_i8n_i8t_i32t_zam128_zb127",
                 "qmatmul_3x5x7_ui8t_i8t_i32t_za255_zb0", "qmatmul_3x5x7_i8t_i8t_i8t_za3_zbm5_zc7_percolumn",
                 "qmatmul_3x5x7_ui8n_i8n_ui8t_za128_zb0_zc255_pertensor"});
}

TEST(QuantizedSpec, MalformedNamesSayWhatIsWrong) {
  measure::expectMalformed(
      QuantizedFamily(),
      {{"qmatmul_3x5_i8t_i8t_i32t_za0_zb0", "'3x5' has 2 sizes instead of 3"},
       {"qmatmul_3x5x0_i8t_i8t_i32t_za0_zb0", "sizes must be positive"},
       {"qmatmul_3x5x7_i8t_i8t", "it has 2 of its 3 matrices"},
       {"qmatmul_3x5x7_i8_i8t_i32t_za0_zb0", "'i8' lacks its layout"},
       {"qmatmul_3x5x7_i8t_i8t_i32t", "0 words follow its matrices instead of 2"},
       {"qmatmul_3x5x7_i8t_i8t_i32t_za0", "1 words follow its matrices instead of 2"},
       {"qmatmul_3x5x7_i8t_i8t_i32t_za0_zb0_zc0_pertensor", "4 words follow its matrices instead of 2"},
       {"qmatmul_3x5x7_i8t_i8t_i32t_zb0_za0", "'zb0' stands where its zero point za belongs"},
       {"qmatmul_3x5x7_i8t_i8t_i32t_za128_zb0", "the zero point of lhs is 128; i8 has -128 to 127"},
       {"qmatmul_3x5x7_ui8t_i8t_i32t_zam1_zb0", "the zero point of lhs is -1; ui8 has 0 to 255"},
       {"qmatmul_3x5x7_i8t_i8t_i32t_za0_zbm129", "the zero point of rhs is -129; i8 has -128 to 127"},
       {"qmatmul_3x5x7_i8t_i8t_i32t_za256_zb0", "'za256' is no zero point"},
       {"qmatmul_3x5x7_i8t_i8t_i32t_za-3_zb0", "'-3' is no zero point"},
       {"qmatmul_3x5x7_i8t_i8t_i32t_za03_zb0", "leading zero"},
       {"qmatmul_3x5x7_i8t_i8t_i32t_zam0_zb0", "'zam0' is written za0"},
       {"qmatmul_3x5x7_i8t_i8t_i32t_za_zb0", "'' is no zero point"},
       {"qmatmul_3x5x7_f32t_f32t_f32t_za0_zb0_zc0_pertensor", "products of f32 and f32 are not supported"},
       {"qmatmul_3x5x7_i8t_ui8t_i32t_za0_zb0", "products of i8 and ui8 are not supported"},
       {"qmatmul_3x5x7_i8t_i8t_ui8t_za0_zb0_zc0_pertensor", "results of ui8 are not supported"},
       {"qmatmul_3x5x7_i8t_i8t_i8t_za0_zb0_zc200_pertensor", "the zero point of the result is 200"},
       {"qmatmul_3x5x7_i8t_i8t_i8t_za0_zb0_zc0_perrow", "'perrow' is neither pertensor nor percolumn"},
       {"qmatmul_3x5x7_i8t_i8t_i32n_za0_zb0", "its result is column-major"},
       {"qmatmul_1000000000x1000000000x1_i8t_i8t_i32t_za0_zb0", "GiB"}});
}

TEST(QuantizedSpec, OtherNamesAreOthers) {
  for (const char *name : {"matmul_3x5x7_i8t_i8t_i32t", "qmatmuls_3x5x7", "qmatmul", ""})
    EXPECT_EQ(QuantizedSpec::parse(name).status().code(), StatusCode::NotFound) << name;
}

TEST(QuantizedSpec, TensorsAreWhatTheNameSays) {
  Result<QuantizedSpec> spec = QuantizedSpec::parse("qmatmul_3x5x7_ui8n_i8n_ui8t_za128_zbm5_zc9_percolumn");
  ASSERT_TRUE(spec.ok());
  using Tensors = std::vector<measure::TensorType>;
  EXPECT_EQ(spec->inputs(), (Tensors{{ElementType::UI8, {7, 3}}, {ElementType::I8, {5, 7}}, {ElementType::F32, {5}}}));
  EXPECT_EQ(spec->resultTensor(), (measure::TensorType{ElementType::UI8, {3, 5}}));
  EXPECT_EQ(spec->lhsZero, 128);
  EXPECT_EQ(spec->rhsZero, -5);
  EXPECT_EQ(spec->resultZero, 9);
  spec = QuantizedSpec::parse("qmatmul_3x5x7_i8t_i8t_i8t_za1_zb2_zc3_pertensor");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->inputs()[2], (measure::TensorType{ElementType::F32, {}}));
}

} // namespace
} // namespace kiln::families
