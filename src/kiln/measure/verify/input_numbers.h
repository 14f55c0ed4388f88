// The numbers that contractions are verified with, each a function of its position: see InputPlan, which plans them.
// The host and GPUs compile the same source, which therefore needs no standard library.
#ifndef KILN_MEASURE_VERIFY_INPUT_NUMBERS_H
#define KILN_MEASURE_VERIFY_INPUT_NUMBERS_H

#include <stdint.h>

#include "kiln/base/random_bits.h"

namespace kiln::measure::verify {

// One operand.
struct InputSide {
  uint64_t key = 0;          // of its random numbers
  int32_t low = 0, high = 0; // its elements; a floating-point operand has no zeros in between
  int64_t sparse = 1;        // one of so many positions is not zero, but for the ends of the reduction
  int64_t lines = 1;         // rows or columns
  int64_t residueEvery = 0;  // one of so many pairs does not cancel; 0: all do
  int32_t middle = 0;        // largest magnitude of the position that has no partner
  bool biased = false;       // half of the rows or columns have one sign
  int32_t wideBits = 0;      // WideLhs, WideRhs: of the wide side
  int64_t slots = 0;         // and how many elements are not zero on the other
};

// Copied to devices byte by byte.
struct InputNumbers {
  InputSide lhsSide, rhsSide;
  int64_t taps = 1, reduction = 0;
  int64_t piece = 1, ends = 0; // the reduction's slices, and how many elements at both ends of each count for certain
  bool cancels = false, integers = false;

  // `row` is the position outside the reduction (for a convolution, the input's pixel), r < reduction the position in
  // it.
  int32_t lhs(int64_t b, int64_t row, int64_t r) const { return lhsOf(lhsLine(b, row), r); }
  int32_t rhs(int64_t b, int64_t tap, int64_t r, int64_t column) const { return rhsOf(rhsLine(b, column), tap, r); }

  // The same in two steps, of which the first is the same for a whole row or column.
  uint64_t lhsLine(int64_t b, int64_t row) const;
  uint64_t rhsLine(int64_t b, int64_t column) const;
  int32_t lhsOf(uint64_t line, int64_t r) const;
  int32_t rhsOf(uint64_t line, int64_t tap, int64_t r) const;

  // Of an operand that is zero but for one element in each part of its lines: how many these are, and where the one is
  // and what; behind the line's end where its last part has none. 0 slots: any element may be another number.
  struct Single {
    int64_t position;
    int32_t value;
  };
  int64_t slots(bool isLhs) const { return (isLhs ? lhsSide : rhsSide).slots; }
  Single single(bool isLhs, uint64_t line, int64_t slot) const;

  // What an element of an output holds before the run, where that is a number.
  static int32_t prefill(uint64_t element) {
    constexpr int32_t kLargest = 63, kSmallest = 3;
    return kSmallest + static_cast<int32_t>(below(randomBits(0x5EED, element), kLargest - kSmallest + 1));
  }

protected:
  static constexpr int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

private:
  // Bits of a line's random number: whether it has one sign, and which its ends have.
  static constexpr uint64_t kOneSign = 0x10000, kEndSign = 0x20000;
  // Bits of an element's: one in eight is other than most.
  static constexpr uint64_t kMostlyOnes = 14;
  // More than there are lines.
  static constexpr uint64_t kManyLines = uint64_t(1) << 40;

  static constexpr int32_t magnitude(int32_t value) { return value < 0 ? -value : value; }
  static constexpr int32_t smaller(int32_t a, int32_t b) { return b < a ? b : a; }
  static constexpr int32_t larger(int32_t a, int32_t b) { return a < b ? b : a; }
  // A random integer in [0, bound), from the upper bits.
  static constexpr uint32_t below(uint64_t bits, uint32_t bound) {
    return static_cast<uint32_t>((bits >> 32) * bound >> 32);
  }
  static uint64_t lineBits(uint64_t line, int64_t position) {
    return scramble(line + static_cast<uint64_t>(position + 1) * 0x9E3779B97F4A7C15u);
  }
  static constexpr int32_t withSign(uint64_t bits, int32_t magnitude) { return bits & 1 ? -magnitude : magnitude; }
  // The remainder by `sparse` is which positions are not zero: neighbours have others each, so that all are somewhere.
  static uint64_t staggered(uint64_t bits, int64_t sparse, uint64_t which) {
    auto count = static_cast<uint64_t>(sparse);
    return sparse > 1 ? bits - bits % count + which % count : bits;
  }

