#include "kiln/measure/corpus/tolerance.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kiln/runtime/io/element_text.h"
#include "gtest/gtest.h"

namespace kiln::measure::corpus {
namespace {

using io::ElementType;
using verify::Cause;
using verify::Verdict;

io::HostTensor tensor(ElementType type, const std::vector<double> &values, std::vector<uint64_t> shape = {}) {
  if (shape.empty())
    shape = {values.size()};
  Result<io::HostTensor> made = io::HostTensor::zeros(type, shape);
  EXPECT_TRUE(made.ok());
  uint64_t size = hal::elementTypeByteSize(type);
  for (size_t i = 0; i < values.size(); ++i)
    if (uint8_t *element = made->bytes().data() + i * size; io::isFloat(type)) {
      io::storeFloat(type, values[i], element);
    } else {
      auto integer = static_cast<int64_t>(values[i]);
      std::memcpy(element, &integer, size);
    }
  return *std::move(made);
}

Tolerance allowed(std::string_view text) {
  Result<Tolerance> tolerance = Tolerance::parse(text);
  EXPECT_TRUE(tolerance.ok()) << text;
  return tolerance.ok() ? *tolerance : Tolerance();
}

Verdict compared(ElementType type, const std::vector<double> &actual, const std::vector<double> &expected,
                 std::string_view tolerance = {}) {
  io::HostTensor a = tensor(type, actual), e = tensor(type, expected);
  return compare(a.span(), e.span(), allowed(tolerance), 0xFF);
}

TEST(Tolerance, HalfOfTheBitsAgreeByDefault) {
  // The root mean square is 1.
  EXPECT_TRUE(compared(ElementType::F32, {1 + 0x1p-12, -1}, {1, -1}).ok());
  EXPECT_FALSE(compared(ElementType::F32, {1 + 0x1.01p-12, -1}, {1, -1}).ok());
  EXPECT_TRUE(compared(ElementType::F16, {1 + 0x1p-6, -1}, {1, -1}).ok());
  EXPECT_FALSE(compared(ElementType::F16, {1 + 0x1.2p-6, -1}, {1, -1}).ok());
  EXPECT_TRUE(compared(ElementType::BF16, {1 + 0x1p-4, -1}, {1, -1}).ok());
  EXPECT_FALSE(compared(ElementType::BF16, {1 + 0x1.4p-4, -1}, {1, -1}).ok());
  EXPECT_TRUE(compared(ElementType::F64, {1 + 0x1p-27, -1}, {1, -1}).ok());
  EXPECT_FALSE(compared(ElementType::F64, {1 + 0x1.01p-27, -1}, {1, -1}).ok());
  EXPECT_TRUE(compared(ElementType::F8E4M3FN, {1.25, -1}, {1, -1}).ok());
  EXPECT_FALSE(compared(ElementType::F8E4M3FN, {1.5, -1}, {1, -1}).ok());
}

TEST(Tolerance, SmallElementsAreHeldToTheTensorsSize) {
  EXPECT_TRUE(compared(ElementType::F32, {1e-5, 1000, 1000}, {0, 1000, 1000}).ok());
  EXPECT_FALSE(compared(ElementType::F32, {1, 1000, 1000}, {0, 1000, 1000}).ok());
  // Not so where ULPs are asked for.
  EXPECT_FALSE(compared(ElementType::F32, {1e-5, 1000, 1000}, {0, 1000, 1000}, "4 ulp").ok());
}

TEST(Tolerance, AUserMaySayMore) {
  EXPECT_TRUE(compared(ElementType::F32, {1.09, 1}, {1, 1}, "0.1").ok());
  EXPECT_FALSE(compared(ElementType::F32, {1.11, 1}, {1, 1}, "0.1").ok());
  EXPECT_TRUE(compared(ElementType::F32, {1 + 0x1p-21, 1}, {1, 1}, "4 ulp").ok());
  EXPECT_FALSE(compared(ElementType::F32, {1 + 0x1.4p-21, 1}, {1, 1}, "4ulp").ok());
  EXPECT_TRUE(compared(ElementType::F32, {0.0, 1}, {-0.0, 1}, "exact").ok());
  EXPECT_FALSE(compared(ElementType::F32, {1 + 0x1p-23, 1}, {1, 1}, "exact").ok());
  for (const char *wrong : {"-1", "nan", "inf", "1e-3 rel", "ulp", "exactly"})
    EXPECT_FALSE(Tolerance::parse(wrong).ok()) << wrong;
}

TEST(Tolerance, IntegersAreExact) {
  EXPECT_TRUE(compared(ElementType::I8, {1, -128}, {1, -128}).ok());
  EXPECT_FALSE(compared(ElementType::I32, {1001, 1000000}, {1000, 1000000}, "0.1").ok());
  // Beyond what a double tells apart.
  EXPECT_FALSE(compared(ElementType::I64, {9007199254740993.0 - 1, 1}, {9007199254740994.0, 1}).ok());
}

TEST(Tolerance, InfinitiesAndNansHaveToMatch) {
  double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(compared(ElementType::F32, {nan, infinity, -infinity, 1}, {nan, infinity, -infinity, 1}).ok());
  EXPECT_FALSE(compared(ElementType::F32, {infinity, 1}, {-infinity, 1}).ok());
  EXPECT_FALSE(compared(ElementType::F32, {3, 1}, {nan, 1}).ok());
  Verdict verdict = compared(ElementType::F32, {nan, 1}, {2, 1});
  EXPECT_EQ(verdict.cause, Cause::NotANumber);
}

TEST(Tolerance, AFailureSaysWhereAndHowFar) {
  std::vector<double> expected(600, 1), actual = expected;
  actual[599] = 3;
  io::HostTensor a = tensor(ElementType::F32, actual, {2, 300}), e = tensor(ElementType::F32, expected, {2, 300});
  Verdict verdict = compare(a.span(), e.span(), {}, 0xFF);
  EXPECT_EQ(verdict.cause, Cause::WrongElements);
  EXPECT_EQ(verdict.wrong, 1u);
  EXPECT_EQ(verdict.total, 600u);
  ASSERT_EQ(verdict.examples.size(), 1u);
  EXPECT_EQ(verdict.examples[0].index, (std::vector<uint64_t>{1, 299}));
  EXPECT_EQ(verdict.explanation, "1 of 600 elements are wrong, the first at [1, 299]: 3 instead of 1; the largest "
                                 "difference is 2, within 0.00024 of max(|x|, rms) is allowed");
  EXPECT_FALSE(verdict.ulpHistogram.empty());
}

TEST(Tolerance, AnUntouchedOutputIsCalledThat) {
  io::HostTensor expected = tensor(ElementType::F32, {1, 2}), actual = tensor(ElementType::F32, {0, 0});
  for (uint8_t &byte : actual.bytes())
    byte = 0x5A;
  EXPECT_EQ(compare(actual.span(), expected.span(), {}, 0x5A).cause, Cause::NothingWritten);
  EXPECT_NE(compare(actual.span(), expected.span(), {}, 0xFF).cause, Cause::NothingWritten);
}

} // namespace
} // namespace kiln::measure::corpus
