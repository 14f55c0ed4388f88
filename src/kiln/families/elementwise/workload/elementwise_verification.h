// Inputs of an elementwise operation that show mistakes, and how its output is checked. See docs/verification.md.
#ifndef KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_VERIFICATION_H
#define KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_VERIFICATION_H

#include "kiln/families/elementwise/workload/elementwise_spec.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/timed_check.h"

namespace kiln::families {

// What the element of the result is, within what bound, for inputs x and y that the type has.
measure::verify::Expectation expectedElement(const ElementwiseSpec &spec, double x, double y);

Status fillElementwise(const ElementwiseSpec &spec, size_t pass, uint64_t seed, measure::MutableTensors inputs);
void prefillElementwise(size_t pass, measure::MutableTensors outputs);
measure::verify::Verdict checkElementwise(const ElementwiseSpec &spec, size_t pass, measure::Tensors inputs,
                                          measure::Tensors outputs);
// What a device needs to check one. Unimplemented of f32 where the bound is of a function in f64.
Result<measure::verify::DeviceElements> elementsOnDevice(const ElementwiseSpec &spec);
// What checkElementwise says of an output that is right.
measure::verify::Verdict rightElementwise(const ElementwiseSpec &spec);
// Elements that the check of timed results sums up together.
inline constexpr uint64_t kTimedBlock = 4096;
// Null where the tensors are not the problem's.
std::unique_ptr<measure::verify::TimedCheck> timedElementwise(const ElementwiseSpec &spec, measure::Tensors inputs,
                                                              uint64_t seed);
// The definition, element by element on one thread.
Status elementwiseReference(const ElementwiseSpec &spec, measure::Tensors inputs, measure::MutableTensors outputs);

// "values" and "special".
inline constexpr size_t kElementwisePasses = 2;

} // namespace kiln::families

#endif // KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_VERIFICATION_H
