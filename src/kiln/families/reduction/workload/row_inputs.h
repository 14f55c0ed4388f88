// Inputs of reductions and softmax for which a wrong method shows. See docs/verification.md.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_INPUTS_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_INPUTS_H

#include "kiln/families/reduction/workload/row_spec.h"

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

void fillRows(const RowSpec &spec, RowPass pass, uint64_t seed, const measure::MutableTensor &input);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_INPUTS_H
