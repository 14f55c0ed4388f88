// The program of a split reduction, as MLIR text.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_SPLITK_MLIR_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_SPLITK_MLIR_H

#include "kiln/families/matmul/workload/matmul_spec.h"

namespace kiln::families {

// Slices are read where they lie, by indices: slice s of lhs is (m, s * length + k). Nothing is padded or copied, and
// an input of the slice's extent, of which nothing is read, says how long the loop is.
//
// In parallel, all slices of the same length are one linalg.generic with a loop over slices; a last slice of another
// length is one beside it, which depends on nothing either. A reduction over the slices follows, with what the last one
// adds. A product whose partial products are kept in f16 is one in f16, which Kiln sums in f32 and rounds once.
// Serially, each slice is a linalg.generic whose output starts as that of the one before. The configuration stands on
// each of the products.
std::string splitKMlir(const MatmulSpec &spec, std::string_view function, std::string_view configuration);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_SPLITK_MLIR_H