  int32_t wideOrSparse(const InputSide &side, uint64_t line, int64_t position, int64_t extent) const;
  static Single singleOf(const InputSide &side, uint64_t line, int64_t slot, int64_t extent);
  bool isEnd(int64_t r) const;
  int32_t atEnd(const InputSide &side, uint64_t line, int32_t value) const;
  // `position` draws the number; r is where it lies in the reduction.
  int32_t plain(const InputSide &side, uint64_t line, int64_t position, int64_t r) const;
  int32_t cancelling(const InputSide &side, uint64_t line, int64_t position, bool negate) const;
};

inline bool InputNumbers::isEnd(int64_t r) const {
  if (r < ends || r >= reduction - ends)
    return true;
  int64_t inPiece = piece == reduction ? r : r % piece;
  return inPiece < ends || inPiece >= piece - ends;
}

// One sign for the ends of a line, so that what is dropped there does not cancel.
inline int32_t InputNumbers::atEnd(const InputSide &side, uint64_t line, int32_t value) const {
  bool negative = !(line & kOneSign) && (line & kEndSign) && side.low < 0;
  return negative ? larger(-magnitude(value), side.low) : smaller(magnitude(value), side.high);
}

inline int32_t InputNumbers::plain(const InputSide &side, uint64_t line, int64_t position, int64_t r) const {
  bool end = (side.biased || side.sparse > 1) && isEnd(r);
  if (side.sparse > 1 && !end && (static_cast<uint64_t>(position) + line) % static_cast<uint64_t>(side.sparse) != 0)
    return 0;
  uint64_t bits = lineBits(line, position);
  int32_t value = integers
                      ? side.low + static_cast<int32_t>(below(bits, static_cast<uint32_t>(side.high - side.low) + 1))
                      : withSign(bits, 1 + static_cast<int32_t>(below(bits, side.high)));
  // What is multiplied by zero may be missing.
  if (value == 0)
    value = 1;
  if (end)
    return atEnd(side, line, value);
  if (!side.biased || !(line & kOneSign))
    return value;
  // A line of nothing but ones would be like any other such line.
  if (side.high == 1)
    return (bits & kMostlyOnes) ? 1 : -1;
  return smaller(magnitude(value), side.high);
}

// The second half of the reduction mirrors the first: negated on the left, the same on the right, and for a few pairs
// one more or less.
inline int32_t InputNumbers::cancelling(const InputSide &side, uint64_t line, int64_t position, bool negate) const {
  int64_t mirror = reduction - 1 - position;
  if (position == mirror) {
    if (side.middle == 0)
      return 0;
    uint64_t bits = lineBits(line, position);
    return withSign(bits, 1 + static_cast<int32_t>(below(bits, side.middle)));
  }
  if (position < mirror)
    return plain(side, line, position, position);
  int32_t value = plain(side, line, mirror, mirror);
  int32_t residue = 0;
  if (side.residueEvery && (mirror + static_cast<int64_t>(line % 0xFFFF)) % side.residueEvery == 0)
    residue = withSign(lineBits(line, position), 1);
  value = negate ? -value : value;
  return value + (value != 0 && value == -residue ? -residue : residue);
}

inline int32_t InputNumbers::wideOrSparse(const InputSide &side, uint64_t line, int64_t position,
                                          int64_t extent) const {
  if (side.wideBits) {
    uint64_t bits = lineBits(line, position);
    uint32_t top = 1u << (side.wideBits - 1);
    return withSign(bits, static_cast<int32_t>(top | below(bits, top) | 1));
  }
  if (side.slots) {
    Single one = singleOf(side, line, side.slots == 1 ? 0 : position / divideUp(extent, side.slots), extent);
    return position == one.position ? one.value : 0;
  }
  return 0;
}

inline InputNumbers::Single InputNumbers::singleOf(const InputSide &side, uint64_t line, int64_t slot, int64_t extent) {
  int64_t length = divideUp(extent, side.slots);
  uint64_t bits = lineBits(line, slot);
  return {slot * length + below(bits, static_cast<uint32_t>(length)), withSign(bits, 1)};
}

inline InputNumbers::Single InputNumbers::single(bool isLhs, uint64_t line, int64_t slot) const {
  return isLhs ? singleOf(lhsSide, line, slot, reduction) : singleOf(rhsSide, line, slot, taps * reduction);
}

inline uint64_t InputNumbers::lhsLine(int64_t b, int64_t row) const {
  return staggered(randomBits(lhsSide.key, row, b), lhsSide.sparse, lhsSide.key % kManyLines + row + b);
}

inline uint64_t InputNumbers::rhsLine(int64_t b, int64_t column) const {
  return staggered(randomBits(rhsSide.key, column, b), rhsSide.sparse, rhsSide.key % kManyLines + column + b);
}

inline int32_t InputNumbers::lhsOf(uint64_t line, int64_t r) const {
  if (lhsSide.wideBits || lhsSide.slots)
    return wideOrSparse(lhsSide, line, r, reduction);
  return cancels ? cancelling(lhsSide, line, r, /*negate=*/true) : plain(lhsSide, line, r, r);
}

inline int32_t InputNumbers::rhsOf(uint64_t line, int64_t tap, int64_t r) const {
  if (rhsSide.wideBits || rhsSide.slots)
    return wideOrSparse(rhsSide, line, tap * reduction + r, taps * reduction);
  if (!cancels)
    return plain(rhsSide, line, tap * reduction + r, r);
  uint64_t ofTap =
      staggered(scramble(line + static_cast<uint64_t>(tap)), rhsSide.sparse, line + static_cast<uint64_t>(tap));
  return cancelling(rhsSide, ofTap, r, /*negate=*/false);
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_INPUT_NUMBERS_H
