// Inputs and checks of what follows a matrix product: a bias and an activation.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_EPILOGUE_CHECK_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_EPILOGUE_CHECK_H

#include <span>
#include <string>
#include <vector>

#include "kiln/families/matmul/workload/matmul_spec.h"
#include "kiln/measure/verify/check.h"
#include "kiln/measure/verify/device/device_case.h"

namespace kiln::families {

// In the passes of the contraction, a bias that no sum outweighs makes the activation the identity in some columns and
// zero in the others; without an activation it is of any size. Then the result is exact.
struct BiasPlan {
  std::vector<int32_t> bias;
  measure::verify::ColumnMap columns;
};
BiasPlan planBias(const MatmulSpec &spec, const measure::verify::Contraction &contraction, measure::verify::Pass pass,
                  uint64_t seed);

// The pass `activation`, of relu and gelu: sums and biases around zero, all of them exact in the accumulator, so that
// only the activation is left to differ from f64. Columns of rhs have three elements, so that every element of the
// output is computed again.
bool hasActivationPass(const MatmulSpec &spec);
Status fillActivation(const MatmulSpec &spec, const measure::verify::Contraction &contraction, uint64_t seed,
                      measure::MutableTensors inputs);
measure::verify::Verdict checkActivation(const MatmulSpec &spec, const measure::verify::Contraction &contraction,
                                         uint64_t seed, const io::TensorSpan &output);

// What a device needs for both, and what is said of an output that is right.
void describeActivation(const MatmulSpec &spec, const measure::verify::Contraction &contraction, uint64_t seed,
                        measure::verify::DeviceCase &subject);

// The function after the sum and the bias, in f64.
double activate(Epilogue epilogue, double x);

// Whether a wrong result is what another epilogue would give: without the bias, without the activation, ... Then the
// verdict says so.
void explainEpilogue(const MatmulSpec &spec, const measure::verify::Contraction &contraction, measure::Tensors inputs,
                     const io::TensorSpan &output, measure::verify::Verdict &verdict);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_EPILOGUE_CHECK_H
