// What programs that lose precision or leave out an end would compute: for suspicions of families (elements.h).
#ifndef KILN_MEASURE_VERIFY_NARROWING_H
#define KILN_MEASURE_VERIFY_NARROWING_H

#include <span>
#include <string>
#include <vector>

#include "kiln/measure/verify/number.h"

namespace kiln::measure::verify {

// Narrower types than those of the inputs, with the ways of rounding to them.
struct Narrowing {
  FloatFormat format;
  Rounding rounding;

  double of(double value) const { return roundTo(format, value, rounding); }
  std::string text() const; // "rounded to bf16"
};
std::vector<Narrowing> narrowings(ElementType type);

// A sum in order with `lanes` accumulators of a narrow format, which are then added to each other by halves.
double narrowSum(const FloatFormat &format, std::span<const double> row, size_t lanes);
// "sums in f16 in 8 lanes give just these numbers"
std::string narrowSumText(const FloatFormat &format, size_t lanes);
// What the row is to a program that narrows its inputs.
std::vector<double> narrowRow(std::span<const double> row, const Narrowing &narrowing);

// Numbers of columns that a program may take by mistake instead of all, the largest first: all but one, and whole
// vectors of any usual length.
std::vector<uint64_t> shorterRows(uint64_t columns);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_NARROWING_H
