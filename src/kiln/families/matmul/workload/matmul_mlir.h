// The program of a matrix product, as MLIR text.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_MLIR_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_MLIR_H

#include "kiln/families/matmul/workload/matmul_spec.h"

namespace kiln::families {

// One func.func: zeros, the product as linalg.matmul or linalg.batch_matmul in the accumulator's type, and, where the
// result is narrower, a rounding. Column-major operands are told by indexing maps. A configuration that is not empty
// stands on the product: {kiln.configuration = "tile_config_..."}.
std::string matmulMlir(const MatmulSpec &spec, std::string_view function, std::string_view configuration);

// "tensor<256x128xf32>"
std::string tensorTypeText(const measure::TensorType &tensor);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_MLIR_H
