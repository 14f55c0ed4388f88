#include "kiln/runtime/io/element_text.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "gtest/gtest.h"

namespace kiln::io {
namespace {

// What comes back from text -> bits -> text, or the error's message.
std::string roundTrip(ElementType type, std::string_view text, Digits digits = Digits::Six) {
  uint8_t element[8] = {};
  Status status = parseElement(type, text, element);
  if (!status.ok())
    return std::string(status.message());
  std::string out;
  appendElement(type, element, digits, out);
  return out;
}

template <typename T> T bitsOf(ElementType type, std::string_view text) {
  uint8_t element[8] = {};
  EXPECT_TRUE(parseElement(type, text, element).ok()) << text;
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

TEST(ElementTextTest, Floats) {
  EXPECT_EQ(roundTrip(ElementType::F32, "3.14"), "3.14");
  EXPECT_EQ(roundTrip(ElementType::F32, "-2"), "-2");
  EXPECT_EQ(roundTrip(ElementType::F32, "0x1.8p3"), "12");
  EXPECT_EQ(roundTrip(ElementType::F32, "+1e6"), "1e+06");
  EXPECT_EQ(roundTrip(ElementType::F32, "1234567"), "1.23457e+06");
  EXPECT_EQ(roundTrip(ElementType::F32, "1234567", Digits::Exact), "1234567");
  EXPECT_EQ(roundTrip(ElementType::F32, "0.1", Digits::Exact), "0.1");
  EXPECT_EQ(roundTrip(ElementType::F64, "0.1"), "0.1");
  EXPECT_EQ(roundTrip(ElementType::F32, "inf"), "inf");
  EXPECT_EQ(roundTrip(ElementType::F64, "-Infinity"), "-inf");
  EXPECT_EQ(roundTrip(ElementType::F32, "nan"), "nan");
  EXPECT_EQ(roundTrip(ElementType::F32, "-nan"), "nan");
  EXPECT_EQ(roundTrip(ElementType::F16, "nan"), "nan");
  EXPECT_EQ(roundTrip(ElementType::F32, "-0"), "-0");
  EXPECT_EQ(roundTrip(ElementType::F16, "0.1"), "0.0999756");
  EXPECT_EQ(roundTrip(ElementType::BF16, "3.14"), "3.14062");
  EXPECT_EQ(roundTrip(ElementType::F8E4M3FN, "448"), "448");
  EXPECT_EQ(roundTrip(ElementType::F8E5M2, "-57344"), "-57344");
  EXPECT_EQ(roundTrip(ElementType::F16, "inf"), "inf");
  EXPECT_EQ(roundTrip(ElementType::F8E5M2, "-inf"), "-inf");
  EXPECT_EQ(roundTrip(ElementType::F32, "1e-60"), "0"); // rounds to zero
}

TEST(ElementTextTest, FloatsRoundToNearestEven) {
  EXPECT_EQ(bitsOf<float>(ElementType::F32, "16777217"), 16777216.0f);
  EXPECT_EQ(bitsOf<float>(ElementType::F32, "16777219"), 16777220.0f);
  EXPECT_EQ(bitsOf<uint16_t>(ElementType::F16, "2049"), 0x6800);
  EXPECT_EQ(bitsOf<uint16_t>(ElementType::F16, "2051"), 0x6802);
  EXPECT_EQ(bitsOf<uint16_t>(ElementType::BF16, "257"), 0x4380);
  EXPECT_EQ(bitsOf<uint16_t>(ElementType::BF16, "259"), 0x4382);
}

TEST(ElementTextTest, FiniteFloatsNeverBecomeInfinite) {
  EXPECT_EQ(roundTrip(ElementType::F32, "1e39"), "1e39 is out of the range of f32");
  EXPECT_EQ(roundTrip(ElementType::F64, "1e999"), "1e999 is out of the range of f64");
  EXPECT_EQ(roundTrip(ElementType::F16, "65519"), "65504");
  EXPECT_EQ(roundTrip(ElementType::F16, "65520"), "65520 is out of the range of f16");
  EXPECT_EQ(roundTrip(ElementType::BF16, "-3.4e38"), "-3.4e38 is out of the range of bf16");
  EXPECT_EQ(roundTrip(ElementType::F8E4M3FN, "465"), "465 is out of the range of f8E4M3FN");
  EXPECT_EQ(roundTrip(ElementType::F8E4M3FN, "inf"), "inf is out of the range of f8E4M3FN");
}

TEST(ElementTextTest, FloatJunk) {
  for (const char *text : {"", "x", "1x", "1..2", "1 ", " 1", "--1", "3...", "0x", "1e", "nanx", "1,2"})
    EXPECT_EQ(roundTrip(ElementType::F32, text), "'" + std::string(text) + "' is not a floating-point f32 number");
}

TEST(ElementTextTest, Integers) {
  EXPECT_EQ(roundTrip(ElementType::I8, "-128"), "-128");
  EXPECT_EQ(roundTrip(ElementType::I8, "127"), "127");
  EXPECT_EQ(roundTrip(ElementType::I8, "128"), "128 is out of the range of i8");
  EXPECT_EQ(roundTrip(ElementType::I8, "-129"), "-129 is out of the range of i8");
  EXPECT_EQ(roundTrip(ElementType::I8, "0xff"), "-1");
  EXPECT_EQ(roundTrip(ElementType::I8, "0x1ff"), "0x1ff is out of the range of i8");
  EXPECT_EQ(roundTrip(ElementType::UI8, "255"), "255");
  EXPECT_EQ(roundTrip(ElementType::UI8, "256"), "256 is out of the range of ui8");
  EXPECT_EQ(roundTrip(ElementType::UI8, "-1"), "-1 is out of the range of ui8");
  EXPECT_EQ(roundTrip(ElementType::UI8, "-0"), "0");
  EXPECT_EQ(roundTrip(ElementType::SI16, "-32768"), "-32768");
  EXPECT_EQ(roundTrip(ElementType::UI16, "65535"), "65535");
  EXPECT_EQ(roundTrip(ElementType::I32, "+2147483647"), "2147483647");
  EXPECT_EQ(roundTrip(ElementType::I32, "2147483648"), "2147483648 is out of the range of i32");
  EXPECT_EQ(roundTrip(ElementType::I64, "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(roundTrip(ElementType::I64, "9223372036854775808"), "9223372036854775808 is out of the range of i64");
  EXPECT_EQ(roundTrip(ElementType::UI64, "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(roundTrip(ElementType::UI64, "18446744073709551616"), "18446744073709551616 is out of the range of ui64");
  EXPECT_EQ(roundTrip(ElementType::SI64, "0xffffffffffffffff"), "-1");
  for (const char *text : {"", "-", "1.5", "1e3", "0x", "12a", "--1", "inf", " 1"})
    EXPECT_EQ(roundTrip(ElementType::I32, text), "'" + std::string(text) + "' is not an integer i32 number");
}

TEST(ElementTextTest, Booleans) {
  EXPECT_EQ(roundTrip(ElementType::I1, "1"), "1");
  EXPECT_EQ(roundTrip(ElementType::I1, "false"), "0");
  EXPECT_EQ(roundTrip(ElementType::I1, "true"), "1");
  EXPECT_EQ(roundTrip(ElementType::I1, "2"), "'2' is no i1; write 0, 1, false or true");
}

// Every f16 and bf16 number comes back from the text of its exact digits.
TEST(ElementTextTest, NarrowFloatsRoundTripThroughText) {
  for (ElementType type : {ElementType::F16, ElementType::BF16}) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      uint16_t in = bits, out = 0;
      if (std::isnan(elementAsDouble(type, reinterpret_cast<uint8_t *>(&in))))
        continue;
      std::string text;
      appendElement(type, reinterpret_cast<uint8_t *>(&in), Digits::Exact, text);
      ASSERT_TRUE(parseElement(type, text, reinterpret_cast<uint8_t *>(&out)).ok()) << text;
      ASSERT_EQ(in, out) << text;
    }
  }
}

} // namespace
} // namespace kiln::io
