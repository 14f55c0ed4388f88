// Exact verification of a contraction: see docs/verification.md.
//
//   for (Pass pass : passesOf(contraction)) {
//     fillInputs(contraction, pass, seed, lhs, rhs);
//     prefillOutput(contraction.result, pass, out);
//     ... the candidate computes out ...
//     checkContraction(contraction, pass, seed, lhs, rhs, out);
//   }
//
// The first verdict that is not ok names the mistake best: later passes hide what an earlier one shows.
#ifndef KILN_MEASURE_VERIFY_CHECK_H
#define KILN_MEASURE_VERIFY_CHECK_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/measure/verify/contraction.h"
#include "kiln/measure/verify/operand.h"
#include "kiln/measure/verify/verdict.h"

namespace kiln::measure::verify {

struct CheckOptions {
  unsigned threads = 2;
  // Multiplications that explaining a failure may take, roughly a nanosecond each. Within it every wrong element is
  // counted; beyond it they are estimated from a sample.
  int64_t explainWork = int64_t(1) << 28;
};

// What follows the sum in a fused program, where that is known exactly: out = scale * sum + bias, by column. A bias
// that is larger than any sum makes an activation linear (scale 1) or zero or saturated (scale 0).
struct ColumnMap {
  std::vector<int32_t> scale, bias; // n of each; both empty: out = sum
  // What becomes of a sum that is not right, and which an activation may bend; empty: the same.
  std::function<double(double sum, int64_t j)> ofAnySum = {};

  int64_t scaleAt(int64_t j) const { return scale.empty() ? 1 : scale[j]; }
  int64_t biasAt(int64_t j) const { return bias.empty() ? 0 : bias[j]; }
};

// The operands read as a mistaken program might read them.
struct SwappedReading {
  std::string what; // "lhs"
  const Operand *lhs, *rhs;
  Cause cause = Cause::SwappedLayout;
  std::string how = "read in the other layout";
};

// Dense rows x columns read in the other order: the same memory, where a program takes one for the other. Nothing for
// other layouts, and for vectors, which are the same both ways.
std::optional<Layout> otherOrder(const Layout &layout, int64_t rows, int64_t columns);

struct OutputPlace {
  int64_t b, i, j;
};

// A contraction whose left operand is not a plain matrix: what a family with an indexing of its own fills in.
struct ContractionCase {
  int64_t batch, m, n, k;
  ElementType lhsType, rhsType, result, accumulator;
  const Operand *lhs, *rhs;
  std::span<const uint8_t> outBytes;
  Layout outLayout;
  std::vector<SwappedReading> swaps;
  // The output's coordinates of (b, i, j), as they are shown; [i, j] or [b, i, j] where it is empty.
  std::function<std::vector<uint64_t>(int64_t b, int64_t i, int64_t j)> coordinates;
  ColumnMap columns = {};
  // Of an output that is no matrix for each batch index: its shape, and which element lies at some coordinates.
  std::vector<uint64_t> outShape = {};
  std::function<OutputPlace(std::span<const uint64_t> coordinates)> placeOf = {};
  // What was subtracted from the numbers in memory to make the operands, of 8-bit integers.
  int32_t lhsZero = 0, rhsZero = 0;
  // Lengths of loops inside of the reduction, of each of which a program may drop the end: a filter's channels.
  std::vector<int64_t> innerLoops = {};
};

// Fails where the sizes do not fit, or the inputs are not integers: that says nothing of the output.
Result<Verdict> checkContraction(const Contraction &contraction, Pass pass, uint64_t seed,
                                 std::span<const uint8_t> lhsBytes, std::span<const uint8_t> rhsBytes,
                                 std::span<const uint8_t> outBytes, const CheckOptions &options = {},
                                 const ColumnMap &columns = {});
Result<Verdict> checkCase(const ContractionCase &subject, Pass pass, uint64_t seed, const CheckOptions &options = {});

// What checkContraction says of an output that is right, or checkCase with unusedNote, of a reduction of so many taps.
Verdict rightVerdict(const Contraction &contraction, Pass pass, uint64_t seed, bool hasBias, int64_t taps = 1);
// For a verdict's method: what part of the reduction had products other than zero, where that is not all.
std::string unusedNote(const Contraction &contraction, Pass pass, uint64_t seed, int64_t taps, bool hasBias);

// For callers that need a verdict: a check that could not be made is not ok, and its explanation says why.
Verdict verdictOf(Result<Verdict> result);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_CHECK_H
