// A transposition as its name says it, and back.
//
//   transpose_{permutation}_{d0}x{d1}..._{type}
//
//   transpose_10_1000x1001_f32       a matrix with rows and columns swapped: 1001x1000
//   transpose_0213_2x3x4x5_bf16      2x4x3x5: a digit for each dimension of the result, which dimension of the input
//                                    it is
//
// The shape is the input's, of 2 to 4 dimensions. Elements are moved as they are, whatever their bits: f32, f16, bf16,
// i8 and i32.
#ifndef KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_SPEC_H
#define KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_SPEC_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workload.h"

namespace kiln::families {

using Permutation = std::vector<size_t>;

struct TransposeSpec {
  std::vector<uint64_t> shape; // of the input
  Permutation permutation;     // which dimension of the input each dimension of the result is
  hal::ElementType type = hal::ElementType::F32;

  bool operator==(const TransposeSpec &) const = default;

  std::string name() const;
  // "0213"
  std::string permutationText() const;
  uint64_t elements() const;
  // Whether the type and the shape are supported, and something is moved; what `parse` gives is.
  Status validate() const;
  measure::TensorType input() const { return {type, shape}; }
  measure::TensorType output() const;

  // NotFound where the name is not of this family; InvalidArgument where it is and is malformed, or says what is not
  // supported.
  static Result<TransposeSpec> parse(std::string_view name);
};

inline constexpr size_t kTransposeFewestDimensions = 2, kTransposeMostDimensions = 4;

// All permutations of so many dimensions but the one that moves nothing, in the order of their digits.
std::vector<Permutation> allPermutations(size_t rank);

} // namespace kiln::families

#endif // KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_SPEC_H
