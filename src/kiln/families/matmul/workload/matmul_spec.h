// A matrix product as its name says it, and back.
//
//   matmul_{M}x{N}x{K}_{lhs}_{rhs}_{result}[_accf16]
//   batch_matmul_{B}x{M}x{N}x{K}_{lhs}_{rhs}_{result}[_accf16]
//   matmul_{bias|bias_relu|bias_gelu|bias_gelu_tanh}_{M}x{N}x{K}_{lhs}_{rhs}_{result}[_accf16]
//   matmul_splitk_{serial|parallel}_{S}_{M}x{N}x{K}_{lhs}_{rhs}_{result}_part{type}
//
//   matmul_256x512x128_f32t_f32n_f32t              rhs is column-major: in memory it is 512x128
//   batch_matmul_16x512x64x512_f16t_f16t_f16t      f16 in and out, summed in f32 and rounded once at the end
//   matmul_256x512x128_f16t_f16t_f16t_accf16       summed in f16
//   matmul_bias_relu_256x512x128_f32t_f32t_f32t    max(lhs * rhs + bias, 0); the bias has an element for each column
//   matmul_splitk_parallel_4_128x128x12288_f16t_f16t_f16t_partf32    k in 4 slices, whose products are kept in f32
//
// A matrix is an element type and its layout: t is row-major, n column-major. Both operands have the same type; results
// are row-major. f32 gives f32, f16 gives f16 or f32, bf16 gives bf16 or f32, i8 gives i32. Floats are summed in f32,
// integers in i32; `_accf16`, of f16 alone, keeps sums in f16: each step is rounded to it.
//
// An epilogue computes in f32 on the finished sum, with a bias of the result's type, and rounds once; gelu is the exact
// one, x (1 + erf(x / sqrt 2)) / 2, and gelu_tanh x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. It is there for
// floats.
//
// Split-k cuts the reduction into S slices. In parallel, each slice has a partial product of its own, and these are
// summed at the end (in f32); serially, each slice adds to what those before it have made. Partial products are kept in
// f32, in f16 (of f16 operands alone), or of integers in i32. Slices have ceil(K / S) elements and the last one has the
// rest; where so long slices would leave nothing for it, they have floor(K / S), and the last one has the rest.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_SPEC_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_SPEC_H

#include <cstdint>
#include <optional>
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
Result<Matrix> parseMatrix(std::string_view text);

// What follows the product.
enum class Epilogue { None, Bias, BiasRelu, BiasGelu, BiasGeluTanh };
// "bias_relu"; empty for None.
std::string_view epilogueName(Epilogue epilogue);

enum class SplitK { None, Serial, Parallel };
// "serial"; empty for None.
std::string_view splitName(SplitK split);

struct MatmulSpec {
  bool batched = false;
  uint64_t batch = 1; // 1 unless batched
  uint64_t m = 1, n = 1, k = 1;
  Matrix lhs, rhs, result;
  // What sums are kept in.
  ElementType accumulator = ElementType::F32;
  Epilogue epilogue = Epilogue::None;
  SplitK split = SplitK::None;
  uint64_t slices = 1;                     // 1 unless split
  ElementType partials = ElementType::F32; // of split-k
  bool tf32 = false;     // f32 operands are multiplied as tf32; the name does not say it, as the configuration does
  bool cutsSums = false; // on a device; as Problem::promiseSumsOfTensorCores has it

  bool operator==(const MatmulSpec &) const = default;

  // Whether products of floats of 16 bits are added up in f32.
  bool sumsNarrowFloats() const {
    return (lhs.type == ElementType::F16 || lhs.type == ElementType::BF16) && accumulator == ElementType::F32;
  }

  // With sizes of 1 and f32; nothing for a family that is not of this folder.
  static std::optional<MatmulSpec> ofFamily(std::string_view family);
  std::string_view family() const;
  std::string name() const;
  // NotFound where the name does not start with `family` ("matmul", "batch_matmul") and a shape, or what split-k has
  // before it; InvalidArgument where it does and is malformed, or says what is not supported.
  static Result<MatmulSpec> parse(std::string_view family, std::string_view name);

  // Whether the types go together and all sizes are within limits; what `parse` gives is.
  Status validate() const;

  // As they lie in memory.
  measure::TensorType lhsTensor() const;
  measure::TensorType rhsTensor() const;
  measure::TensorType resultTensor() const;
  bool hasBias() const { return epilogue != Epilogue::None; }
  measure::TensorType biasTensor() const { return {result.type, {n}}; }

  // Elements of each slice but the last, and of the last.
  uint64_t sliceLength() const;
  uint64_t lastSlice() const { return k - (slices - 1) * sliceLength(); }
  // What sums are promised to be exact in: partial products that are stored in f16 leave no more.
  ElementType promisedAccumulator() const;

private:
  measure::TensorType tensor(uint64_t rows, uint64_t columns, const Matrix &matrix) const;
};

// No tensor of a problem may have more bytes than this, and no dimension be larger.
inline constexpr uint64_t kMatmulByteLimit = uint64_t(1) << 40;
inline constexpr uint64_t kMatmulExtentLimit = uint64_t(1) << 31;
// A program has an operation for each slice, when they come one after the other.
inline constexpr uint64_t kMatmulSliceLimit = 1024;

// The types that a request for "f16", or for "f16t_f16n_f32t_accf16", asks for, with M, N, K still 1. One element type
// means row-major matrices and a result of that type, i32 for i8. Of split-k it may also say "f16t_f16n_f32t_partf16";
// otherwise partial products are of the accumulator's type.
Result<MatmulSpec> parseMatmulTypes(std::string_view text, std::string_view family = "matmul");

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_SPEC_H
