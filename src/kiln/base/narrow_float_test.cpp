#include "kiln/base/narrow_float.h"

#include <bit>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace kiln {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The value of finite bits, computed from the definition and not from the code under test.
double valueOf(const NarrowFloat &format, unsigned bits) {
  unsigned mantissa = bits % (1u << format.mantissaBits);
  unsigned exponent = bits >> format.mantissaBits;
  double fraction = mantissa / std::exp2(format.mantissaBits);
  return exponent == 0 ? fraction * std::exp2(1 - format.bias)
                       : (1 + fraction) * std::exp2(int(exponent) - format.bias);
}

// Every finite value round-trips, and between each pair of neighbours the midpoint and the numbers next to it round to
// nearest, ties to even.
void checkFormat(const NarrowFloat &format) {
  unsigned signBit = 1u << (format.exponentBits + format.mantissaBits);
  unsigned zero = format.hasNegativeZero() ? signBit : 0; // of -0.0
  for (unsigned bits = 0; bits <= format.largest; ++bits) {
    double value = valueOf(format, bits);
    ASSERT_EQ(format.decode(bits), value) << bits;
    ASSERT_EQ(format.encode(value), bits);
    if (bits > 0 || format.hasNegativeZero()) {
      ASSERT_EQ(format.decode(bits | signBit), -value) << bits;
      ASSERT_EQ(format.encode(-value), bits | signBit);
    }
    // Past the largest number the next step is where infinity begins.
    double next = bits == format.largest ? 2 * value - valueOf(format, bits - 1) : valueOf(format, bits + 1);
    unsigned nextBits = bits == format.largest ? format.infinity : bits + 1;
    double middle = (value + next) / 2;
    // The bits after the largest number's would be even where its own are odd.
    unsigned even = bits % 2 == 0 ? bits : nextBits;
    ASSERT_EQ(format.encode(middle), even) << bits;
    ASSERT_EQ(format.encode(std::nextafter(middle, 0.0)), bits) << bits;
    ASSERT_EQ(format.encode(std::nextafter(middle, kInfinity)), nextBits) << bits;
    ASSERT_EQ(format.encode(-middle), even == 0 ? zero : even | signBit) << bits;
  }
  for (unsigned bits = format.largest + 1; bits < signBit; ++bits) {
    if (format.hasInfinity() && bits == format.infinity)
      EXPECT_EQ(format.decode(bits), kInfinity);
    else
      EXPECT_TRUE(std::isnan(format.decode(bits))) << bits;
  }
  EXPECT_EQ(format.encode(kInfinity), format.infinity);
  EXPECT_EQ(format.encode(-kInfinity), format.infinity | signBit);
  EXPECT_EQ(format.encode(1e300), format.infinity);
  EXPECT_EQ(format.encode(std::nan("")) & ~zero, format.nan);
  EXPECT_EQ(format.encode(-0.0), zero);
  if (!format.hasNegativeZero()) {
    EXPECT_TRUE(std::isnan(format.decode(signBit)));
    EXPECT_EQ(format.encode(std::nan("")), signBit);
  }
  EXPECT_EQ(format.encode(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(format.encode(std::numeric_limits<double>::min()), 0);
}

TEST(NarrowFloatTest, F16) {
  checkFormat(kF16);
}
TEST(NarrowFloatTest, BF16) {
  checkFormat(kBF16);
}
TEST(NarrowFloatTest, F8E4M3FN) {
  checkFormat(kF8E4M3FN);
}
TEST(NarrowFloatTest, F8E5M2) {
  checkFormat(kF8E5M2);
}

TEST(NarrowFloatTest, F8E4M3AndF8E3M4) {
  checkFormat(kF8E4M3);
  checkFormat(kF8E3M4);
}
TEST(NarrowFloatTest, WithoutNegativeZero) {
  checkFormat(kF8E4M3FNUZ);
  checkFormat(kF8E5M2FNUZ);
  checkFormat(kF8E4M3B11FNUZ);
}
TEST(NarrowFloatTest, F4E2M1FNHasNumbersOnly) {
  checkFormat(kF4E2M1FN);
  EXPECT_EQ(kF4E2M1FN.decode(0x7), 6.0);
}
TEST(NarrowFloatTest, F8E8M0FNUHasPowersOfTwoOnly) {
  for (int bits = 0; bits < 0xFF; ++bits) {
    double value = std::ldexp(1.0, bits - 127);
    ASSERT_EQ(kF8E8M0FNU.decode(bits), value);
    ASSERT_EQ(kF8E8M0FNU.encode(value), bits);
    ASSERT_EQ(kF8E8M0FNU.encode(value * 1.25), bits);
    ASSERT_EQ(kF8E8M0FNU.encode(value * 1.5), bits + 1);
    ASSERT_EQ(kF8E8M0FNU.encode(value * 1.75), bits + 1);
  }
  EXPECT_TRUE(std::isnan(kF8E8M0FNU.decode(0xFF)));
  EXPECT_EQ(kF8E8M0FNU.encode(kInfinity), 0xFF);
  EXPECT_EQ(kF8E8M0FNU.encode(std::nan("")), 0xFF);
  EXPECT_EQ(kF8E8M0FNU.encode(0), 0);
  EXPECT_EQ(kF8E8M0FNU.encode(-4), kF8E8M0FNU.encode(4));
}

TEST(NarrowFloatTest, KnownValues) {
  EXPECT_EQ(kF16.decode(0x3C00), 1.0);
  EXPECT_EQ(kF16.decode(0x7BFF), 65504.0);
  EXPECT_EQ(kF16.decode(0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(kBF16.decode(0x3F80), 1.0);
  EXPECT_EQ(kBF16.encode(3.140625), 0x4049);
  EXPECT_EQ(kF8E4M3FN.decode(0x7E), 448.0);
  EXPECT_EQ(kF8E4M3FN.decode(0x01), std::ldexp(1.0, -9));
  EXPECT_EQ(kF8E5M2.decode(0x7B), 57344.0);
}

#ifdef __FLT16_MAX__
TEST(NarrowFloatTest, F16AgreesWithTheCompiler) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    double value = double(std::bit_cast<_Float16>(uint16_t(bits)));
    double decoded = kF16.decode(bits);
    ASSERT_TRUE(value == decoded || (std::isnan(value) && std::isnan(decoded))) << bits;
  }
  // Floats of every exponent, with mantissas that a step prime to the range spreads evenly.
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 16381) {
    float value = std::bit_cast<float>(uint32_t(bits));
    if (!std::isnan(value)) {
      ASSERT_EQ(kF16.encode(value), std::bit_cast<uint16_t>(_Float16(value))) << value;
    }
  }
}
#endif

} // namespace
} // namespace kiln
