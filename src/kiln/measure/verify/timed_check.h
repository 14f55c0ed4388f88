// The coarse check of what a candidate computed while it was timed. The verification passes are exact; this check finds
// work that was skipped, answers from memory, and outputs of other inputs.
#ifndef KILN_MEASURE_VERIFY_TIMED_CHECK_H
#define KILN_MEASURE_VERIFY_TIMED_CHECK_H

#include <span>

#include "kiln/measure/verify/verdict.h"
#include "kiln/runtime/io/host_tensor.h"

namespace kiln::measure::verify {

// Knows what outputs have to be for one set of inputs, up to rounding. Copies what it needs of the inputs, so that they
// may change once it is made. `check` may run on several threads at once.
class TimedCheck {
public:
  virtual ~TimedCheck() = default;
  // Reads each output byte about once. An element that still holds the poison (all bits set) fails, and so does a
  // result that is off by more than the error model of the promised types allows.
  virtual Verdict check(std::span<const io::TensorSpan> outputs) const = 0;
};

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_TIMED_CHECK_H
