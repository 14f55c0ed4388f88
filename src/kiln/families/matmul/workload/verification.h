// Inputs and checks of a matrix product: where the family meets measure/verify.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_VERIFICATION_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_VERIFICATION_H

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kiln/families/matmul/workload/matmul_spec.h"

namespace kiln::families {

std::vector<std::string> verificationPasses(const MatmulSpec &spec);
Status fillInputs(const MatmulSpec &spec, size_t pass, uint64_t seed, measure::MutableTensors inputs);
void prefillOutputs(const MatmulSpec &spec, size_t pass, measure::MutableTensors outputs);
measure::verify::Verdict check(const MatmulSpec &spec, size_t pass, uint64_t seed, measure::Tensors inputs,
                               measure::Tensors outputs);
// What a device needs to make the inputs of a pass and to check the output.
Result<measure::verify::DeviceCase> deviceCase(const MatmulSpec &spec, size_t pass, uint64_t seed);
// Null where the tensors are not the problem's.
std::unique_ptr<measure::verify::TimedCheck> timedCheck(const MatmulSpec &spec, measure::Tensors inputs, uint64_t seed);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_VERIFICATION_H
