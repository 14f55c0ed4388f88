// Floating-point formats narrower than f32, as numbers in and out of their bits.
#ifndef KILN_BASE_NARROW_FLOAT_H
#define KILN_BASE_NARROW_FLOAT_H

#include <cstdint>

namespace kiln {

// A binary format of 1 sign bit, `exponentBits` and `mantissaBits`, with subnormals and at most 16 bits in all.
struct NarrowFloat {
  unsigned exponentBits;
  unsigned mantissaBits;
  uint16_t largest;  // bits of the largest finite number
  uint16_t infinity; // bits of infinity; the NaN's where the format has no infinity
  uint16_t nan;      // bits of the NaN that encode gives

  bool hasInfinity() const { return infinity != nan; }

  // Rounds to nearest, ties to even. What is too large becomes infinity, or NaN where the format has none.
  uint16_t encode(double value) const;
  // Exact.
  double decode(uint16_t bits) const;
};

inline constexpr NarrowFloat kF16 = {5, 10, 0x7BFF, 0x7C00, 0x7E00};
inline constexpr NarrowFloat kBF16 = {8, 7, 0x7F7F, 0x7F80, 0x7FC0};
inline constexpr NarrowFloat kF8E4M3FN = {4, 3, 0x7E, 0x7F, 0x7F};
inline constexpr NarrowFloat kF8E5M2 = {5, 2, 0x7B, 0x7C, 0x7E};

} // namespace kiln

#endif // KILN_BASE_NARROW_FLOAT_H
