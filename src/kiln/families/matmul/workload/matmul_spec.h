// A matrix product as its name says it, and back.
//
//   matmul_{M}x{N}x{K}_{lhs}_{rhs}_{result}[_accf16]
//   batch_matmul_{B}x{M}x{N}x{K}_{lhs}_{rhs}_{result}[_accf16]
//
//   matmul_256x512x128_f32t_f32n_f32t              rhs is column-major: in memory it is 512x128
//   batch_matmul_16x512x64x512_f16t_f16t_f16t      f16 in and out, summed in f32 and rounded once at the end
//   matmul_256x512x128_f16t_f16t_f16t_accf16       summed in f16
//
// A matrix is an element type and its layout: t is row-major, n column-major. Both operands have the same type; results
// are row-major. f32 gives f32, f16 gives f16 or f32, bf16 gives bf16 or f32, i8 gives i32. Floats are summed in f32,
// integers in i32; `_accf16`, of f16 alone, promises no more than f16 for the sums.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_SPEC_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_SPEC_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workload.h"

namespace kiln::families {

using io::ElementType;

struct Matrix {
  ElementType type = ElementType::F32;
  bool columnMajor = false;

  bool operator==(const Matrix &) const = default;
  // "f32t"
  std::string name() const;
};

struct MatmulSpec {
  bool batched = false;
  uint64_t batch = 1; // 1 unless batched
  uint64_t m = 1, n = 1, k = 1;
  Matrix lhs, rhs, result;
  // What sums are kept in.
  ElementType accumulator = ElementType::F32;

  bool operator==(const MatmulSpec &) const = default;

  std::string_view family() const { return batched ? "batch_matmul" : "matmul"; }
  std::string name() const;
  // NotFound where the name does not start with `family` ("matmul", "batch_matmul") and a shape; InvalidArgument where
  // it does and is malformed, or says what is not supported.
  static Result<MatmulSpec> parse(std::string_view family, std::string_view name);

  // Whether the types go together and all sizes are within limits; what `parse` gives is.
  Status validate() const;

  // As they lie in memory.
  measure::TensorType lhsTensor() const;
  measure::TensorType rhsTensor() const;
  measure::TensorType resultTensor() const;

private:
  measure::TensorType tensor(uint64_t rows, uint64_t columns, const Matrix &matrix) const;
};

// No tensor of a problem may have more bytes than this, and no dimension be larger.
inline constexpr uint64_t kMatmulByteLimit = uint64_t(1) << 40;
inline constexpr uint64_t kMatmulExtentLimit = uint64_t(1) << 31;

// The types that a request for "f16", or for "f16t_f16n_f32t_accf16", asks for, with M, N, K still 1. One element type
// means row-major matrices and a result of that type, i32 for i8.
Result<MatmulSpec> parseMatmulTypes(std::string_view text);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_SPEC_H
