#include "kiln/measure/verify/tolerance.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/test_util.h"

namespace kiln::measure::verify {

namespace {

// Real numbers in [-1, 1) in the type, and a program's output for them.
struct RealData {
  Contraction contraction;
  std::vector<uint8_t> lhs, rhs, out;

  RealData(const Types &types, const Size &size, double scale = 1) : contraction(makeContraction(types, size)) {
    fill(contraction.lhs, size.batch * size.m * size.k, 1, scale, lhs);
    fill(contraction.rhs, size.batch * size.k * size.n, 2, scale, rhs);
    out.resize(size.batch * size.m * size.n * hal::elementTypeByteSize(contraction.result));
  }

  static void fill(ElementType type, int64_t count, uint64_t key, double scale, std::vector<uint8_t> &bytes) {
    uint64_t elementBytes = hal::elementTypeByteSize(type);
    bytes.resize(count * elementBytes);
    for (int64_t i = 0; i < count; ++i)
      io::storeFloat(type, scale * (std::ldexp(double(randomBits(key, i) >> 11), -52) - 1),
                     bytes.data() + i * elementBytes);
  }
  double left(int64_t b, int64_t i, int64_t p) const {
    return at(contraction.lhs, lhs, contraction.lhsLayout.offset(b, i, p));
  }
  double right(int64_t b, int64_t p, int64_t j) const {
    return at(contraction.rhs, rhs, contraction.rhsLayout.offset(b, p, j));
  }
  static double at(ElementType type, const std::vector<uint8_t> &bytes, int64_t element) {
    return io::elementAsDouble(type, bytes.data() + element * hal::elementTypeByteSize(type));
  }
  void set(int64_t b, int64_t i, int64_t j, double value) {
    io::storeFloat(contraction.result, value,
                   out.data() + contraction.outLayout.offset(b, i, j) * hal::elementTypeByteSize(contraction.result));
  }
  // Summed in `format`, forwards or backwards.
  void compute(const FloatFormat &format, bool backward) {
    const Contraction &c = contraction;
    for (int64_t b = 0; b < c.batch; ++b) {
      for (int64_t i = 0; i < c.m; ++i) {
        for (int64_t j = 0; j < c.n; ++j) {
          double sum = 0;
          for (int64_t step = 0; step < c.k; ++step) {
            int64_t p = backward ? c.k - 1 - step : step;
            sum = roundTo(format, sum + roundTo(format, left(b, i, p) * right(b, p, j)));
          }
          set(b, i, j, sum);
        }
      }
    }
  }
  Verdict check(uint64_t samples = 4096) const {
    Result<Verdict> verdict = checkWithinBound(contraction, lhs, rhs, out, {.samples = samples});
    EXPECT_TRUE(verdict.ok()) << verdict.status().toString();
    return *verdict;
  }
};

std::vector<Types> floatTypes() {
  std::vector<Types> types;
  for (const Types &each : kAllTypes)
    if (!isInteger(each.operands))
      types.push_back(each);
  return types;
}

TEST(ToleranceTest, RightSumsAreWithinTheBound) {
  for (const Types &types : floatTypes()) {
    for (const Size &size : {Size{1, 1, 1, 1}, Size{2, 17, 33, 65}, Size{1, 5, 3, 600}, Size{1, 3, 3, 0}}) {
      for (bool backward : {false, true}) {
        for (double scale : {1.0, 0x1p-9, 100.0}) {
          RealData data(types, size, scale);
          data.compute(*floatFormat(types.accumulator), backward);
          Verdict verdict = data.check();
          EXPECT_TRUE(verdict.ok()) << sizeText(types, size) << " scale " << scale << ": " << verdict.explanation;
        }
      }
    }
  }
}

TEST(ToleranceTest, LessPrecisionIsRejected) {
  for (const Types &types : floatTypes()) {
    // A result in bf16 hides what an accumulator in bf16 loses.
    if (types.result == ElementType::BF16 || types.accumulator == ElementType::F16)
      continue;
    RealData data(types, {1, 33, 35, 200});
    data.compute(types.accumulator == ElementType::F64 ? kFormatF32 : kFormatBF16, false);
    Verdict verdict = data.check();
    EXPECT_EQ(verdict.cause, Cause::Unknown) << types.name;
    EXPECT_NE(verdict.explanation.find("times the bound"), std::string::npos) << verdict.explanation;
  }
}

TEST(ToleranceTest, WrongElementsAreFoundWhereAllAreLookedAt) {
  RealData data(kAllTypes[0], {2, 30, 31, 50});
  data.compute(kFormatF32, false);
  EXPECT_EQ(data.check(4096).escapeProbability, 0);
  data.set(1, 29, 30, 9);
  Verdict verdict = data.check();
  EXPECT_EQ(verdict.cause, Cause::WrongElements);
  EXPECT_EQ(verdict.wrong, 1u);
  EXPECT_EQ(verdict.examples.at(0).index, (std::vector<uint64_t>{1, 29, 30}));
  data.set(1, 29, 30, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(data.check().cause, Cause::NotANumber);
}

TEST(ToleranceTest, SamplesReachTheEdges) {
  for (bool row : {true, false}) {
    RealData data(kAllTypes[0], {1, 200, 150, 20});
    data.compute(kFormatF32, false);
    EXPECT_TRUE(data.check(64).ok());
    EXPECT_GT(data.check(64).escapeProbability, 0.9);
    for (int64_t line = 0; line < 150; ++line)
      row ? data.set(0, 199, line, 0) : data.set(0, line, 149, 0);
    EXPECT_FALSE(data.check(64).ok());
  }
}

TEST(ToleranceTest, OverflowIsInfinite) {
  RealData data({"f16", ElementType::F16, ElementType::F16, ElementType::F32}, {1, 4, 4, 64}, 2000);
  data.compute(kFormatF32, false);
  EXPECT_TRUE(data.check().ok()) << data.check().explanation;
}

TEST(ToleranceTest, WhatHasNoBoundIsSaid) {
  RealData data({"f16", ElementType::F16, ElementType::F16, ElementType::F16}, {1, 4, 4, 64}, 2000);
  data.compute(kFormatF16, false);
  Verdict verdict = data.check();
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(verdict.escapeProbability, 1);
  EXPECT_NE(verdict.method.find("16 that have no bound"), std::string::npos) << verdict.method;
}

TEST(ToleranceTest, BadSizesAreErrors) {
  RealData data(kAllTypes[0], {1, 4, 4, 4});
  data.rhs.pop_back();
  EXPECT_EQ(checkWithinBound(data.contraction, data.lhs, data.rhs, data.out).status().code(),
            StatusCode::InvalidArgument);
}

constexpr uint64_t kElements = 1000;

TEST(SampledTest, WithinUlps) {
  std::vector<uint8_t> out(kElements * 4);
  auto exact = [](uint64_t element) { return std::sin(double(element) * std::numbers::pi / 100); };
  for (uint64_t element = 0; element < kElements; ++element)
    io::storeFloat(ElementType::F32, exact(element), out.data() + element * 4);
  std::vector<uint64_t> shape = {10, 100};
  auto check = [&](const ElementBound &bound, uint64_t samples = kElements) {
    return checkSampled(ElementType::F32, shape, out, exact, bound, {.samples = samples});
  };
  EXPECT_TRUE(check({.ulps = 0.5}).ok());
  EXPECT_FALSE(check({.ulps = 0}).ok());
  float off = std::nextafter(std::nextafter(float(exact(333)), 2.0F), 2.0F);
  std::memcpy(out.data() + 333 * 4, &off, 4);
  Verdict verdict = check({.ulps = 1});
  EXPECT_EQ(verdict.wrong, 1u);
  EXPECT_EQ(verdict.examples.at(0).index, (std::vector<uint64_t>{3, 33}));
  EXPECT_NEAR(verdict.examples.at(0).ulps, 2, 0.5);
  EXPECT_TRUE(check({.ulps = 3}).ok());
  EXPECT_TRUE(check({.ulps = 0, .absolute = 1e-6}).ok());
  // Few samples are said to be few.
  verdict = check({.ulps = 3}, 10);
  EXPECT_GT(verdict.escapeProbability, 0.98);
  EXPECT_TRUE(checkSampled(ElementType::F32, shape, {}, exact, {.ulps = 1}).ok());
}

} // namespace

} // namespace kiln::measure::verify
