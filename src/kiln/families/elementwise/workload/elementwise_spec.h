// An elementwise operation as its name says it, and back.
//
//   elementwise_{op}_{d0}x{d1}..._{type}
//
//   elementwise_gelu_1000x1001_f16     of rank 1 to 4, row-major
//   elementwise_add_4096_i32           add and mul also have integers, which wrap around
//
// exp, tanh, sigmoid, gelu and gelu_tanh of f16 and bf16 are computed in f32 and rounded once at the end.
#ifndef KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_SPEC_H
#define KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_SPEC_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/families/elementwise/workload/elementwise_ops.h"
#include "kiln/measure/workload.h"

namespace kiln::families {

struct ElementwiseSpec {
  const ElementwiseOp *op = nullptr;
  std::vector<uint64_t> shape;
  hal::ElementType type = hal::ElementType::F32;

  bool operator==(const ElementwiseSpec &) const = default;

  std::string name() const;
  // "1000x1001"
  std::string shapeText() const;
  uint64_t elements() const;
  // Whether the operation has the type, and the shape is within limits; what `parse` gives is.
  Status validate() const;
  measure::TensorType tensor() const { return {type, shape}; }

  // NotFound where the name is not of this family; InvalidArgument where it is and is malformed, or says what is not
  // supported.
  static Result<ElementwiseSpec> parse(std::string_view name);
};

inline constexpr size_t kElementwiseMostDimensions = 4;

} // namespace kiln::families

#endif // KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_SPEC_H
