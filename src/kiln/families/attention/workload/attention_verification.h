// How the results of attention are checked. See docs/verification.md.
#ifndef KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_VERIFICATION_H
#define KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_VERIFICATION_H

#include "kiln/families/attention/workload/attention_inputs.h"
#include "kiln/measure/verify/device/device_case.h"

namespace kiln::families {

// Queries, keys and values, in this order.
using AttentionInputs = measure::Tensors;

void prefillAttention(AttentionPass pass, const measure::MutableTensor &output);
measure::verify::Verdict checkAttention(const AttentionSpec &spec, AttentionPass pass, uint64_t seed,
                                        AttentionInputs inputs, const io::TensorSpan &output);

// The same for a device.
measure::verify::DeviceCase attentionOnDevice(const AttentionSpec &spec, AttentionPass pass, uint64_t seed);

// Computes some rows of each head again, in f64; see docs/verification.md. Null where the inputs are not the problem's.
std::unique_ptr<measure::verify::TimedCheck> timedAttention(const AttentionSpec &spec, AttentionInputs inputs,
                                                            uint64_t seed);

} // namespace kiln::families

#endif // KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_VERIFICATION_H
