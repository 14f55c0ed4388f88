// The program of a matrix product, as MLIR text.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_MLIR_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_MLIR_H

#include "kiln/families/matmul/workload/matmul_spec.h"

namespace kiln::families {

// One func.func: zeros, the product as linalg.matmul or linalg.batch_matmul in the accumulator's type, and what follows
// it as one linalg.generic: the epilogue, or a rounding where the result is narrower. Column-major operands are told by
// indexing maps. A configuration that is not empty stands on the product: {kiln.configuration = "tile_config_..."}.
//
// Sums that are kept in f16 are a linalg.generic that rounds each step: a linalg.matmul in f16 leaves open how
// precisely it sums, and Kiln sums in f32.
//
// Split-k: splitk_mlir.h.
std::string matmulMlir(const MatmulSpec &spec, std::string_view function, std::string_view configuration);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_MLIR_H
