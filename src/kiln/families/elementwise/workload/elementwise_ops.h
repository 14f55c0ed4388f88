// What each elementwise operation is: its definition in f64, its arithmetic, and how far a program may be from it.
#ifndef KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_OPS_H
#define KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_OPS_H

#include <cstdint>
#include <span>
#include <string_view>

namespace kiln::families {

struct ElementwiseOp {
  std::string_view name;
  unsigned inputs;
  // Operations on an element as the definition writes them: a sum, a product, a comparison, a function of the library
  // is one each. gelu is 0.5 x (1 + erf(x sqrt(1/2))), five; gelu_tanh is
  // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x x x))), nine; sigmoid is 1 / (1 + exp(-x)), four.
  unsigned flops;
  // Rounded once from the exact number, so that there is one right result. Others are computed in f32, also for f16
  // and bf16, and are within `bound`.
  bool exact;
  bool integers; // also of i32, where it wraps around

  double (*apply)(double x, double y);
  // How far f32 arithmetic may be from `value`, the result for x, in f64. See docs/verification.md.
  double (*bound)(double x, double value);
  // Where most of what it does shows: the inputs of the first pass.
  double low, high;
  // MLIR from %x (and %y) to %r, in which TYPE stands for the type that it is computed in.
  std::string_view body;
};

std::span<const ElementwiseOp> elementwiseOps();
const ElementwiseOp *findElementwiseOp(std::string_view name);

} // namespace kiln::families

#endif // KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_OPS_H
