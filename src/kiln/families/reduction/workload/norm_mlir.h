// Normalizations of rows as MLIR.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_MLIR_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_MLIR_H

#include "kiln/families/reduction/workload/norm_spec.h"

namespace kiln::families {

// One function; the sum of squares carries the configuration.
std::string normMlir(const NormSpec &spec, std::string_view function, std::string_view configuration);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_MLIR_H
