// The program of an elementwise operation.
#ifndef KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_MLIR_H
#define KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_MLIR_H

#include <string>
#include <string_view>

#include "kiln/families/elementwise/workload/elementwise_spec.h"

namespace kiln::families {

// One linalg.generic, which carries the configuration unless that is empty.
std::string elementwiseMlir(const ElementwiseSpec &spec, std::string_view function, std::string_view configuration);

} // namespace kiln::families

#endif // KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_MLIR_H
