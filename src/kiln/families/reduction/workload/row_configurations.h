// How llvm-cpu may compile a reduction over rows, or softmax.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_CONFIGURATIONS_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_CONFIGURATIONS_H

#include <string>
#include <vector>

#include "kiln/families/reduction/workload/row_spec.h"

namespace kiln::families {

// tile_config_1x{n}_0x1_vector_{rows}x{columns}: n rows to a workgroup (the result has one dimension, so that its tile
// is 1 x n), each reduced as a whole; vectors of partial results for `rows` rows and `columns` columns in registers.
// Along another dimension than the last, tile_config_{m}x{n}_0x1_vector_1x{columns}: n of those that lie side by side,
// m of those before the dimension. Likely best first; at most 16, fewer where the problem is too small to be cut in so
// many ways.
std::vector<std::string> rowConfigurations(const RowSpec &spec, int64_t vectorBits);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_CONFIGURATIONS_H
