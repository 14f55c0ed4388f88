// Floating-point formats narrower than f32, as numbers in and out of their bits.
#ifndef KILN_BASE_NARROW_FLOAT_H
#define KILN_BASE_NARROW_FLOAT_H

#include <cstdint>

namespace kiln {

// A binary format of 1 sign bit, `exponentBits` and `mantissaBits`, with subnormals and at most 16 bits in all. Without
// mantissa it has no sign and no zero either, only powers of two.
struct NarrowFloat {
  unsigned exponentBits;
  unsigned mantissaBits;
  int bias;          // subtracted from the exponent's bits
  uint16_t largest;  // bits of the largest finite number
  uint16_t infinity; // bits of infinity; the NaN's where the format has no infinity
  uint16_t nan;      // bits of the NaN that encode gives; the largest number's where the format has none

  bool hasInfinity() const { return infinity != nan; }
  // The one NaN may stand where negative zero would.
  bool hasNegativeZero() const { return nan != 1u << (exponentBits + mantissaBits); }

  // Rounds to nearest, ties to even; without mantissa, ties go up, as they do in LLVM. What is too large becomes
  // infinity; NaN where the format has none; the largest number where it has neither.
  uint16_t encode(double value) const;
  // Exact.
  double decode(uint16_t bits) const;

private:
  uint16_t encodeExponent(double magnitude) const;
};

inline constexpr NarrowFloat kF16 = {5, 10, 15, 0x7BFF, 0x7C00, 0x7E00};
inline constexpr NarrowFloat kBF16 = {8, 7, 127, 0x7F7F, 0x7F80, 0x7FC0};
inline constexpr NarrowFloat kF8E4M3 = {4, 3, 7, 0x77, 0x78, 0x7C};
inline constexpr NarrowFloat kF8E3M4 = {3, 4, 3, 0x6F, 0x70, 0x78};
inline constexpr NarrowFloat kF8E4M3FN = {4, 3, 7, 0x7E, 0x7F, 0x7F};
inline constexpr NarrowFloat kF8E5M2 = {5, 2, 15, 0x7B, 0x7C, 0x7E};
inline constexpr NarrowFloat kF8E4M3FNUZ = {4, 3, 8, 0x7F, 0x80, 0x80};
inline constexpr NarrowFloat kF8E5M2FNUZ = {5, 2, 16, 0x7F, 0x80, 0x80};
inline constexpr NarrowFloat kF8E4M3B11FNUZ = {4, 3, 11, 0x7F, 0x80, 0x80};
inline constexpr NarrowFloat kF8E8M0FNU = {8, 0, 127, 0xFE, 0xFF, 0xFF};
inline constexpr NarrowFloat kF4E2M1FN = {2, 1, 1, 0x7, 0x7, 0x7};

} // namespace kiln

#endif // KILN_BASE_NARROW_FLOAT_H
