// How the results of a reduction are checked. See docs/verification.md.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_VERIFICATION_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_VERIFICATION_H

#include "kiln/families/reduction/workload/row_inputs.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/narrowing.h"

namespace kiln::families {

// The result for one row, and how far a right program may be from it.
measure::verify::Expectation reduceRow(const RowSpec &spec, std::span<const double> row);

// What the verdict is found by.
std::string reductionMethod(const RowSpec &spec);
measure::verify::Verdict checkReduction(const RowSpec &spec, RowPass pass, const io::TensorSpan &input,
                                        const io::TensorSpan &output);

// What outputs hold before a pass: small integers, or NaN in those that come second.
measure::verify::Pass rowPrefill(RowPass pass);

// A row of the input as numbers; and what a program takes for one that takes two dimensions of the input, of the same
// extent, for each other.
std::vector<double> readRow(const RowSpec &spec, const io::TensorSpan &input, uint64_t row);
std::vector<double> readSwappedRow(const RowSpec &spec, const io::TensorSpan &input, uint64_t row,
                                   std::pair<size_t, size_t> dimensions);
// Such dimensions, innermost first.
std::vector<std::pair<size_t, size_t>> equalDimensions(const RowSpec &spec);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_VERIFICATION_H
