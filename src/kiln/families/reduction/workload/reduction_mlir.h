// The programs of reductions and of softmax.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_MLIR_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_MLIR_H

#include <string>
#include <string_view>

#include "kiln/families/reduction/workload/row_spec.h"

namespace kiln::families {

// The reduction, or softmax's sum, carries the configuration unless that is empty.
std::string reductionMlir(const RowSpec &spec, std::string_view function, std::string_view configuration);
std::string softmaxMlir(const RowSpec &spec, std::string_view function, std::string_view configuration);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_MLIR_H
