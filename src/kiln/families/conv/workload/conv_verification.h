// Inputs and checks of a convolution: where the family meets measure/verify.
#ifndef KILN_FAMILIES_CONV_WORKLOAD_CONV_VERIFICATION_H
#define KILN_FAMILIES_CONV_WORKLOAD_CONV_VERIFICATION_H

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kiln/families/conv/workload/conv_spec.h"

namespace kiln::families {

std::vector<std::string> verificationPasses(const ConvSpec &spec);
Status fillInputs(const ConvSpec &spec, size_t pass, uint64_t seed, std::span<const measure::MutableTensor> inputs);
void prefillOutputs(const ConvSpec &spec, size_t pass, std::span<const measure::MutableTensor> outputs);
// A verdict's coordinates are those of the result as it lies in memory.
measure::verify::Verdict check(const ConvSpec &spec, size_t pass, uint64_t seed, std::span<const io::TensorSpan> inputs,
                               std::span<const io::TensorSpan> outputs);

// Null where the tensors are not the problem's.
std::unique_ptr<measure::verify::TimedCheck> timedCheck(const ConvSpec &spec, std::span<const io::TensorSpan> inputs,
                                                        uint64_t seed);

// Whether these are the problem's tensors; the error says which is not.
Status matchTensors(const ConvSpec &spec, std::span<const io::TensorSpan> inputs);
Status matchOutput(const ConvSpec &spec, std::span<const io::TensorSpan> outputs);

// The definition as plain loops.
Status convReference(const ConvSpec &spec, std::span<const io::TensorSpan> inputs,
                     std::span<const measure::MutableTensor> outputs);

} // namespace kiln::families

#endif // KILN_FAMILIES_CONV_WORKLOAD_CONV_VERIFICATION_H
