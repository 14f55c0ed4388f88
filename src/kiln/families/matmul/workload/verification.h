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
Status fillInputs(const MatmulSpec &spec, size_t pass, uint64_t seed, std::span<const measure::MutableTensor> inputs);
void prefillOutputs(const MatmulSpec &spec, size_t pass, std::span<const measure::MutableTensor> outputs);
measure::verify::Verdict check(const MatmulSpec &spec, size_t pass, uint64_t seed,
                               std::span<const io::TensorSpan> inputs, std::span<const io::TensorSpan> outputs);
// Null where the tensors are not the problem's.
std::unique_ptr<measure::verify::TimedCheck> timedCheck(const MatmulSpec &spec, std::span<const io::TensorSpan> inputs,
                                                        uint64_t seed);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_VERIFICATION_H
