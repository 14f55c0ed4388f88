// A product of 8-bit integers with zero points as its name says it, and back.
//
//   qmatmul_{M}x{N}x{K}_{lhs}_{rhs}_i32t_za{z}_zb{z}
//   qmatmul_{M}x{N}x{K}_{lhs}_{rhs}_{result}_za{z}_zb{z}_zc{z}_{pertensor|percolumn}
//
//   qmatmul_256x512x128_i8t_i8n_i32t_za3_zbm5                     sums of (a - 3) (b + 5) in i32; m stands for minus
//   qmatmul_256x512x128_ui8t_i8t_ui8t_za128_zb0_zc7_percolumn     the same requantized, with a scale for each column
//
// A matrix is an element type and its layout, as in matmul_spec.h. lhs is i8 or ui8, rhs is i8. Zero points are numbers
// of the matrix's type, and part of the problem: models have them as constants.
//
// A result in i32 is sum (a - za) (b - zb) modulo 2^32. A requantized result has the type of lhs. Of that sum, as a
// signed i32, and the scale s, an input in f32, it is
//
//   clamp(roundeven(f32(sum) * s) + zc)
//
// where f32(sum) is rounded to nearest even, the product is one f32 multiplication, roundeven takes halves to the even
// integer, zc is added to that integer, and clamp stops at the ends of the result's type.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_SPEC_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_SPEC_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/families/matmul/workload/matmul_spec.h"

namespace kiln::families {

inline constexpr std::string_view kQuantizedFamily = "qmatmul";

struct QuantizedSpec {
  uint64_t m = 1, n = 1, k = 1;
  Matrix lhs{ElementType::I8}, rhs{ElementType::I8}, result{ElementType::I32};
  int32_t lhsZero = 0, rhsZero = 0;
  // Of a requantized result.
  int32_t resultZero = 0;
  bool perColumn = false;

  bool operator==(const QuantizedSpec &) const = default;

  bool requantizes() const { return result.type != ElementType::I32; }
  std::string name() const;
  // NotFound where the name is no qmatmul_..., InvalidArgument where it is malformed or says what is not supported.
  static Result<QuantizedSpec> parse(std::string_view name);
  Status validate() const;

  // The product without zero points: what tiles are chosen for.
  MatmulSpec plain() const;

  // As they lie in memory. A scale for all columns has no dimensions.
  measure::TensorType lhsTensor() const { return {lhs.type, plain().lhsTensor().shape}; }
  measure::TensorType rhsTensor() const { return plain().rhsTensor(); }
  measure::TensorType scaleTensor() const;
  measure::TensorType resultTensor() const { return {result.type, {m, n}}; }
  // lhs, rhs, and the scale, where there is one.
  std::vector<measure::TensorType> inputs() const;
};

// What a name says behind its shape: "i8t_i8n_i32t_za3_zbm5"; sizes are 1.
Result<QuantizedSpec> parseQuantizedTypes(std::string_view text);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_SPEC_H
