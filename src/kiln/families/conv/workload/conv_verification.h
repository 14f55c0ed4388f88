// Inputs and checks of a convolution: where the family meets measure/verify.
#ifndef KILN_FAMILIES_CONV_WORKLOAD_CONV_VERIFICATION_H
#define KILN_FAMILIES_CONV_WORKLOAD_CONV_VERIFICATION_H

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kiln/families/conv/workload/conv_spec.h"
#include "kiln/measure/verify/device/device_case.h"

namespace kiln::families {

std::vector<std::string> verificationPasses(const ConvSpec &spec);
Status fillInputs(const ConvSpec &spec, size_t pass, uint64_t seed, measure::MutableTensors inputs);
void prefillOutputs(const ConvSpec &spec, size_t pass, measure::MutableTensors outputs);
// A verdict's coordinates are those of the result as it lies in memory.
measure::verify::Verdict check(const ConvSpec &spec, size_t pass, uint64_t seed, measure::Tensors inputs,
                               measure::Tensors outputs);

Result<measure::verify::DeviceCase> deviceCase(const ConvSpec &spec, size_t pass, uint64_t seed);

// Null where the tensors are not the problem's.
std::unique_ptr<measure::verify::TimedCheck> timedCheck(const ConvSpec &spec, measure::Tensors inputs, uint64_t seed);

// Whether these are the problem's tensors; the error says which is not.
Status matchTensors(const ConvSpec &spec, measure::Tensors inputs);
Status matchOutput(const ConvSpec &spec, measure::Tensors outputs);

// The definition as plain loops.
Status convReference(const ConvSpec &spec, measure::Tensors inputs, measure::MutableTensors outputs);

} // namespace kiln::families

#endif // KILN_FAMILIES_CONV_WORKLOAD_CONV_VERIFICATION_H
