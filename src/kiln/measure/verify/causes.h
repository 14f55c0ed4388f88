// Which known mistake a wrong output resembles. Each mistake predicts what the wrong elements are; the predictions are
// computed exactly for a sample of them, and the first mistake that predicts them all is named.
#ifndef KILN_MEASURE_VERIFY_CAUSES_H
#define KILN_MEASURE_VERIFY_CAUSES_H

#include "kiln/measure/verify/samples.h"

namespace kiln::measure::verify {

Diagnosis diagnose(const Surveyor &surveyor, const Survey &survey);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_CAUSES_H
