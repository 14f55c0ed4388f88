// How the results of softmax are checked. See docs/verification.md.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_SOFTMAX_VERIFICATION_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_SOFTMAX_VERIFICATION_H

#include "kiln/families/reduction/workload/row_inputs.h"
#include "kiln/measure/verify/elements.h"

namespace kiln::families {

// The results for one row, and how far a program that computes in f32 may be from them.
void softmaxRow(const RowSpec &spec, std::span<const double> row, std::span<measure::verify::Expectation> expected);

// What the verdict is found by.
std::string softmaxMethod(const RowSpec &spec);
measure::verify::Verdict checkSoftmax(const RowSpec &spec, RowPass pass, const io::TensorSpan &input,
                                      const io::TensorSpan &output);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_SOFTMAX_VERIFICATION_H
