// Attention as a program of linalg operations, as an exporter of models writes it.
#ifndef KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_MLIR_H
#define KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_MLIR_H

#include "kiln/families/attention/workload/attention_spec.h"

namespace kiln::families {

// A batched product of queries and keys, its scaling (and mask), a softmax in four steps, a batched product with the
// values, and a rounding where the type is narrow. `configuration` is that of both products.
std::string attentionMlir(const AttentionSpec &spec, std::string_view function, std::string_view configuration);

} // namespace kiln::families

#endif // KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_MLIR_H
