// Checks of a product with zero points: where the family meets measure/verify.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_VERIFICATION_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_VERIFICATION_H

#include <memory>
#include <span>

#include "kiln/families/matmul/workload/quantized_inputs.h"

namespace kiln::families {

// Whether these are the problem's inputs.
Status checkQuantizedInputs(const QuantizedSpec &spec, measure::Tensors inputs);
Status checkQuantizedInputs(const QuantizedSpec &spec, measure::MutableTensors inputs);

measure::verify::Verdict checkQuantized(const QuantizedSpec &spec, QuantizedPass pass, uint64_t seed,
                                        measure::Tensors inputs, measure::Tensors outputs);

// Null where the tensors are not the problem's.
std::unique_ptr<measure::verify::TimedCheck> timedQuantized(const QuantizedSpec &spec, measure::Tensors inputs,
                                                            uint64_t seed);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_VERIFICATION_H
