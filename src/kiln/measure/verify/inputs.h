// Inputs for which a right result is an exact integer, and a wrong method shows. Each element is a function of the seed
// and its position, so that any layout, and any part of a tensor, can be filled alone.
#ifndef KILN_MEASURE_VERIFY_INPUTS_H
#define KILN_MEASURE_VERIFY_INPUTS_H

#include <cstdint>
#include <span>

#include "kiln/base/status.h"
#include "kiln/measure/verify/contraction.h"
#include "kiln/measure/verify/input_numbers.h"

namespace kiln::measure::verify {

// What the elements of both operands are. For every (i, j), with inputs of any pass:
//   - the sum of |lhs * rhs| is at most sumLimit(): exact in the promised accumulator, in any order;
//   - the result is an integer of the result's type.
// In the pass Sums the partial sums are as large as that allows but for f16's range, which they stay within (mostly),
// so that an accumulator in f16 rounds rather than overflows. Where the result's type is narrower than the
// accumulator, position r of the reduction and its mirror image cancel but for a few. Where the reduction is longer
// than the accumulator can count, most of one side is zero: another part in each of its lines, and never the ends of
// the reduction or of its slices.
class InputPlan : private InputNumbers {
public:
  // A convolution reads each of `reduction` channels with `taps` weights: contraction.k = taps * reduction.
  // With `roomForBias` the result can be added to +-(resultLimit() + 16), and be an integer of the result's type still.
  static InputPlan make(const Contraction &contraction, Pass pass, uint64_t seed, int64_t taps = 1,
                        bool roomForBias = false);

  using InputNumbers::lhs, InputNumbers::lhsLine, InputNumbers::lhsOf;
  using InputNumbers::rhs, InputNumbers::rhsLine, InputNumbers::rhsOf;
  using InputNumbers::single, InputNumbers::slots;
  // The same for code that runs elsewhere.
  const InputNumbers &numbers() const { return *this; }

  double sumLimit() const { return limit; }
  // No result is larger in magnitude.
  double resultLimit() const { return resultBound; }
  // Of so many elements of the reduction, the part that takes part in a product other than zero: less than 1 where sums
  // are longer than the accumulator can count, and few.
  double usedPart() const;

private:
  using Side = InputSide;
  void planSums(const Contraction &contraction);
  static double magnitude(const Side &side); // of its largest element
  void planEnds(double room, int64_t slice);
  void planCancelling(double finalLimit);
  void planWide(const Contraction &contraction, Side &wide, Side &narrow, int64_t wideTaps);

  int spare = 0; // bits that are left for a bias
  double limit = 0, resultBound = 0;
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
