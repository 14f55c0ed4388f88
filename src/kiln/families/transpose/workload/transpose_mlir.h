// Transpositions as MLIR.
#ifndef KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_MLIR_H
#define KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_MLIR_H

#include "kiln/families/transpose/workload/transpose_spec.h"

namespace kiln::families {

// One function; its root, a linalg.generic over the result's elements, carries the configuration.
std::string transposeMlir(const TransposeSpec &spec, std::string_view function, std::string_view configuration);

} // namespace kiln::families

#endif // KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_MLIR_H
