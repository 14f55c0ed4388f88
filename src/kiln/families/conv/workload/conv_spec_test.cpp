#include "kiln/families/conv/workload/conv_spec.h"

#include <gtest/gtest.h>

namespace kiln::families {
namespace {

constexpr const char *kGood = "conv2d_nhwc_hwcf_1x56x57x64_3x5x32_s1x2_d1x1_p1x0_g4_f16_f16_f32";

std::string message(std::string_view name) {
  Result<ConvSpec> spec = ConvSpec::parse(name);
  return spec.ok() ? "ok" : std::string(spec.status().message());
}

TEST(ConvSpec, NamesComeBack) {
  for (const char *name : {kGood, "conv2d_nchw_fchw_8x224x224x3_7x7x64_s2x2_d1x1_p3x3_g1_f32_f32_f32",
                           "conv2d_nchw_fchw_1x7x7x6_3x3x6_s1x1_d2x2_p2x2_g6_i8_i8_i32",
                           "conv2d_nhwc_hwcf_1x1x1x1_1x1x1_s1x1_d1x1_p0x0_g1_bf16_bf16_bf16"}) {
    Result<ConvSpec> spec = ConvSpec::parse(name);
    ASSERT_TRUE(spec.ok()) << spec.status().toString();
    EXPECT_EQ(spec->name(), name);
    EXPECT_EQ(*ConvSpec::parse(spec->name()), *spec);
  }
}

TEST(ConvSpec, EachNumberHasItsPlace) {
  Result<ConvSpec> spec = ConvSpec::parse("conv2d_nchw_fchw_2x30x31x12_3x4x8_s5x6_d7x8_p9x10_g4_i8_i8_i32");
  ASSERT_TRUE(spec.ok()) << spec.status().toString();
  ConvSpec wanted{true, 2, 30, 31, 12, 3,  4, 8,
                  5,    6, 7,  8,  9,  10, 4, {ElementType::I8, ElementType::I8, ElementType::I32}};
  EXPECT_EQ(*spec, wanted);
}

TEST(ConvSpec, TensorsOfBothLayouts) {
  ConvSpec spec = *ConvSpec::parse(kGood);
  using Shape = std::vector<uint64_t>;
  EXPECT_EQ(spec.outputHeight(), 56U);
  EXPECT_EQ(spec.outputWidth(), 27U);
  EXPECT_EQ(spec.imageTensor(), (measure::TensorType{ElementType::F16, Shape{1, 56, 57, 64}}));
  EXPECT_EQ(spec.paddedTensor(), (measure::TensorType{ElementType::F16, Shape{1, 58, 57, 64}}));
  EXPECT_EQ(spec.filterTensor(), (measure::TensorType{ElementType::F16, Shape{3, 5, 16, 32}}));
  EXPECT_EQ(spec.resultTensor(), (measure::TensorType{ElementType::F32, Shape{1, 56, 27, 32}}));
  spec.channelsFirst = true;
  EXPECT_EQ(spec.imageTensor().shape, (Shape{1, 64, 56, 57}));
  EXPECT_EQ(spec.filterTensor().shape, (Shape{32, 16, 3, 5}));
  EXPECT_EQ(spec.resultTensor().shape, (Shape{1, 32, 56, 27}));
}

// Every mistake is an error that says which part of the name is wrong.
TEST(ConvSpec, MalformedNamesSayWhichPart) {
  const std::pair<const char *, const char *> cases[] = {
      {"conv2d_", "its layout '' is none of"},
      {"conv2d_nhwc_fhwc_1x5x5x1_3x3x1_s1x1_d1x1_p0x0_g1_f32_f32_f32", "its layout 'nhwc_fhwc' is none of nhwc_hwcf"},
      {"conv2d_nhwc_hwcf", "its image is missing"},
      {"conv2d_nhwc_hwcf_1x5x5_3x3x1_s1x1_d1x1_p0x0_g1_f32_f32_f32", "its image '1x5x5' has 3 of 4 numbers"},
      {"conv2d_nhwc_hwcf_1x5x5x01_3x3x1_s1x1_d1x1_p0x0_g1_f32_f32_f32", "'01' has a leading zero"},
      {"conv2d_nhwc_hwcf_1x5x5x-1_3x3x1_s1x1_d1x1_p0x0_g1_f32_f32_f32", "'-1' is no number"},
      {"conv2d_nhwc_hwcf_1x5x5x99999999999999999999_3x3x1_s1x1_d1x1_p0x0_g1_f32_f32_f32", "is too large"},
      {"conv2d_nhwc_hwcf_1x5x5x0_3x3x1_s1x1_d1x1_p0x0_g1_f32_f32_f32", "its number of channels must be positive"},
      {"conv2d_nhwc_hwcf_1x5x5x1_3x3_s1x1_d1x1_p0x0_g1_f32_f32_f32", "its filter '3x3' has 2 of 3 numbers"},
      {"conv2d_nhwc_hwcf_1x5x5x1_3x3x1_1x1_d1x1_p0x0_g1_f32_f32_f32", "its stride '1x1' does not start with 's'"},
      {"conv2d_nhwc_hwcf_1x5x5x1_3x3x1_s0x1_d1x1_p0x0_g1_f32_f32_f32", "its stride of rows must be positive"},
      {"conv2d_nhwc_hwcf_1x5x5x1_3x3x1_s1x1_d1_p0x0_g1_f32_f32_f32", "its dilation 'd1' has 1 of 2 numbers"},
      {"conv2d_nhwc_hwcf_1x5x5x1_3x3x1_s1x1_d1x1_q0x0_g1_f32_f32_f32", "its padding 'q0x0' does not start with 'p'"},
      {"conv2d_nhwc_hwcf_1x5x5x1_3x3x1_s1x1_d1x1_p0x0_f32_f32_f32", "its number of groups 'f32' does not start"},
      {"conv2d_nhwc_hwcf_1x5x5x1_3x3x1_s1x1_d1x1_p0x0_g1_f32_f32", "it has 2 of its 3 types"},
      {"conv2d_nhwc_hwcf_1x5x5x1_3x3x1_s1x1_d1x1_p0x0_g1_f32_x32_f32", "its filter type 'x32' is no element type"},
      {"conv2d_nhwc_hwcf_1x5x5x1_3x3x1_s1x1_d1x1_p0x0_g1_f32_f16_f32", "differ in type, f32 and f16"},
      {"conv2d_nhwc_hwcf_1x5x5x1_3x3x1_s1x1_d1x1_p0x0_g1_i8_i8_i8", "convolutions of i8 with results of i8"},
      {"conv2d_nhwc_hwcf_1x5x5x1_3x3x1_s1x1_d1x1_p0x0_g1_f32_f32_f32_accf16", "'accf16' is out of place"},
      {"conv2d_nhwc_hwcf_1x5x5x6_3x3x6_s1x1_d1x1_p0x0_g4_f32_f32_f32", "its 6 channels are not divisible by 4 groups"},
      {"conv2d_nhwc_hwcf_1x5x5x8_3x3x6_s1x1_d1x1_p0x0_g4_f32_f32_f32", "its 6 filters are not divisible by 4 groups"},
      {"conv2d_nhwc_hwcf_1x4x9x1_3x3x1_s1x1_d2x1_p0x0_g1_f32_f32_f32",
       "its output has no pixels: a filter reaches over 5 rows, and the image with its padding has 4"},
      {"conv2d_nhwc_hwcf_1x9x4x1_3x3x1_s1x1_d1x2_p0x0_g1_f32_f32_f32", "a filter reaches over 5 columns"},
      {"conv2d_nhwc_hwcf_1x2147483648x2147483648x1_3x3x1_s1x1_d1x1_p0x0_g1_f32_f32_f32", "more than 2^40 bytes"},
      {"conv2d_nhwc_hwcf_1x5x5x4294967296_3x3x1_s1x1_d1x1_p0x0_g1_f32_f32_f32", "it is at most 2^31"},
  };
  for (auto [name, part] : cases) {
    Result<ConvSpec> spec = ConvSpec::parse(name);
    ASSERT_FALSE(spec.ok()) << name;
    EXPECT_EQ(spec.status().code(), StatusCode::InvalidArgument) << name;
    EXPECT_NE(message(name).find(part), std::string::npos) << message(name);
    EXPECT_NE(message(name).find("the form is conv2d_"), std::string::npos);
  }
  EXPECT_EQ(ConvSpec::parse("matmul_1x1x1_f32t_f32t_f32t").status().code(), StatusCode::NotFound);
}

TEST(ConvSpec, Types) {
  EXPECT_EQ(*parseConvTypes("f16"), (ConvTypes{ElementType::F16, ElementType::F16, ElementType::F16}));
  EXPECT_EQ(*parseConvTypes("i8"), (ConvTypes{ElementType::I8, ElementType::I8, ElementType::I32}));
  EXPECT_EQ(*parseConvTypes("bf16_bf16_f32"), (ConvTypes{ElementType::BF16, ElementType::BF16, ElementType::F32}));
  EXPECT_EQ(parseConvTypes("f64").status().code(), StatusCode::Unimplemented);
  EXPECT_EQ(parseConvTypes("f32_f32").status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(parseConvTypes("f33").status().code(), StatusCode::InvalidArgument);
}

} // namespace
} // namespace kiln::families
