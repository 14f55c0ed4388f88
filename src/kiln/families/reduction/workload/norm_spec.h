// A normalization of rows as its name says it, and back.
//
//   layer_norm_{rows}x{columns}_{type}     (x - mean) / sqrt(variance + epsilon) * gamma + beta
//   rms_norm_{rows}x{columns}_{type}       x / sqrt(mean of x^2 + epsilon) * gamma
//
//   layer_norm_1000x1024_f32
//
// Mean and variance are each row's, over all of its columns; gamma and beta have a number for each column. Everything
// has the type f32, f16 or bf16, and is computed in f32 and rounded once.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_SPEC_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_SPEC_H

#include "kiln/families/reduction/workload/row_spec.h"

namespace kiln::families {

struct NormSpec {
  bool isLayerNorm = true;
  uint64_t rows = 1, columns = 1;
  hal::ElementType type = hal::ElementType::F32;

  bool operator==(const NormSpec &) const = default;

  std::string_view family() const { return isLayerNorm ? "layer_norm" : "rms_norm"; }
  std::string name() const;
  // Whether the type is supported and the sizes are within limits; what `parse` gives is.
  Status validate() const;
  measure::TensorType input() const { return {type, {rows, columns}}; }
  measure::TensorType parameter() const { return {type, {columns}}; }
  // x, gamma, and of layer norm beta.
  std::vector<measure::TensorType> inputs() const;
  // As what works on rows of the same shape and type.
  RowSpec asRows() const {
    return {.op = RowOp::Softmax, .rows = rows, .columns = columns, .type = type, .result = type};
  }

  // Of the family layer_norm or rms_norm. NotFound where the name is not of that family; InvalidArgument where it is
  // and is malformed, or says what is not supported.
  static Result<NormSpec> parse(std::string_view family, std::string_view name);
};

// Added to the variance, so that rows of equal numbers have a result: the float next to 0.00001.
inline constexpr float kNormEpsilon = 1e-5F;

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_SPEC_H
