// How the results of a reduction are checked. See docs/verification.md.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_VERIFICATION_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_VERIFICATION_H

#include "kiln/families/reduction/workload/row_inputs.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {

// The result for one row, and how far a right program may be from it.
measure::verify::Expectation reduceRow(const RowSpec &spec, std::span<const double> row);

measure::verify::Verdict checkReduction(const RowSpec &spec, RowPass pass, const io::TensorSpan &input,
                                        const io::TensorSpan &output);

// What outputs hold before a pass: small integers, or NaN in those that come second.
measure::verify::Pass rowPrefill(RowPass pass);

// A row of the input as numbers; and what a program takes for one that reads a square input in the other layout.
std::vector<double> readRow(const RowSpec &spec, const io::TensorSpan &input, uint64_t row);
std::vector<double> readColumn(const RowSpec &spec, const io::TensorSpan &input, uint64_t column);

// Narrower types than those of the inputs, with the ways of rounding to them.
struct Narrowing {
  measure::verify::FloatFormat format;
  measure::verify::Rounding rounding;

  std::string text() const; // "rounded to bf16"
};
std::vector<Narrowing> narrowings(hal::ElementType type);

// A sum in order with `lanes` accumulators of a narrow format, which are then added to each other by halves.
double narrowSum(const measure::verify::FloatFormat &format, std::span<const double> row, size_t lanes);
// "sums in f16 in 8 lanes give just these numbers"
std::string narrowSumText(const measure::verify::FloatFormat &format, size_t lanes);
// What the row is to a program that narrows its inputs.
std::vector<double> narrowRow(std::span<const double> row, const Narrowing &narrowing);

// Numbers of columns that a program may take by mistake instead of all, the largest first: all but one, and whole
// vectors of any usual length.
std::vector<uint64_t> shorterRows(uint64_t columns);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_VERIFICATION_H
