// What verification says of a candidate's outputs.
#ifndef KILN_MEASURE_VERIFY_VERDICT_H
#define KILN_MEASURE_VERIFY_VERDICT_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kiln/measure/verify/deviations.h"

namespace kiln::measure::verify {

// The mistakes that a failure can resemble; the names are stored and shown.
enum class Cause {
  None,              // nothing is wrong
  Unknown,           // wrong, in no way that is known
  WrongElements,     // a few elements, scattered
  TransposedTile,    // a tile holds the transpose of what it should
  DroppedTail,       // the last rows or columns, or the last part of the reduction, are missing
  NotZeroed,         // what the output held before was added
  NarrowedInputs,    // inputs were rounded to a narrower type (tf32, bf16) before they were used
  NarrowAccumulator, // sums were kept in a narrower type than promised
  SwappedLayout,     // a tensor was read or written in another layout
  DroppedPadding,    // a convolution read its image as if it began with its first pixel
  NotANumber,        // NaN or infinity where a number belongs
  NothingWritten,    // the output is as it was before the run
  NumberInstead,     // a number where infinity or NaN belongs
  WrongStart,        // a reduction starts from a value that should not take part
  LessPrecise,       // errors are larger than those of the promised types, though no element is wrong by itself
  WrongEpilogue,     // a bias or an activation was left out, or another one applied
  WrongZeroPoint,    // of quantized numbers: it was left out, or another one used
  WrongSign,         // numbers with a sign were read as if they had none, or the other way round
  WrongRounding,     // results were rounded in another way than promised
  // What calls were caught at while they were timed; see workers/timed_data.h.
  IdleWhenTimed,  // outputs are as they were before the request
  PartWhenTimed,  // some of the outputs are
  ReturnsEarly,   // they were when it answered, and are right a moment later
  FromMemory,     // right for inputs that the set held before
  OtherCall,      // right for another set
  WrongWhenTimed, // none of these
};

const char *causeName(Cause cause); // "output not zeroed", ...

struct Diagnosis {
  Cause cause;
  std::string reason; // "they are what lhs rounded to bf16 gives"
};

struct Mismatch {
  std::vector<uint64_t> index;
  double expected, actual;
  double ulps; // of the output's type
};

struct Verdict {
  Cause cause = Cause::None;
  // "exact: projection modulo 2^61-1, 2 rounds" and the like, and how likely an error escapes it.
  std::string method;
  double escapeProbability = 0;
  // Of weighted sums, if these were compared.
  Deviations deviations;
  // For a failure: one sentence; how many elements are wrong, of how many; the first of them; and pictures in text.
  std::string explanation;
  uint64_t wrong = 0, total = 0;
  std::vector<Mismatch> examples;
  std::string tilePattern;  // where in the output, coarsely, '.' right and 'x' wrong
  std::string ulpHistogram; // "1-2: 14  2-4: 3  ..."

  bool ok() const { return cause == Cause::None; }
};

// How many wrong elements are 2^exponent units in the last place off, or a little more: "<1: 3  1-2: 14  not finite:
// 1".
std::string ulpHistogram(const std::map<int, uint64_t> &byExponent, uint64_t notFinite);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_VERDICT_H
