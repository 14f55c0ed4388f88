// How far results of a program of a user's own may be from the expected ones.
#ifndef KILN_MEASURE_CORPUS_TOLERANCE_H
#define KILN_MEASURE_CORPUS_TOLERANCE_H

#include <optional>
#include <string>
#include <string_view>

#include "kiln/measure/verify/verdict.h"
#include "kiln/runtime/io/host_tensor.h"

namespace kiln::measure::corpus {

// Integers are compared bit for bit, always. Of floats:
struct Tolerance {
  enum class Kind {
    // Half of the significand's bits have to agree: relative, with `value` 2^-6 for f16 (11 bits), 2^-4 bf16, 2^-12
    // f32, 2^-27 f64, 2^-2 f8E4M3FN, 2^-2 f8E5M2. The length of a program's sums is not known, and sums in another
    // order differ in their last bits; a wrong element, a tail that is missing, or a narrower type differ in the first
    // ones.
    // Where the program computes in a narrower float than its result has, that float's bits count.
    HalfTheBits,
    // |actual - expected| <= value * max(|expected|, rms), where rms is the root mean square of the expected tensor:
    // what is small because larger numbers cancel in it cannot be more precise than those.
    Relative,
    Ulps,  // `value` units in the last place of the expected number
    Exact, // the same number
  };
  Kind kind = Kind::HalfTheBits;
  double value = 0;
  std::optional<io::ElementType> narrowest = {}; // float that the program computes in

  // "1e-3", "4 ulp", "exact"; empty: the default.
  static Result<Tolerance> parse(std::string_view text);
  // What is asked of that type, as reports say it: "within 0.00024 of max(|x|, rms)".
  std::string textFor(io::ElementType type) const;
};

// `actual` and `expected` are of the same type and shape. `prefill` is what each byte of the output was before the run.
// The verdict's method is empty: the caller knows what was compared with what.
verify::Verdict compare(const io::TensorSpan &actual, const io::TensorSpan &expected, const Tolerance &tolerance,
                        uint8_t prefill);

} // namespace kiln::measure::corpus

#endif // KILN_MEASURE_CORPUS_TOLERANCE_H
