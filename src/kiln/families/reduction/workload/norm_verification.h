// Inputs of norms, and how their results are checked. See docs/verification.md.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_VERIFICATION_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_VERIFICATION_H

#include "kiln/families/reduction/workload/norm_spec.h"
#include "kiln/measure/verify/device/device_case.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/row_numbers.h"

namespace kiln::families {

enum class NormPass {
  Values, // real numbers around a mean of another sign in every other row
  Large,  // rows of large, of tiny, and of equal numbers: what overflows, and what epsilon is there for
};

inline constexpr NormPass kNormPasses[] = {NormPass::Values, NormPass::Large};
std::string_view normPassName(NormPass pass);

void fillNorm(const NormSpec &spec, NormPass pass, uint64_t seed, measure::MutableTensors inputs);
void prefillNorm(NormPass pass, const measure::MutableTensor &output);

// Of input 0, 1 or 2, before elements are rounded to their type.
measure::verify::RowNumbers normNumbers(const NormSpec &spec, NormPass pass, uint64_t seed, size_t input);

// As row_results.h has them.
measure::verify::RowMoments momentsOf(const NormSpec &spec, std::span<const double> row);
measure::verify::Expectation normalizedElement(const NormSpec &spec, const measure::verify::RowMoments &moments,
                                               double x, double gamma, double beta);

// What the verdict is found by, and the same for a device.
std::string normMethod(const NormSpec &spec);
measure::verify::DeviceCase normOnDevice(const NormSpec &spec, NormPass pass, uint64_t seed);

measure::verify::Verdict checkNorm(const NormSpec &spec, NormPass pass, measure::Tensors inputs,
                                   const io::TensorSpan &output);

// Projects each row. Null where the inputs are not the problem's.
std::unique_ptr<measure::verify::TimedCheck> timedNorm(const NormSpec &spec, measure::Tensors inputs, uint64_t seed);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_VERIFICATION_H
