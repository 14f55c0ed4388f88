// The numbers that reductions, softmax and norms are verified with, each a function of its position: what families plan
// (row_inputs.h, norm_verification.h). The host and GPUs compile the same source, which therefore needs no standard
// library.
#ifndef KILN_MEASURE_VERIFY_ROW_NUMBERS_H
#define KILN_MEASURE_VERIFY_ROW_NUMBERS_H

#include <stdint.h>

#include "kiln/base/random_bits.h"
#include "kiln/measure/verify/doubles.h"

namespace kiln::measure::verify {

// Rows of one tensor, before their elements are rounded to its type. Copied to devices byte by byte.
struct RowNumbers {
  enum class Kind : int32_t {
    Sums,       // integers whose partial sums are exact in the promised accumulator and in no narrower one
    Cancelling, // the same in pairs which cancel but for a few units
    Bytes,      // integers of 8 bits, but no zeros
    Wide,       // one number in each row, which fills the significand of its type; zeros beside it
    Values,     // real numbers, the deciding one of a row often in the last column
    Special,    // zeros, infinities, the smallest and the largest numbers
    Exponents,  // of a softmax: around zero
    Large,      // likewise: overflow unless the row's maximum is subtracted; infinities that give zero
    NormValues, // real numbers around a mean of another sign in every other row
    NormLarge,  // rows of large, of tiny, and of equal numbers: what overflows, and what epsilon is there for
    Gamma,      // neither this nor the next is ever what a program without it would have
    Beta,
  } kind = Kind::Sums;
  bool isMinimum = false, isBytes = false; // of Values and Special
  int32_t significand = 0;                 // bits of the type's numbers: of floats, with the leading one
  uint64_t key = 0, columns = 1;
  uint64_t sparse = 1, residueEvery = 1; // of Sums: one of so many is not zero; of so many pairs one does not cancel
  double magnitude = 1;                  // of Sums: the largest
  double smallest = 0, largest = 0;      // numbers of the type: above zero, and finite

  double at(uint64_t row, uint64_t column) const;

private:
  // A number in [0, count).
  static uint64_t below(uint64_t bits, uint64_t count) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(bits) * count) >> 64);
  }
  uint64_t random(uint64_t row, uint64_t column) const { return randomBits(key, row, column); }
  // One position in each row: the last, the first, or any, in turn.
  uint64_t place(uint64_t row) const {
    if (row % 4 < 2)
      return row % 4 == 0 ? columns - 1 : 0;
    return below(random(row, uint64_t(1) << 40), columns);
  }

  double plain(uint64_t row, uint64_t column) const;
  double cancelling(uint64_t row, uint64_t column) const;
  double wide(uint64_t row, uint64_t column) const;
  double value(uint64_t row, uint64_t column) const;
  double special(uint64_t row, uint64_t column) const;
  double large(uint64_t row, uint64_t column) const;
  double normLarge(uint64_t row, uint64_t column) const;
};

inline double RowNumbers::plain(uint64_t row, uint64_t column) const {
  const uint64_t bits = random(row, column);
  if (sparse > 1 && column % sparse != row % sparse)
    return 0;
  const double value = 1 + static_cast<double>(below(bits, static_cast<uint64_t>(magnitude)));
  return row % 2 == 0 && bits % 2 ? -value : value;
}

// Partners keep their order: a narrow accumulator that went up and came back the same way would lose what it had gained
// in rounding.
inline double RowNumbers::cancelling(uint64_t row, uint64_t column) const {
  const uint64_t half = columns / 2;
  if (column == 2 * half)
    return 2;
  const uint64_t first = column % half;
  const double value = plain(row, first);
  const double residue = value != 0 && first % residueEvery == 0 ? 1 : 0;
  return column < half ? value : residue - value;
}

inline double RowNumbers::wide(uint64_t row, uint64_t column) const {
  if (column != place(row))
    return 0;
  const uint64_t bits =
      random(row, 0) >> (64 - significand) | uint64_t(1) << (significand - 1) | 1; // the first and the last of them
  return row % 3 == 0 ? -static_cast<double>(bits) : static_cast<double>(bits);
}

