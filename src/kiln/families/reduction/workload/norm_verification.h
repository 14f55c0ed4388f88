// Inputs of norms, and how their results are checked. See docs/verification.md.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_VERIFICATION_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_VERIFICATION_H

#include "kiln/families/reduction/workload/norm_spec.h"
#include "kiln/measure/verify/elements.h"

namespace kiln::families {

enum class NormPass {
  Values, // real numbers around a mean of another sign in every other row
  Large,  // rows of large, of tiny, and of equal numbers: what overflows, and what epsilon is there for
};

inline constexpr NormPass kNormPasses[] = {NormPass::Values, NormPass::Large};
std::string_view normPassName(NormPass pass);

void fillNorm(const NormSpec &spec, NormPass pass, uint64_t seed, measure::MutableTensors inputs);
void prefillNorm(NormPass pass, const measure::MutableTensor &output);

// A row's mean (0 of RMS norm) and its variance around that, and how far a program that computes in f32 may be from
// them: sums in any order, of so many columns.
struct RowMoments {
  double mean = 0, variance = 0;
  double meanBound = 0, varianceBound = 0;
  double epsilon = kNormEpsilon; // what is added to the variance

  static RowMoments of(const NormSpec &spec, std::span<const double> row);
};

// The result of one element: x * scale + shift by its row's moments, gamma and beta.
measure::verify::Expectation normalizedElement(const NormSpec &spec, const RowMoments &moments, double x, double gamma,
                                               double beta);

measure::verify::Verdict checkNorm(const NormSpec &spec, NormPass pass, measure::Tensors inputs,
                                   const io::TensorSpan &output);

// Projects each row. Null where the inputs are not the problem's.
std::unique_ptr<measure::verify::TimedCheck> timedNorm(const NormSpec &spec, measure::Tensors inputs, uint64_t seed);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_VERIFICATION_H
