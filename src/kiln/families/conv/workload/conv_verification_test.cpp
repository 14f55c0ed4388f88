// A right result passes in all forms; mistakes are found and named.
#include "kiln/families/conv/workload/conv_verification.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "kiln/base/narrow_float.h"
#include "kiln/families/conv/workload/conv_family.h"
#include "kiln/measure/problem_trial.h"
#include "kiln/measure/verify/real.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::families {
namespace {

using measure::verify::Cause;
using measure::verify::Verdict;

// A problem with its tensors.
class Data {
public:
  explicit Data(std::string_view name, bool tf32 = false) : problem(specOf(name, tf32)) {
    for (const measure::TensorType &type : problem.inputs())
      inputs.push_back(*io::HostTensor::zeros(type.type, type.shape));
    outputs.push_back(*io::HostTensor::zeros(problem.outputs()[0].type, problem.outputs()[0].shape));
  }

  Status fill(size_t pass, uint64_t seed) {
    problem.prefillOutputs(pass, views(outputs));
    return problem.fillInputs(pass, seed, views(inputs));
  }
  Status compute() { return problem.reference(spans(inputs), views(outputs)); }
  void takeOutput(const Data &other) { std::ranges::copy(other.outputs[0].bytes(), outputs[0].bytes().begin()); }
  // As a program computes that cuts its inputs off to tf32.
  Status computeInTF32() {
    std::vector<std::vector<uint8_t>> kept;
    for (io::HostTensor &input : inputs) {
      kept.emplace_back(input.bytes().begin(), input.bytes().end());
      measure::verify::keepTF32(input.bytes());
    }
    Status status = compute();
    for (size_t i = 0; i < kept.size(); ++i)
      std::ranges::copy(kept[i], inputs[i].bytes().begin());
    return status;
  }
  // Whether the output passes for that of a timed call.
  bool passesTimed(const measure::Problem &other) const {
    return other.timedCheck(spans(inputs), 3)->check(spans(outputs)).ok();
  }
  Verdict check(size_t pass, uint64_t seed) const {
    return measure::checkProblem(problem, pass, seed, spans(inputs), spans(outputs));
  }

  double get(uint64_t element) const {
    const io::HostTensor &out = outputs[0];
    return io::elementAsDouble(out.type(), out.bytes().data() + element * hal::elementTypeByteSize(out.type()));
  }
  void set(uint64_t element, double value) {
    io::HostTensor &out = outputs[0];
    uint8_t *bytes = out.bytes().data() + element * hal::elementTypeByteSize(out.type());
    if (out.type() == ElementType::I32)
      EXPECT_TRUE(io::parseElement(out.type(), fmt::format("{}", static_cast<int64_t>(value)), bytes).ok());
    else
      io::storeFloat(out.type(), value, bytes);
  }

  ConvProblem problem;
  std::vector<io::HostTensor> inputs, outputs;

private:
  static ConvSpec specOf(std::string_view name, bool tf32) {
    ConvSpec spec = *ConvSpec::parse(name);
    spec.tf32 = tf32;
    return spec;
  }
  static std::vector<measure::MutableTensor> views(std::vector<io::HostTensor> &tensors) {
    std::vector<measure::MutableTensor> result;
    for (io::HostTensor &tensor : tensors)
      result.push_back({tensor.type(), tensor.shape(), tensor.bytes()});
    return result;
  }
  static std::vector<io::TensorSpan> spans(const std::vector<io::HostTensor> &tensors) {
    std::vector<io::TensorSpan> result;
    for (const io::HostTensor &tensor : tensors)
      result.push_back(tensor.span());
    return result;
  }
};

class ConvVerification : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Conv, ConvVerification,
                         testing::Values("conv2d_nhwc_hwcf_2x9x8x5_3x3x7_s1x1_d1x1_p1x1_g1_f32_f32_f32",
                                         "conv2d_nchw_fchw_2x9x8x5_3x3x7_s1x1_d1x1_p1x1_g1_f32_f32_f32",
                                         "conv2d_nhwc_hwcf_1x11x7x8_3x2x6_s2x1_d1x2_p0x2_g2_f16_f16_f16",
                                         "conv2d_nchw_fchw_1x11x7x8_3x2x6_s2x1_d1x2_p0x2_g2_f16_f16_f32",
                                         "conv2d_nhwc_hwcf_2x7x7x6_3x3x6_s1x1_d1x1_p1x1_g6_bf16_bf16_bf16",
                                         "conv2d_nchw_fchw_2x7x7x6_3x3x12_s1x1_d1x1_p1x1_g6_bf16_bf16_f32",
                                         "conv2d_nhwc_hwcf_1x12x12x3_7x7x4_s2x3_d1x1_p3x3_g1_i8_i8_i32",
                                         "conv2d_nchw_fchw_1x6x5x8_1x1x9_s1x1_d1x1_p0x0_g1_i8_i8_i32",
                                         "conv2d_nhwc_hwcf_1x1x1x1_1x1x1_s1x1_d1x1_p0x0_g1_f32_f32_f32",
                                         "conv2d_nchw_fchw_1x5x4x2_2x3x2_s1x1_d1x1_p4x5_g1_f32_f32_f32"));

