// Inputs for which a right result is an exact integer, and a wrong method shows. Each element is a function of the seed
// and its position, so that any layout, and any part of a tensor, can be filled alone.
#ifndef KILN_MEASURE_VERIFY_INPUTS_H
#define KILN_MEASURE_VERIFY_INPUTS_H

#include <cstdint>
#include <span>

#include "kiln/base/status.h"
#include "kiln/measure/verify/contraction.h"

namespace kiln::measure::verify {

// What the elements of both operands are. For every (i, j), with inputs of any pass:
//   - the sum of |lhs * rhs| is at most sumLimit(): exact in the promised accumulator, in any order;
//   - the result is an integer of the result's type.
// In the pass Sums the partial sums are as large as that allows but for f16's range, which they stay within (mostly),
// so that an accumulator in f16 rounds rather than overflows. Where the result's type is narrower than the
// accumulator, position r of the reduction and its mirror image cancel but for a few. Where the reduction is longer
// than the accumulator can count, most of one side is zero: another part in each of its lines, and never the ends of
// the reduction or of its slices.
class InputPlan {
public:
  // A convolution reads each of `reduction` channels with `taps` weights: contraction.k = taps * reduction.
  // With `roomForBias` the result can be added to +-(resultLimit() + 16), and be an integer of the result's type still.
  static InputPlan make(const Contraction &contraction, Pass pass, uint64_t seed, int64_t taps = 1,
                        bool roomForBias = false);

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

  double sumLimit() const { return limit; }
  // No result is larger in magnitude.
  double resultLimit() const { return resultBound; }
  // Of so many elements of the reduction, the part that takes part in a product other than zero: less than 1 where sums
  // are longer than the accumulator can count, and few.
  double usedPart() const;

private:
  struct Side {
    uint64_t key;              // of its random numbers
    int32_t low = 0, high = 0; // its elements; a floating-point operand has no zeros in between
    int64_t sparse = 1;        // one of so many positions is not zero, but for the ends of the reduction
    int64_t lines = 1;         // rows or columns
    int64_t residueEvery = 0;  // one of so many pairs does not cancel; 0: all do
    int32_t middle = 0;        // largest magnitude of the position that has no partner
    bool biased = false;       // half of the rows or columns have one sign
    int wideBits = 0;          // WideLhs, WideRhs: of the wide side
    int64_t slots = 0;         // and how many elements are not zero on the other
  };
  void planSums(const Contraction &contraction);
  static double magnitude(const Side &side); // of its largest element
  void planEnds(double room, int64_t slice);
  void planCancelling(double finalLimit);
  void planWide(const Contraction &contraction, Side &wide, Side &narrow, int64_t wideTaps);
  int32_t wideOrSparse(const Side &side, uint64_t line, int64_t position, int64_t extent) const;
  static Single singleOf(const Side &side, uint64_t line, int64_t slot, int64_t extent);
  bool isEnd(int64_t r) const;
  int32_t atEnd(const Side &side, uint64_t line, int32_t value) const;
  // `position` draws the number; r is where it lies in the reduction.
  int32_t plain(const Side &side, uint64_t line, int64_t position, int64_t r) const;
  int32_t cancelling(const Side &side, uint64_t line, int64_t position, bool negate) const;

  Side lhsSide, rhsSide;
  int64_t taps = 1, reduction = 0;
  int64_t piece = 1, ends = 0; // the reduction's slices, and how many elements at both ends of each count for certain
  int spare = 0;               // bits that are left for a bias
  double limit = 0, resultBound = 0;
  bool cancels = false, integers = false;
};

// Fills the operands, which must fit the contraction's layouts. All candidates get the same.
Status fillInputs(const Contraction &contraction, Pass pass, uint64_t seed, std::span<uint8_t> lhsBytes,
                  std::span<uint8_t> rhsBytes, unsigned threads = 2, bool roomForBias = false);

// What an output holds before the run, by its element's position in memory: small positive integers, different from
// element to element, or NaN in the pass WideRhs. The check knows it, and tells by it what was not written and what
// was added to.
void prefillOutput(ElementType type, Pass pass, std::span<uint8_t> outBytes);
double prefilledNumber(ElementType type, Pass pass, uint64_t element);

// Writes an integer that the type has.
void storeInteger(ElementType type, int32_t value, uint8_t *element);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_INPUTS_H
