// How llvm-cpu may compile an elementwise operation.
#ifndef KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_CONFIGURATIONS_H
#define KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_CONFIGURATIONS_H

#include <string>
#include <vector>

#include "kiln/families/elementwise/workload/elementwise_spec.h"

namespace kiln::families {

// tile_config_1x{n}_0x1_vector_1x{columns}[_v{lanes}]: n elements to a workgroup, `columns` of them in registers at a
// time. The tensor is one row to the compiler, whatever its shape. Likely best first; at most 12, fewer where the
// problem is too small to be cut in so many ways.
std::vector<std::string> elementwiseConfigurations(const ElementwiseSpec &spec, int64_t vectorBits);

} // namespace kiln::families

#endif // KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_CONFIGURATIONS_H
