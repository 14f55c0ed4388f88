// Convolutions of all types and layouts by a library that proposes engines, on a simulated GPU, against the exact
// checks of the lab.
#include "kiln/measure/providers/cudnn/cudnn_provider.h"
#include "kiln/measure/providers/testing/fake_cudnn.h"
#include "kiln/measure/providers/testing/gpu_provider_test.h"

namespace kiln::measure {
namespace {

using testing::FakeEngine;
using testing::FakeProposals;
using verify::Verdict;

class CudnnTest : public testing::GpuProviderTest {
protected:
  void load(const std::string &name, bool tf32 = false, bool inTF32 = false) {
    GpuProviderTest::load(name, createCudnnProvider(testing::fakeCudnn, tf32), inTF32);
  }

  void TearDown() override {
    EXPECT_EQ(testing::fakeCudnnMisuse(), "");
    provider.reset();
    EXPECT_EQ(testing::fakeCudnnObjects(), 0);
    testing::fakeProposals = FakeProposals::All;
  }
};

constexpr const char *kTypes[] = {"f16_f16_f16", "f16_f16_f32", "bf16_bf16_bf16", "bf16_bf16_f32", "f32_f32_f32"};
constexpr const char *kLayouts[] = {"nhwc_hwcf", "nchw_fchw"};

TEST_F(CudnnTest, AllTypesAndLayoutsAreRight) {
  // Plain, with groups and steps of all kinds, depthwise, one filter, and of one pixel.
  for (const char *shape :
       {"2x7x6x5_3x2x4_s1x1_d1x1_p0x0_g1", "1x9x8x6_3x2x4_s2x1_d1x2_p1x2_g2", "2x5x5x6_3x3x6_s1x2_d1x1_p1x1_g6",
        "1x6x5x3_3x3x1_s1x1_d2x1_p2x0_g1", "3x1x1x8_1x1x5_s1x1_d1x1_p0x0_g1", "1x4x4x3_2x2x6_s1x1_d1x1_p0x0_g3"})
    for (const char *layout : kLayouts)
      for (const char *types : kTypes) {
        const std::string name = fmt::format("conv2d_{}_{}_{}", layout, shape, types);
        load(name);
        ASSERT_TRUE(loaded.ok()) << name << ": " << loaded.message();
        Verdict found = verdict();
        EXPECT_TRUE(found.ok()) << name << ": " << found.explanation;
        ASSERT_EQ(testing::fakeCudnnMisuse(), "") << name;
      }
}

// Tensor cores add f16 up in f32, and make tf32 of f32.
TEST_F(CudnnTest, OfPreciseEnginesTheFastestIsTaken) {
  for (const char *layout : kLayouts)
    for (auto [types, tf32, engine] : {std::tuple("f16_f16_f16", false, FakeEngine::TensorCores),
                                       std::tuple("bf16_bf16_f32", false, FakeEngine::TensorCores),
                                       std::tuple("f32_f32_f32", false, FakeEngine::Plain),
                                       std::tuple("f32_f32_f32", true, FakeEngine::TensorCores)}) {
      load(fmt::format("conv2d_{}_1x7x6x4_3x3x8_s1x1_d1x1_p1x1_g1_{}", layout, types), tf32);
      ASSERT_TRUE(loaded.ok()) << loaded.message();
      ASSERT_TRUE(provider->call(1).ok());
      EXPECT_EQ(testing::lastEngine(), engine) << layout << " " << types << " " << tf32;
    }
}

TEST_F(CudnnTest, WhereHeuristicsProposeNothingThatRunsItFallsBack) {
  const std::string name = "conv2d_nchw_fchw_1x7x6x4_3x3x8_s1x1_d1x1_p1x1_g1_f16_f16_f16";
  testing::fakeProposals = FakeProposals::InFallback;
  load(name);
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  EXPECT_TRUE(verdict().ok());
  EXPECT_EQ(testing::lastEngine(), FakeEngine::Plain);
  testing::fakeProposals = FakeProposals::None;
  load(name);
  EXPECT_EQ(loaded.code(), StatusCode::Unimplemented) << loaded.message();
}

// f32 is f32 unless tf32 was asked for, and then the checks tell it, unless tf32 is what the problem promises.
TEST_F(CudnnTest, Tf32IsNotF32) {
  for (const char *layout : kLayouts) {
    const std::string name = fmt::format("conv2d_{}_1x7x6x16_3x3x8_s1x1_d1x1_p1x1_g2_f32_f32_f32", layout);
    load(name, /*tf32=*/true, /*inTF32=*/true);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    Verdict right = verdict();
    EXPECT_TRUE(right.ok()) << right.explanation;
    EXPECT_NE(right.method.find("; products in tf32"), std::string::npos) << right.method;
    load(name, /*tf32=*/true);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    EXPECT_EQ(verdict().cause, verify::Cause::NarrowedInputs);
  }
}

// A filter of nhwc_hwcf is brought elsewhere before calls, and again when it has changed before a run; no other input
// is.
TEST_F(CudnnTest, OnlyWeightsArePrepared) {
  const std::string last = "conv2d_nhwc_hwcf_1x7x6x4_3x3x8_s1x1_d1x1_p1x1_g1_f32_f32_f32",
                    first = "conv2d_nchw_fchw_1x7x6x4_3x3x8_s1x1_d1x1_p1x1_g1_f32_f32_f32",
                    oneFilter = "conv2d_nhwc_hwcf_1x7x6x4_3x3x1_s1x1_d1x1_p1x1_g1_f32_f32_f32";
  for (const auto &[name, prepares] : {std::pair(last, true), std::pair(first, false), std::pair(oneFilter, false)}) {
    declaresWeights = true;
    load(name);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    EXPECT_EQ(provider->preparedWeights(), prepares) << name;
    declaresWeights = false;
    load(name);
    EXPECT_EQ(loaded.code(), prepares ? StatusCode::Unimplemented : StatusCode::Ok) << loaded.message();
  }
}

TEST_F(CudnnTest, WhatItDoesNotComputeIsSaid) {
  for (const auto &[name, tf32, why] :
       {std::tuple("conv2d_nchw_fchw_1x7x6x4_3x3x8_s1x1_d1x1_p1x1_g1_i8_i8_i32", false, "no such convolution"),
        std::tuple("matmul_17x9x21_f16t_f16t_f16t", false, "computes conv2d; not matmul"),
        std::tuple("conv2d_nchw_fchw_1x7x6x4_3x3x8_s1x1_d1x1_p1x1_g1_f16_f16_f16", true, "tf32 is for f32")}) {
    load(name, tf32);
    EXPECT_EQ(loaded.code(), StatusCode::Unimplemented) << name;
    EXPECT_NE(loaded.message().find(why), std::string_view::npos) << loaded.message();
  }
  std::unique_ptr<Provider> onCpu = createCudnnProvider(testing::fakeCudnn, false);
  EXPECT_EQ(onCpu->start(1).code(), StatusCode::Unimplemented);
}

} // namespace
} // namespace kiln::measure
