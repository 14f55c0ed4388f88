// The program of a product with zero points, as MLIR text.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_MLIR_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_MLIR_H

#include "kiln/families/matmul/workload/quantized_spec.h"

namespace kiln::families {

// One func.func: zeros, the product in i32, and of a requantized result one linalg.generic that scales, rounds, shifts
// and clamps. The product is linalg.quantized_matmul where that says it, of row-major i8; else a linalg.generic with
// both subtractions, as exporters write it. Programs have no sign: ui8 is i8, extended and converted without sign. A
// configuration that is not empty stands on the product.
std::string quantizedMlir(const QuantizedSpec &spec, std::string_view function, std::string_view configuration);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_MLIR_H
