#include "kiln/families/matmul/workload/matmul_mlir.h"

#include <gtest/gtest.h>

namespace kiln::families {
namespace {

Result<MatmulSpec> parse(std::string_view name) {
  for (const char *family : {"matmul", "batch_matmul", "matmul_bias", "matmul_bias_relu", "matmul_bias_gelu",
                             "matmul_bias_gelu_tanh", "matmul_splitk"}) {
    Result<MatmulSpec> spec = MatmulSpec::parse(family, name);
    if (spec.ok() || spec.status().code() != StatusCode::NotFound)
      return spec;
  }
  return notFound("{}", name);
}

size_t count(std::string_view text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(MatmulMlir, ConfigurationStandsOnTheProductAlone) {
  for (const char *types : {"f32", "f16", "i8", "f16t_f16n_f16t"}) {
    Result<MatmulSpec> spec = parseMatmulTypes(types);
    ASSERT_TRUE(spec.ok());
    std::string with = matmulMlir(*spec, "f", "tile_config_1x1_1x1_fma"), without = matmulMlir(*spec, "f", "");
    std::string attribute = "    {kiln.configuration = \"tile_config_1x1_1x1_fma\"}\n";
    size_t at = with.find(attribute);
    ASSERT_NE(at, std::string::npos) << with;
    EXPECT_LT(with.find("linalg.matmul"), at);
    EXPECT_GT(with.find("ins(%lhs, %rhs"), at);
    EXPECT_EQ(with.erase(at, attribute.size()), without);
  }
}

// Slices that come one after the other are a product each, and so is a last slice that is shorter than the others.
TEST(MatmulMlir, ConfigurationStandsOnEachSlice) {
  struct Case {
    const char *name;
    size_t products;
  };
  for (const Case &test : {Case{"matmul_2x3x4_f16n_f16t_f16t_accf16", 1}, Case{"matmul_bias_2x3x4_f32t_f32t_f32t", 1},
                           Case{"matmul_splitk_serial_4_2x3x9_f32t_f32t_f32t_partf32", 4},
                           Case{"matmul_splitk_parallel_4_2x3x8_f32t_f32n_f32t_partf32", 1},
                           Case{"matmul_splitk_parallel_4_2x3x9_f16t_f16n_f32t_partf16", 2},
                           Case{"matmul_splitk_parallel_1_2x3x9_f32t_f32t_f32t_partf32", 1}}) {
    Result<MatmulSpec> spec = parse(test.name);
    ASSERT_TRUE(spec.ok()) << spec.status().toString();
    std::string text = matmulMlir(*spec, "f", "tile_config_1x1_1x1_fma");
    EXPECT_EQ(count(text, "kiln.configuration"), test.products) << text;
    EXPECT_EQ(count(text, "(%lhs, %rhs"), test.products) << text;
  }
}

TEST(MatmulMlir, SumsAreInTheAccumulatorsType) {
  struct Case {
    const char *types, *sum;
    bool rounds;
  };
  for (const Case &test :
       {Case{"f32", "f32", false}, Case{"f16", "f32", true}, Case{"f16t_f16t_f32t", "f32", false},
        Case{"bf16", "f32", true}, Case{"f16t_f16t_f16t_accf16", "f16", true}, Case{"i8", "i32", false}}) {
    Result<MatmulSpec> spec = parseMatmulTypes(test.types);
    ASSERT_TRUE(spec.ok());
    std::string text = matmulMlir(*spec, "f", "");
    EXPECT_NE(text.find(fmt::format("outs(%zeros : tensor<1x1x{}>)", test.sum)), std::string::npos) << text;
    EXPECT_EQ(text.find("arith.truncf") != std::string::npos, test.rounds) << text;
  }
}

} // namespace
} // namespace kiln::families
