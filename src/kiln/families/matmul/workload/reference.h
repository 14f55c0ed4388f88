// A matrix product as plain loops: the definition, for those who are compared with it.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_REFERENCE_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_REFERENCE_H

#include <span>

#include "kiln/families/matmul/workload/matmul_spec.h"

namespace kiln::families {

// On one thread. InvalidArgument where the tensors are not the problem's.
Status computeReference(const MatmulSpec &spec, measure::Tensors inputs, measure::MutableTensors outputs);

// Whether a tensor has the type, the shape and the bytes of `wanted`; the error calls it `what`.
Status checkTensor(std::string_view what, const measure::TensorType &wanted, ElementType type,
                   std::span<const uint64_t> shape, size_t bytes);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_REFERENCE_H
