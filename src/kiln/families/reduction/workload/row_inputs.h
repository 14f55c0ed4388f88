// Inputs of reductions and softmax for which a wrong method shows. See docs/verification.md.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_INPUTS_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_INPUTS_H

#include <functional>

#include "kiln/families/reduction/workload/row_spec.h"
#include "kiln/measure/verify/row_numbers.h"

namespace kiln::families {

// What a pass is about. Each operation has some of them, in this order.
enum class RowPass {
  Sums,    // integers whose partial sums are exact in the promised accumulator and in no narrower one
  Wide,    // one number in each row, which fills the significand of its type; zeros beside it
  Values,  // real numbers, the deciding one of a row often in the last column
  Special, // zeros, infinities, the smallest and the largest numbers
  Large,   // exponents that overflow unless the row's maximum is subtracted; infinities that give zero
};

std::string_view rowPassName(RowPass pass);
std::vector<RowPass> rowPasses(const RowSpec &spec);

// Where the elements of a row lie: `step` apart, from `start` on. Rows are counted as they lie in the result.
struct RowPlace {
  uint64_t start, step;
};
inline RowPlace placeOfRow(const RowSpec &spec, uint64_t row) {
  return {row / spec.inner * spec.columns * spec.inner + row % spec.inner, spec.inner};
}

// Calls use(row, elements) for `count` rows of a tensor from `first` on. Rows whose elements lie side by side are read
// together.
void forRows(const RowSpec &spec, std::span<const uint8_t> input, uint64_t first, uint64_t count,
             const std::function<void(uint64_t row, std::span<const double> elements)> &use);

// Of the element at each row and column, before it is rounded to its type.
measure::verify::RowNumbers rowNumbers(const RowSpec &spec, RowPass pass, uint64_t seed);
void fillRows(const RowSpec &spec, RowPass pass, uint64_t seed, const measure::MutableTensor &input);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_INPUTS_H
