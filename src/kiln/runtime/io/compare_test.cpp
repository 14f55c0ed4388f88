#include "kiln/runtime/io/compare.h"

#include <cstring>
#include <limits>

#include "kiln/runtime/io/input.h"
#include "gtest/gtest.h"

namespace kiln::io {
namespace {

HostTensor parse(std::string_view text) {
  InputReader reader;
  std::vector<Input> inputs;
  Status status = reader.read(text, inputs);
  if (!status.ok()) {
    ADD_FAILURE() << status.toString();
    std::abort();
  }
  return std::get<HostTensor>(std::move(inputs[0]));
}

std::string compare(std::string_view actual, std::string_view expected, EqualityMode mode = EqualityMode::Approximate) {
  return explainDifference(parse(actual).span(), parse(expected).span(), mode).value_or("equal");
}

TEST(CompareTest, EqualTensors) {
  EXPECT_EQ(compare("4xf32=1 2 3 4", "4xf32=1 2 3 4"), "equal");
  EXPECT_EQ(compare("0x3xi8", "0x3xi8"), "equal");
  EXPECT_EQ(compare("3xi1=1 0 1", "3xi1=1 0 1"), "equal");
}

TEST(CompareTest, FirstDifferenceIsNamed) {
  EXPECT_EQ(compare("f32=-2", "f32=123"), "element at index 0 (-2) does not match the expected (123)");
  EXPECT_EQ(compare("4xi32=1 2 0 0", "4xi32=1 2 3 9"),
            "element at index 2 (0) does not match the expected (3)\n"
            "  2 of 4 elements do not match; the largest difference is 9 at index 3");
  EXPECT_EQ(compare("2x3xf32=1 2 3 4 5 6", "2x3xf32=1 2 3 4 7 6"),
            "element at index 4 (5) does not match the expected (7)\n"
            "  1 of 6 elements do not match; the largest difference is 2 at index 4 = [1, 1]");
}

TEST(CompareTest, TypesAndShapes) {
  EXPECT_EQ(compare("4xf32=1", "4xf64=1"), "type 4xf32 does not match the expected 4xf64");
  EXPECT_EQ(compare("4xf32=1", "2x2xf32=1"), "shape 4xf32 does not match the expected 2x2xf32");
  EXPECT_EQ(compare("f32=1", "1xf32=1"), "shape f32 does not match the expected 1xf32");
  EXPECT_EQ(compare("i32=1", "ui32=1"), "type i32 does not match the expected ui32");
}

// Just within, and just beyond, atol + rtol * |expected|.
TEST(CompareTest, Tolerances) {
  struct Case {
    const char *within, *beyond, *expected;
  };
  for (const Case &c :
       {Case{"f32=1.00010", "f32=1.00012", "f32=1"}, Case{"f64=1.000109", "f64=1.000111", "f64=1"},
        Case{"f32=10000.099", "f32=10000.102", "f32=10000"}, Case{"f32=0.00009", "f32=0.00011", "f32=0"},
        Case{"f16=1.000976", "f16=1.00195", "f16=1"}, Case{"bf16=1.0078", "bf16=1.0156", "bf16=1"},
        Case{"f16=0.00099", "f16=0.00102", "f16=0"}, Case{"bf16=0.0099", "bf16=0.0102", "bf16=0"}}) {
    EXPECT_EQ(compare(c.within, c.expected), "equal") << c.within;
    EXPECT_NE(compare(c.beyond, c.expected), "equal") << c.beyond;
    EXPECT_NE(compare(c.within, c.expected, EqualityMode::Exact), "equal") << c.within;
  }
  EXPECT_NE(compare("f8E5M2=1", "f8E5M2=1.25"), "equal");
  EXPECT_NE(compare("i64=9007199254740993", "i64=9007199254740992"), "equal");
}

TEST(CompareTest, InfinitiesEqualOnlyThemselves) {
  EXPECT_EQ(compare("f32=inf", "f32=inf"), "equal");
  EXPECT_NE(compare("f32=1", "f32=inf"), "equal");
  EXPECT_NE(compare("f32=inf", "f32=1"), "equal");
  EXPECT_NE(compare("f32=-inf", "f32=inf"), "equal");
  EXPECT_NE(compare("f16=65504", "f16=inf"), "equal");
}

TEST(CompareTest, NaNEqualsNaN) {
  for (EqualityMode mode : {EqualityMode::Approximate, EqualityMode::Exact}) {
    EXPECT_EQ(compare("f32=nan", "f32=nan", mode), "equal");
    EXPECT_EQ(compare("f32=-nan", "f32=nan", mode), "equal");
    EXPECT_EQ(compare("f16=nan", "f16=-nan", mode), "equal");
    EXPECT_EQ(compare("f32=nan", "f32=1", mode), "element at index 0 (nan) does not match the expected (1)");
    EXPECT_EQ(compare("f32=1", "f32=nan", mode), "element at index 0 (1) does not match the expected (nan)");
  }
}

TEST(CompareTest, ExactMode) {
  EXPECT_EQ(compare("f32=0", "f32=-0"), "equal");
  EXPECT_EQ(compare("f32=0", "f32=-0", EqualityMode::Exact), "element at index 0 (0) does not match the expected (-0)");
  EXPECT_EQ(compare("f32=0.1", "f32=0.1", EqualityMode::Exact), "equal");
}

// Six digits that look the same would hide the difference.
TEST(CompareTest, MessageShowsDigitsThatDiffer) {
  EXPECT_EQ(compare("f32=1.0000001", "f32=1", EqualityMode::Exact),
            "element at index 0 (1.0000001) does not match the expected (1)");
}

} // namespace
} // namespace kiln::io