// Every other row has one sign, so that a maximum which starts from zero shows; the others go beyond what outputs hold
// before the run. A minimum gets the mirror image.
inline double RowNumbers::value(uint64_t row, uint64_t column) const {
  const double unit = isBytes ? 14 : row % 2 ? 100 : 10, top = row % 2 ? -1 : 8, range = row % 2 ? 8 : 16;
  double value = column == place(row) ? unit * (top + 0.25 + 0.5 * fraction(random(row, columns)))
                                      : unit * (top - range * fraction(random(row, column)));
  if (isBytes)
    value = static_cast<double>(static_cast<int64_t>(value + (value < 0 ? -0.5 : 0.5)));
  return isMinimum ? -value : value;
}

inline double RowNumbers::special(uint64_t row, uint64_t column) const {
  const uint64_t bits = random(row, column);
  if (isBytes)
    return row % 4 == 0 ? (isMinimum ? 127 : -128) : static_cast<double>(bits % 256) - 128;
  const double worst = isMinimum ? kInfinity : -kInfinity, sign = bits % 2 ? -1 : 1;
  if (row % 4 == 3 && column == place(row / 4))
    return -worst;
  if (row % 4 == 0)
    return worst;
  if (row % 4 == 1)
    return sign * smallest * static_cast<double>(bits >> 60);
  if (bits >> 61 == 0)
    return bits >> 60 ? worst : 0.0;
  // Any exponent.
  const auto down = static_cast<int32_t>(below(bits << 8, 2 * static_cast<uint64_t>(significand)));
  return sign * largest * ((1 - fraction(bits) / 2) * powerOfTwo(-down));
}

// Every fourth row is of exponentials that are exactly 1 or 0. As many are 1 as f16 has no number for, where there are
// so many columns: every sum of f16 is off by half a unit then, and so is the result by one. They come first, so that a
// dropped tail does not look the same.
inline double RowNumbers::large(uint64_t row, uint64_t column) const {
  if (row % 4 == 2) {
    uint64_t ones = columns;
    for (uint64_t power = 2048; power <= 8192 && power + power / 2048 <= columns; power *= 2)
      ones = power + power / 2048;
    return column < ones ? (row % 8 < 4 ? -300 : 300) : -kInfinity;
  }
  const double offset = row % 2 ? -300 : 300;
  if (column == place(row))
    return offset + (row % 8 == 4 ? 60 : 5);
  const uint64_t bits = random(row, column);
  return bits % 16 == 0 ? -kInfinity : offset + 8 * fraction(bits) - 4;
}

inline double RowNumbers::normLarge(uint64_t row, uint64_t column) const {
  // Of a long row no ordinary element matters beyond what sums may lose: the last one is larger, in some rows.
  if (column + 1 == columns && row % 8 == 0)
    return 16384;
  const double around = 4 * fraction(random(row, column)) - 2;
  switch (row % 4) {
  case 0: return 300 * around + 100;   // squares are beyond the largest number of f16
  case 1: return 0x1p-9 * around;      // the variance is smaller than epsilon
  case 2: return row % 8 == 2 ? 2 : 0; // there is none
  default: return 0x1p-4 * around + 0x1p-4;
  }
}

inline double RowNumbers::at(uint64_t row, uint64_t column) const {
  const uint64_t bits = random(row, column);
  switch (kind) {
  case Kind::Sums: return plain(row, column);
  case Kind::Cancelling: return cancelling(row, column);
  case Kind::Bytes: // all integers but zero, which may be left out; in every other row only large positive ones
    return row % 2             ? static_cast<double>(64 + bits % 64)
           : bits % 256 == 128 ? 1
                               : static_cast<double>(bits % 256) - 128;
  case Kind::Wide: return wide(row, column);
  case Kind::Values: return value(row, column);
  case Kind::Special: return special(row, column);
  case Kind::Exponents: return column == place(row) ? 5 : 8 * fraction(bits) - 4;
  case Kind::Large: return large(row, column);
  case Kind::NormValues: return 4 * fraction(bits) - 2 + (row % 2 ? -1 : 1.5);
  case Kind::NormLarge: return normLarge(row, column);
  case Kind::Gamma: return 1.25 + 2 * fraction(bits);
  case Kind::Beta: return 0.5 + fraction(bits);
  }
  return 0;
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_ROW_NUMBERS_H
