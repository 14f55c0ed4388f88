// Turns a survey of wrong elements into what a user reads.
#ifndef KILN_MEASURE_VERIFY_EXPLAIN_H
#define KILN_MEASURE_VERIFY_EXPLAIN_H

#include "kiln/measure/verify/samples.h"

namespace kiln::measure::verify {

// Fills in the failure: cause, explanation, counts, examples, pictures.
void explain(const Surveyor &surveyor, const Survey &survey, Verdict &verdict);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_EXPLAIN_H
