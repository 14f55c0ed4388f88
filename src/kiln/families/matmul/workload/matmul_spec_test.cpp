#include "kiln/families/matmul/workload/matmul_spec.h"

#include <gtest/gtest.h>

namespace kiln::families {
namespace {

std::string_view familyOf(std::string_view name) {
  for (const char *family : {"batch_matmul", "matmul_bias_relu", "matmul_bias_gelu_tanh", "matmul_bias_gelu",
                             "matmul_bias", "matmul_splitk"})
    if (name.starts_with(family))
      return family;
  return "matmul";
}

std::string errorOf(std::string_view name) {
  Result<MatmulSpec> spec = MatmulSpec::parse(familyOf(name), name);
  return spec.ok() ? "parsed as " + spec->name() : spec.status().toString();
}

TEST(MatmulSpec, NamesComeBackAsTheyWere) {
  for (std::string_view name : {
           "matmul_256x512x128_f32t_f32t_f32t",
           "matmul_3456x1024x2048_f16t_f16t_f16t",
           "matmul_1x1x1_f16n_f16t_f32t",
           "matmul_7x5x3_bf16n_bf16n_bf16t",
           "matmul_7x5x3_bf16t_bf16n_f32t",
           "matmul_7x5x3_i8t_i8n_i32t",
           "matmul_7x5x3_f16t_f16n_f16t_accf16",
           "batch_matmul_16x512x64x512_f16t_f16t_f16t",
           "batch_matmul_1x512x64x512_f16n_f16n_f16t_accf16",
           "matmul_bias_256x512x128_f32t_f32t_f32t",
           "matmul_bias_relu_7x5x3_bf16n_bf16t_bf16t",
           "matmul_bias_gelu_7x5x3_f16t_f16t_f16t_accf16",
           "matmul_bias_gelu_tanh_7x5x3_f32t_f32t_f32t",
           "matmul_splitk_serial_4_128x128x12288_f32t_f32t_f32t_partf32",
           "matmul_splitk_parallel_18_128x128x12288_f16t_f16n_f16t_partf16",
           "matmul_splitk_parallel_1_7x5x3_bf16t_bf16t_f32t_partf32",
           "matmul_splitk_serial_3_7x5x3_i8t_i8t_i32t_parti32",
       }) {
    Result<MatmulSpec> spec = MatmulSpec::parse(familyOf(name), name);
    ASSERT_TRUE(spec.ok()) << spec.status().toString();
    EXPECT_EQ(spec->name(), name);
  }
}

TEST(MatmulSpec, SpecsComeBackAsTheyWere) {
  for (const char *types : {"f32", "f16", "bf16", "i8", "f16t_f16t_f32t", "f16t_f16t_f16t_accf16"})
    for (bool batched : {false, true})
      for (bool lhs : {false, true})
        for (bool rhs : {false, true}) {
          Result<MatmulSpec> spec = parseMatmulTypes(types);
          ASSERT_TRUE(spec.ok()) << spec.status().toString();
          spec->batched = batched;
          spec->batch = batched ? 11 : 1;
          spec->m = 12, spec->n = 13, spec->k = 14;
          spec->lhs.columnMajor = lhs, spec->rhs.columnMajor = rhs;
          Result<MatmulSpec> parsed = MatmulSpec::parse(spec->family(), spec->name());
          ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
          EXPECT_EQ(*parsed, *spec) << spec->name();
        }
}

TEST(MatmulSpec, FieldsAreWhatTheNameSays) {
  Result<MatmulSpec> spec = MatmulSpec::parse("batch_matmul", "batch_matmul_2x3x4x5_f16n_f16t_f32t");
  ASSERT_TRUE(spec.ok());
  EXPECT_TRUE(spec->batched);
  EXPECT_EQ(spec->batch, 2U);
  EXPECT_EQ(spec->m, 3U);
  EXPECT_EQ(spec->n, 4U);
  EXPECT_EQ(spec->k, 5U);
  EXPECT_EQ(spec->accumulator, ElementType::F32);
  EXPECT_EQ(spec->lhsTensor(), (measure::TensorType{ElementType::F16, {2, 5, 3}}));
  EXPECT_EQ(spec->rhsTensor(), (measure::TensorType{ElementType::F16, {2, 5, 4}}));
  EXPECT_EQ(spec->resultTensor(), (measure::TensorType{ElementType::F32, {2, 3, 4}}));
}

TEST(MatmulSpec, EpiloguesAndSplitsAreWhatTheNameSays) {
  Result<MatmulSpec> fused = MatmulSpec::parse("matmul_bias_gelu", "matmul_bias_gelu_3x4x5_f16t_f16t_f32t");
  ASSERT_TRUE(fused.ok());
  EXPECT_EQ(fused->epilogue, Epilogue::BiasGelu);
  EXPECT_EQ(fused->biasTensor(), (measure::TensorType{ElementType::F32, {4}}));
  Result<MatmulSpec> split = MatmulSpec::parse("matmul_splitk", "matmul_splitk_serial_3_4x5x16_f16t_f16t_f32t_partf16");
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split->split, SplitK::Serial);
  EXPECT_EQ(split->slices, 3U);
  EXPECT_EQ(split->partials, ElementType::F16);
  EXPECT_EQ(split->accumulator, ElementType::F32);
  EXPECT_EQ(split->promisedAccumulator(), ElementType::F16);
  EXPECT_EQ(fused->promisedAccumulator(), ElementType::F32);
}

TEST(MatmulSpec, SlicesMakeUpTheReduction) {
  MatmulSpec spec = *MatmulSpec::ofFamily("matmul_splitk");
  for (spec.k = 1; spec.k < 50; ++spec.k)
    for (spec.slices = 1; spec.slices <= spec.k; ++spec.slices) {
      ASSERT_GE(spec.sliceLength(), 1U);
      ASSERT_LT((spec.slices - 1) * spec.sliceLength(), spec.k);
      ASSERT_EQ((spec.slices - 1) * spec.sliceLength() + spec.lastSlice(), spec.k);
      if (spec.k % spec.slices == 0) {
        ASSERT_EQ(spec.lastSlice(), spec.sliceLength());
      }
    }
  spec.k = 12288, spec.slices = 18;
  EXPECT_EQ(spec.sliceLength(), 683U);
  EXPECT_EQ(spec.lastSlice(), 677U);
  // Two each would be five slices.
  spec.k = 10, spec.slices = 6;
  EXPECT_EQ(spec.sliceLength(), 1U);
  EXPECT_EQ(spec.lastSlice(), 5U);
}

TEST(MatmulSpec, NamesOfOthersAreNotFound) {
  for (std::string_view name : {"", "matmul", "matmul_", "matmul_splitk_128x128x12288_f32t_f32t_f32t", "matmul2_3",
                                "conv2d_1x1", "batch_matmul_2x3x4x5_f32t_f32t_f32t"}) {
    Result<MatmulSpec> spec = MatmulSpec::parse("matmul", name);
    ASSERT_FALSE(spec.ok()) << name;
    EXPECT_EQ(spec.status().code(), StatusCode::NotFound) << name;
  }
}

TEST(MatmulSpec, MalformedNamesAreRejectedWithTheirFault) {
  struct Case {
    const char *name, *fault;
  };
  for (const Case &test : {
           Case{"matmul_256x512_f32t_f32t_f32t", "its shape '256x512' has 2 sizes instead of 3"},
           Case{"matmul_2x3x4x5_f32t_f32t_f32t", "4 sizes instead of 3"},
           Case{"batch_matmul_3x4x5_f32t_f32t_f32t", "3 sizes instead of 4"},
           Case{"matmul_2x3x_f32t_f32t_f32t", "'' is no size"},
           Case{"matmul_2x0x4_f32t_f32t_f32t", "sizes must be positive"},
           Case{"matmul_2x-3x4_f32t_f32t_f32t", "'-3' is no size"},
           Case{"matmul_2x03x4_f32t_f32t_f32t", "'03' has a leading zero"},
           Case{"matmul_2x3.5x4_f32t_f32t_f32t", "'3.5' is no size"},
           Case{"matmul_2x99999999999999999999x4_f32t_f32t_f32t", "too large"},
           Case{"matmul_1048576x1x1048576_f32t_f32t_f32t", "its lhs would have more than 2^40 bytes"},
           Case{"matmul_1048576x1048576x1_f16t_f16t_f16t", "its result would have more than 2^40 bytes"},
           Case{"matmul_18446744073709551615x18446744073709551615x1_f16t_f16t_f16t", "at most 2^31"},
           Case{"matmul_1x2147483649x1_i8t_i8t_i32t", "its rhs has a size of 2147483649; sizes are at most 2^31"},
           Case{"matmul_2x3x4", "it has 0 of its 3 matrices"},
           Case{"matmul_2x3x4_f32t_f32t", "it has 2 of its 3 matrices"},
           Case{"matmul_2x3x4_f32_f32t_f32t", "'f32' lacks its layout"},
           Case{"matmul_2x3x4_f32x_f32t_f32t", "'x' is no layout"},
           Case{"matmul_2x3x4_q8t_f32t_f32t", "'q8t' is no matrix"},
           Case{"matmul_2x3x4_é_f32t_f32t", "is no matrix"},
           Case{"matmul_2x3x4__f32t_f32t", "'' is no matrix"},
           Case{"matmul_2x3x4_f32t_f16t_f32t", "operands differ in type, f32 and f16"},
           Case{"matmul_2x3x4_f32t_f32t_f16t", "products of f32 with results of f16 are not supported"},
           Case{"matmul_2x3x4_f64t_f64t_f64t", "not supported"},
           Case{"matmul_2x3x4_i8t_i8t_i8t", "not supported"},
           Case{"matmul_2x3x4_f32t_f32t_f32n", "result is column-major"},
           Case{"matmul_2x3x4_f32t_f32t_f32t_accf16", "sums can be kept in f16 only where"},
           Case{"matmul_2x3x4_f16t_f16t_f32t_accf16", "sums can be kept in f16 only where"},
           Case{"matmul_2x3x4_f16t_f16t_f16t_accf32", "'accf32' is out of place"},
           Case{"matmul_2x3x4_f16t_f16t_f16t_", "'' is out of place"},
           Case{"matmul_2x3x4_f32t_f32t_f32t_tile_config_1x1_1x1_fma", "'tile' is out of place"},
           Case{"matmul_2x3x4_f32t_f32t_f32t_partf32", "'partf32' is out of place"},
           Case{"matmul_bias_2x3x4_i8t_i8t_i32t", "products of floats; i8 is not supported"},
           Case{"matmul_bias_2x3x4_f32t_f32t_f32t_f32t", "'f32t' is out of place"},
           Case{"matmul_splitk_128x128x12288_f32t_f32t_f32t", "'128x128x12288' is neither serial nor parallel"},
           Case{"matmul_splitk_serial", "it lacks its number of slices"},
           Case{"matmul_splitk_serial_4", "it lacks its shape"},
           Case{"matmul_splitk_serial_2x3x4_f32t_f32t_f32t_partf32", "'2x3x4' is no size"},
           Case{"matmul_splitk_serial_0_2x3x4_f32t_f32t_f32t_partf32", "sizes must be positive"},
           Case{"matmul_splitk_serial_5_2x3x4_f32t_f32t_f32t_partf32", "a reduction of 4 cannot be cut into 5 slices"},
           Case{"matmul_splitk_serial_2000_2x3x4000_f32t_f32t_f32t_partf32", "there can be 1 to 1024"},
           Case{"matmul_splitk_serial_2_2x3x4_f32t_f32t_f32t", "does not say what partial products are kept in"},
           Case{"matmul_splitk_serial_2_2x3x4_f32t_f32t_f32t_accf16", "'accf16' is out of place"},
           Case{"matmul_splitk_serial_2_2x3x4_f32t_f32t_f32t_partq8", "'partq8' is no type of partial products"},
           Case{"matmul_splitk_serial_2_2x3x4_f32t_f32t_f32t_partf16", "of f32 cannot be kept in f16"},
           Case{"matmul_splitk_serial_2_2x3x4_i8t_i8t_i32t_partf32", "of i8 cannot be kept in f32"},
           Case{"matmul_splitk_serial_2_2x3x4_f16t_f16t_f16t_partf16_accf16", "'accf16' is out of place"},
       })
    EXPECT_NE(errorOf(test.name).find(test.fault), std::string::npos) << test.name << ": " << errorOf(test.name);
}

TEST(MatmulSpec, ErrorsShowTheForm) {
  EXPECT_EQ(errorOf("batch_matmul_3_f32t_f32t_f32t"),
            "INVALID_ARGUMENT: 'batch_matmul_3_f32t_f32t_f32t' is no problem: its shape '3' has 1 sizes instead of 4; "
            "the form is batch_matmul_BxMxNxK_lhs_rhs_result[_accf16], like "
            "batch_matmul_16x256x512x128_f32t_f32t_f32t");
}

TEST(MatmulSpec, EveryPrefixIsRejectedOrComesBack) {
  for (std::string name : {"batch_matmul_16x512x64x512_f16t_f16n_f16t_accf16",
                           "matmul_splitk_parallel_16_512x64x512_f16t_f16n_f16t_partf16"})
    for (size_t length = 0; length <= name.size(); ++length) {
      Result<MatmulSpec> spec = MatmulSpec::parse(familyOf(name), name.substr(0, length));
      if (spec.ok()) {
        EXPECT_EQ(spec->name(), name.substr(0, length));
      }
    }
}

TEST(MatmulSpec, TypesAreElementTypesOrMatrices) {
  Result<MatmulSpec> i8 = parseMatmulTypes("i8");
  ASSERT_TRUE(i8.ok());
  EXPECT_EQ(i8->name(), "matmul_1x1x1_i8t_i8t_i32t");
  Result<MatmulSpec> full = parseMatmulTypes("f16t_f16n_f16t_accf16");
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(full->name(), "matmul_1x1x1_f16t_f16n_f16t_accf16");
  EXPECT_EQ(parseMatmulTypes("f16", "matmul_splitk")->partials, ElementType::F32);
  EXPECT_EQ(parseMatmulTypes("i8", "matmul_splitk")->partials, ElementType::I32);
  EXPECT_EQ(parseMatmulTypes("f16t_f16n_f16t_partf16", "matmul_splitk")->partials, ElementType::F16);
  EXPECT_EQ(parseMatmulTypes("i8", "matmul_bias").status().code(), StatusCode::Unimplemented);
  EXPECT_EQ(parseMatmulTypes("f64").status().code(), StatusCode::Unimplemented);
  EXPECT_EQ(parseMatmulTypes("f16t_f16n").status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(parseMatmulTypes("float").status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(parseMatmulTypes("").status().code(), StatusCode::InvalidArgument);
}

} // namespace
} // namespace kiln::families
