// The coarse check of timed reductions and softmax: every row is computed again in f64, or its weighted sum.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TIMED_CHECK_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TIMED_CHECK_H

#include <memory>

#include "kiln/families/reduction/workload/row_spec.h"

namespace kiln::families {

// Null where the tensors are not the problem's.
std::unique_ptr<measure::verify::TimedCheck> timedRows(const RowSpec &spec, measure::Tensors inputs, uint64_t seed);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TIMED_CHECK_H
