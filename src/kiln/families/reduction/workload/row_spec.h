// A reduction along a dimension of a tensor, or the softmax of a matrix's rows, as the name says it, and back.
//
//   reduction_{sum|max|min|mean}_{rows}x{columns}[x{inner}]_{type}_{result type}
//   softmax_{rows}x{columns}_{type}
//
//   reduction_sum_1000x1001_f16_f32     one number for each row
//   reduction_sum_8x1000x64_f16_f32     along the dimension in the middle: 8x64 numbers, each of 1000
//   reduction_sum_1x1000x64_f16_f32     along the first dimension of a matrix
//   softmax_1000x1001_bf16              each row divided by the sum of its exponentials
//
// Any dimension of any tensor is the middle one of three: those before it are rows, those behind it inner. What becomes
// one number is called a row here, wherever its elements lie.
//
// Sums and means of f32, f16 and bf16 are kept in f32, and their results have the elements' type or f32; sums of i8 are
// i32. A maximum or a minimum has the type of the elements: f32, f16, bf16, i8. Softmax has f32, f16 and bf16, and is
// computed in f32.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_SPEC_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_SPEC_H

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/measure/workload.h"

namespace kiln::families {

enum class RowOp { Sum, Max, Min, Mean, Softmax };

// "sum"; "softmax".
std::string_view rowOpName(RowOp op);

struct RowSpec {
  RowOp op = RowOp::Sum;
  uint64_t rows = 1, columns = 1; // before the dimension that is reduced, and along it
  uint64_t inner = 1;             // behind it; no part of the name where it is 1
  hal::ElementType type = hal::ElementType::F32, result = hal::ElementType::F32;

  bool operator==(const RowSpec &) const = default;

  bool isSoftmax() const { return op == RowOp::Softmax; }
  // The results are numbers that the inputs have.
  bool isExtremum() const { return op == RowOp::Max || op == RowOp::Min; }
  std::string_view family() const { return isSoftmax() ? "softmax" : "reduction"; }
  // Numbers that one number each is made of, or a row of them.
  uint64_t rowCount() const { return rows * inner; }
  // What is promised for what is carried along a row.
  hal::ElementType accumulator() const;
  std::string name() const;
  // Whether the types go together and the sizes are within limits; what `parse` gives is.
  Status validate() const;

  measure::TensorType input() const;
  measure::TensorType output() const;

  // Of the family reduction or softmax. NotFound where the name is not of that family; InvalidArgument where it is and
  // is malformed, or says what is not supported.
  static Result<RowSpec> parse(std::string_view family, std::string_view name);
};

// The result of a type where a request names no other: i32 for sums of i8, else the type itself.
hal::ElementType defaultRowResult(RowOp op, hal::ElementType type);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_SPEC_H