TEST_P(ConvVerification, InputsDependOnPassAndSeedAlone) {
  size_t passes = Data(GetParam()).problem.passes().size();
  ASSERT_GT(passes, 0U);
  for (size_t pass = 0; pass < passes; ++pass) {
    Data a(GetParam()), b(GetParam()), other(GetParam());
    std::ranges::fill(b.inputs[0].bytes(), 0xA5);
    ASSERT_TRUE(a.fill(pass, 5).ok());
    ASSERT_TRUE(b.fill(pass, 5).ok());
    ASSERT_TRUE(other.fill(pass, 6).ok());
    for (size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(std::ranges::equal(a.inputs[i].bytes(), b.inputs[i].bytes()));
    if (a.inputs[0].elementCount() > 16) {
      EXPECT_FALSE(std::ranges::equal(a.inputs[0].bytes(), other.inputs[0].bytes()));
    }
  }
  EXPECT_FALSE(Data(GetParam()).fill(passes, 5).ok());
}

TEST_P(ConvVerification, TheReferenceIsRight) {
  for (size_t pass = 0; pass < Data(GetParam()).problem.passes().size(); ++pass) {
    Data data(GetParam());
    ASSERT_TRUE(data.fill(pass, 5).ok());
    EXPECT_EQ(data.check(pass, 5).cause, Cause::NothingWritten);
    ASSERT_TRUE(data.compute().ok());
    Verdict verdict = data.check(pass, 5);
    EXPECT_TRUE(verdict.ok()) << data.problem.passes()[pass] << ": " << verdict.explanation;
    EXPECT_FALSE(verdict.method.empty());
  }
}

TEST_P(ConvVerification, AWrongElementIsFound) {
  Data data(GetParam());
  ASSERT_TRUE(data.fill(0, 5).ok());
  ASSERT_TRUE(data.compute().ok());
  uint64_t last = data.outputs[0].elementCount() - 1;
  double right = data.get(last);
  data.set(last, right == 0 ? 1 : -right);
  Verdict verdict = data.check(0, 5);
  ASSERT_FALSE(verdict.ok());
  ASSERT_FALSE(verdict.examples.empty());
  EXPECT_EQ(verdict.wrong, 1U);
  EXPECT_EQ(verdict.examples[0].expected, right);
  // The coordinates are those of the tensor.
  std::vector<uint64_t> shape = data.problem.outputs()[0].shape;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    EXPECT_EQ(verdict.examples[0].index.at(dim), shape[dim] - 1);
}

//===--- Mistakes -------------------------------------------------------------------------------------------------===//

struct Pixel {
  uint64_t n, y, x, c;
};

uint64_t imageIndex(const ConvSpec &v, bool channelsFirst, const Pixel &p) {
  return channelsFirst ? ((p.n * v.c + p.c) * v.h + p.y) * v.w + p.x : ((p.n * v.h + p.y) * v.w + p.x) * v.c + p.c;
}

template <typename Visit> void forPixels(const ConvSpec &v, Visit visit) {
  for (uint64_t n = 0; n < v.n; ++n)
    for (uint64_t y = 0; y < v.h; ++y)
      for (uint64_t x = 0; x < v.w; ++x)
        for (uint64_t c = 0; c < v.c; ++c)
          visit(Pixel{n, y, x, c});
}

void copyElement(const io::HostTensor &from, uint64_t source, io::HostTensor &to, uint64_t target) {
  uint64_t bytes = hal::elementTypeByteSize(from.type());
  std::copy_n(from.bytes().begin() + source * bytes, bytes, to.bytes().begin() + target * bytes);
}

// The image as a program sees it that takes its memory for the other layout.
void rereadImage(const Data &data, Data &mistaken) {
  const ConvSpec &v = data.problem.spec();
  forPixels(v, [&](const Pixel &p) {
    copyElement(data.inputs[0], imageIndex(v, !v.channelsFirst, p), mistaken.inputs[0],
                imageIndex(v, v.channelsFirst, p));
  });
}

void rereadFilter(const Data &data, Data &mistaken) {
  const ConvSpec &v = data.problem.spec();
  uint64_t channels = v.groupChannels(), taps = v.r * v.s;
  for (uint64_t f = 0; f < v.f; ++f)
    for (uint64_t c = 0; c < channels; ++c)
      for (uint64_t tap = 0; tap < taps; ++tap) {
        uint64_t fchw = (f * channels + c) * taps + tap, hwcf = (tap * channels + c) * v.f + f;
        copyElement(data.inputs[1], v.channelsFirst ? hwcf : fchw, mistaken.inputs[1], v.channelsFirst ? fchw : hwcf);
      }
}

constexpr const char *kSquares[] = {"conv2d_nhwc_hwcf_2x6x6x6_3x3x6_s1x1_d1x1_p1x1_g1_f32_f32_f32",
                                    "conv2d_nchw_fchw_1x6x6x6_3x3x6_s1x1_d1x1_p0x0_g1_f16_f16_f16",
                                    "conv2d_nhwc_hwcf_1x7x5x6_2x3x9_s1x1_d1x1_p0x0_g3_i8_i8_i32"};

TEST(ConvMistakes, SwappedLayoutsAreNamed) {
  for (const char *name : kSquares)
    for (auto [image, filter, what] :
         {std::tuple(true, false, "the image read"), std::tuple(false, true, "the filter read"),
          std::tuple(true, true, "image and filter read")}) {
      Data data(name), mistaken(name);
      ASSERT_TRUE(data.fill(0, 9).ok());
      for (size_t i = 0; i < 2; ++i)
        std::ranges::copy(data.inputs[i].bytes(), mistaken.inputs[i].bytes().begin());
      if (image)
        rereadImage(data, mistaken);
      if (filter)
        rereadFilter(data, mistaken);
      ASSERT_TRUE(mistaken.compute().ok());
      data.takeOutput(mistaken);
      Verdict verdict = data.check(0, 9);
      EXPECT_EQ(verdict.cause, Cause::SwappedLayout) << name << ": " << verdict.explanation;
      EXPECT_NE(verdict.explanation.find(what), std::string::npos) << verdict.explanation;
    }
}

// A program that forgets the padding reads the image as if it began with its first pixel; here zeros follow it.
TEST(ConvMistakes, DroppedPaddingIsNamed) {
  for (const char *name : {"conv2d_nhwc_hwcf_1x9x8x5_3x3x7_s1x1_d1x1_p1x1_g1_f32_f32_f32",
                           "conv2d_nchw_fchw_2x9x8x6_3x3x6_s2x2_d1x1_p1x2_g2_i8_i8_i32"}) {
    Data data(name);
    ASSERT_TRUE(data.fill(0, 9).ok());
    ConvSpec spec = data.problem.spec(), larger = spec;
    larger.h += 2 * spec.padH, larger.w += 2 * spec.padW;
    larger.padH = larger.padW = 0;
    Data mistaken(larger.name());
    forPixels(spec, [&](const Pixel &p) {
      copyElement(data.inputs[0], imageIndex(spec, spec.channelsFirst, p), mistaken.inputs[0],
                  imageIndex(larger, spec.channelsFirst, p));
    });
    std::ranges::copy(data.inputs[1].bytes(), mistaken.inputs[1].bytes().begin());
    ASSERT_TRUE(mistaken.compute().ok());
    data.takeOutput(mistaken);
    Verdict verdict = data.check(0, 9);
    EXPECT_EQ(verdict.cause, Cause::DroppedPadding) << verdict.explanation;
    EXPECT_STREQ(causeName(verdict.cause), "dropped padding");
  }
}

TEST(ConvMistakes, SumsInF16AndNansAreNamed) {
  Data data("conv2d_nhwc_hwcf_1x6x6x40_3x3x6_s1x1_d1x1_p1x1_g1_f32_f32_f32");
  ASSERT_TRUE(data.fill(0, 9).ok());
  ASSERT_TRUE(data.compute().ok());
  for (uint64_t element = 0; element < data.outputs[0].elementCount(); ++element)
    data.set(element, kF16.decode(kF16.encode(data.get(element))));
  EXPECT_EQ(data.check(0, 9).cause, Cause::NarrowAccumulator) << data.check(0, 9).explanation;
  ASSERT_TRUE(data.compute().ok());
  data.set(7, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(data.check(0, 9).cause, Cause::NotANumber);
}

TEST(ConvMistakes, TensorsOfOtherShapesAreErrors) {
  Data data("conv2d_nhwc_hwcf_1x4x4x2_3x3x2_s1x1_d1x1_p0x0_g1_f32_f32_f32"),
      other("conv2d_nhwc_hwcf_1x4x4x2_3x3x4_s1x1_d1x1_p0x0_g1_f32_f32_f32");
  std::swap(data.inputs, other.inputs);
  EXPECT_EQ(data.fill(0, 1).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(data.compute().code(), StatusCode::InvalidArgument);
  Verdict verdict = data.check(0, 1);
  EXPECT_FALSE(verdict.ok());
  EXPECT_NE(verdict.explanation.find("the filter is"), std::string::npos) << verdict.explanation;
}

TEST(ConvInTF32, WhatTF32GivesIsRight) {
  for (const char *name : {"conv2d_nhwc_hwcf_1x8x9x16_3x3x8_s1x1_d1x1_p1x1_g2_f32_f32_f32",
                           "conv2d_nchw_fchw_1x8x9x16_3x3x8_s1x1_d1x1_p1x1_g1_f32_f32_f32"}) {
    Data exact(name), narrow(name, /*tf32=*/true);
    EXPECT_EQ(narrow.problem.fields().back(), (std::pair<std::string, std::string>("arithmetic", "tf32")));
    EXPECT_EQ(exact.problem.inTF32()->fields(), narrow.problem.fields());
    EXPECT_EQ(narrow.problem.name(), exact.problem.name());
    bool isNarrowSeen = false;
    for (size_t pass = 0; pass < exact.problem.passes().size(); ++pass) {
      ASSERT_TRUE(narrow.fill(pass, 7).ok() && narrow.computeInTF32().ok());
      Verdict verdict = narrow.check(pass, 7);
      EXPECT_TRUE(verdict.ok()) << verdict.explanation;
      EXPECT_NE(verdict.method.find("; products in tf32"), std::string::npos) << verdict.method;
      ASSERT_TRUE(exact.fill(pass, 7).ok() && exact.computeInTF32().ok());
      isNarrowSeen |= exact.check(pass, 7).cause == Cause::NarrowedInputs;
    }
    EXPECT_TRUE(isNarrowSeen) << "f32 promises more";
  }
  EXPECT_EQ(Data("conv2d_nhwc_hwcf_1x4x4x2_3x3x2_s1x1_d1x1_p0x0_g1_f16_f16_f32").problem.inTF32(), nullptr);
}

TEST(ConvInTF32, TimedCallsMayBeOffByIt) {
  for (const char *name : {"conv2d_nhwc_hwcf_1x12x12x32_3x3x16_s1x1_d1x1_p1x1_g1_f32_f32_f32",
                           "conv2d_nchw_fchw_1x12x12x32_3x3x16_s1x1_d1x1_p1x1_g2_f32_f32_f32"}) {
    Data data(name, /*tf32=*/true), exact(name);
    for (size_t i = 0; i < 2; ++i) {
      std::mt19937 random(static_cast<unsigned>(i));
      std::uniform_real_distribution<double> uniform(-1, 1);
      for (size_t at = 0; at < data.inputs[i].bytes().size(); at += sizeof(float))
        io::storeFloat(ElementType::F32, uniform(random), data.inputs[i].bytes().data() + at);
    }
    ASSERT_TRUE(data.computeInTF32().ok());
    EXPECT_TRUE(data.passesTimed(data.problem)) << name;
    EXPECT_FALSE(data.passesTimed(exact.problem)) << name;
    data.set(11, 30 + data.get(11)); // more than the root mean square of all
    EXPECT_FALSE(data.passesTimed(data.problem)) << name;
  }
}

} // namespace
} // namespace kiln::families
