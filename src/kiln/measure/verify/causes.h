// Which known mistake a wrong output resembles. Each mistake predicts what the wrong elements are; the predictions are
// computed exactly for a sample of them, and the first mistake that predicts them all is named.
#ifndef KILN_MEASURE_VERIFY_CAUSES_H
#define KILN_MEASURE_VERIFY_CAUSES_H

#include <string>

#include "kiln/measure/verify/samples.h"

namespace kiln::measure::verify {

struct Diagnosis {
  Cause cause;
  std::string reason; // "they are what lhs gives when it is rounded to bf16"
};

Diagnosis diagnose(const Surveyor &surveyor, const Survey &survey);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_CAUSES_H
