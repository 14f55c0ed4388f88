// A matrix product as the fields of a problem say it; what providers other than Kiln compute.
#ifndef KILN_MEASURE_PROVIDERS_MATMUL_SHAPE_H
#define KILN_MEASURE_PROVIDERS_MATMUL_SHAPE_H

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workers/protocol.h"

namespace kiln::measure {

struct MatmulOperand {
  io::ElementType type = io::ElementType::F32;
  bool columnMajor = false;

  // Elements from one row to the next, and from one column to the next, of a matrix of this size.
  uint64_t rowStride(uint64_t columns) const { return columnMajor ? 1 : columns; }
  uint64_t columnStride(uint64_t rows) const { return columnMajor ? rows : 1; }
};

// What is done to the product before it is stored; all but None add a bias first, a value for each column.
enum class Epilogue { None, Bias, BiasRelu, BiasGelu, BiasGeluTanh };

struct MatmulShape {
  bool batched = false;
  uint64_t batch = 1, m = 1, n = 1, k = 1;
  MatmulOperand lhs, rhs, result;
  Epilogue epilogue = Epilogue::None;

  // "f32 x f32 to f32"
  std::string typesText() const;
};

// From the fields batch_count, m, n, k, lhs, rhs and result ("f32t": an element type, and t for row-major or n for
// column-major); `accumulator` may say anything, since providers sum in f32 or wider, or in i32. A split-k problem is
// the same product: how its sum is split is how Kiln computes it. Unimplemented for a problem of another family, or
// with a field that is not known here and could change what is computed. InvalidArgument where the tensors of the
// request are not those of the problem.
Result<MatmulShape> matmulShape(const LoadRequest &request);
// The same, and those with an epilogue: inputs lhs, rhs and the bias, of the result's type; gelu is the one by erf,
// gelu_tanh the one by tanh.
Result<MatmulShape> matmulShapeWithEpilogue(const LoadRequest &request);

// A product of 8-bit integers with zero points, and what is made of its sums.
struct QuantizedShape {
  MatmulShape product;
  int32_t lhsZero = 0, rhsZero = 0;
  bool requantizes = false; // with a scale, a third input of f32: one number, or one for each column
  int32_t resultZero = 0;
  bool perColumn = false;
};
// Of the family qmatmul: from the fields m, n, k, lhs, rhs, result, lhs_zero_point and rhs_zero_point, and where the
// result is no i32, result_zero_point and scale ("tensor" or "column"). Errors are those of matmulShape.
Result<QuantizedShape> quantizedShape(const LoadRequest &request);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_MATMUL_SHAPE_H
