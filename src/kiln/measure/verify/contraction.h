// What is verified: out(b, i, j) = sum over p of lhs(b, i, p) * rhs(b, p, j), with any layouts.
#ifndef KILN_MEASURE_VERIFY_CONTRACTION_H
#define KILN_MEASURE_VERIFY_CONTRACTION_H

#include <cstdint>
#include <span>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/measure/verify/layout.h"
#include "kiln/runtime/hal/element_type.h"

namespace kiln::measure::verify {

using hal::ElementType;

struct Contraction {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  ElementType lhs, rhs, result;
  // The type that sums are promised to be kept in.
  ElementType accumulator;
  Layout lhsLayout, rhsLayout, outLayout; // (i, p), (p, j), (i, j)
  // Elements of the reduction that programs sum by themselves, slice by slice; 0: all at once.
  int64_t slice = 0;
  // Of f32 operands: only what tf32 has of them is multiplied.
  bool tf32 = false;
  // Sums are those of tensor cores, which cut off what they do not hold.
  bool cutsSums = false;

  // Row-major operands of one batch after the other.
  static Contraction dense(int64_t batch, int64_t m, int64_t n, int64_t k, ElementType operands, ElementType result,
                           ElementType accumulator);

  // Bits of the integers that an operand of this type is multiplied as.
  int operandBits(ElementType type) const;
  uint64_t outputCount() const { return static_cast<uint64_t>(batch * m * n); }

  // What is promised on a device, besides what a problem's name says, for a verdict's method: "; products in tf32".
  std::string_view promiseText() const;

  // Whether it can be verified exactly: extents and types.
  Status validate() const;
  // Whether each tensor has the bytes that its layout reaches.
  Status validate(uint64_t lhsBytes, uint64_t rhsBytes, uint64_t outBytes) const;
};

// A pass is a set of inputs that shows mistakes of one kind. `Sums` comes first and names most mistakes best.
//   Sums     every partial sum, in any order, is exact in the promised accumulator and in no smaller one
//   WideLhs  integers that fill lhs's significand against a few +-1 in rhs: shows narrowed inputs
//   WideRhs  the same with lhs and rhs swapped; outputs are filled with NaN before the run
enum class Pass { Sums, WideLhs, WideRhs };

std::string_view passName(Pass pass);
// Those that say something about the contraction: integer inputs have no width to lose, so that Sums is enough.
std::span<const Pass> passesOf(const Contraction &contraction);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_CONTRACTION_H
