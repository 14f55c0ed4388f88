#include "kiln/measure/providers/cublas/cublas_gemm.h"

#include <cstring>

#include "kiln/measure/providers/cublas/cublas_library.h"

namespace kiln::measure {

namespace {

using io::ElementType;

// Operands and result of these types are multiplied and summed so.
struct TypeEntry {
  ElementType operands, result;
  int operandType, resultType, computeType, scaleType;
};
constexpr TypeEntry kTypes[] = {
    {ElementType::F16, ElementType::F16, cublas::kF16, cublas::kF16, cublas::kComputeF32, cublas::kF32},
    {ElementType::F16, ElementType::F32, cublas::kF16, cublas::kF32, cublas::kComputeF32, cublas::kF32},
    {ElementType::BF16, ElementType::BF16, cublas::kBF16, cublas::kBF16, cublas::kComputeF32, cublas::kF32},
    {ElementType::BF16, ElementType::F32, cublas::kBF16, cublas::kF32, cublas::kComputeF32, cublas::kF32},
    {ElementType::F32, ElementType::F32, cublas::kF32, cublas::kF32, cublas::kComputeF32, cublas::kF32},
    {ElementType::F64, ElementType::F64, cublas::kF64, cublas::kF64, cublas::kComputeF64, cublas::kF64},
    {ElementType::I8, ElementType::I32, cublas::kI8, cublas::kI32, cublas::kComputeI32, cublas::kI32},
};

// Of `rows` x `columns` elements, to be used as it is or as its transpose.
CublasGemm::Operand operandOf(size_t input, const MatmulOperand &operand, uint64_t rows, uint64_t columns,
                              bool asTranspose) {
  CublasGemm::Operand result;
  result.input = input;
  result.transposed = operand.columnMajor == asTranspose;
  result.rows = int64_t(operand.columnMajor ? rows : columns);
  result.columns = int64_t(operand.columnMajor ? columns : rows);
  result.batchStride = int64_t(rows * columns);
  return result;
}

} // namespace

Result<CublasGemm> CublasGemm::of(const MatmulShape &shape, bool tf32) {
  const TypeEntry *types = nullptr;
  for (const TypeEntry &entry : kTypes)
    if (shape.lhs.type == entry.operands && shape.rhs.type == entry.operands && shape.result.type == entry.result)
      types = &entry;
  if (!types)
    return unimplemented("this provider has no product of {}", shape.typesText());
  if (tf32 && types->operands != ElementType::F32)
    return unimplemented("tf32 is for products of f32; this one is of {}", shape.typesText());
  CublasGemm gemm;
  const bool swapped = !shape.result.columnMajor;
  Operand lhs = operandOf(0, shape.lhs, shape.m, shape.k, swapped);
  Operand rhs = operandOf(1, shape.rhs, shape.k, shape.n, swapped);
  lhs.type = rhs.type = types->operandType;
  gemm.a = swapped ? rhs : lhs;
  gemm.b = swapped ? lhs : rhs;
  gemm.m = int64_t(swapped ? shape.n : shape.m);
  gemm.n = int64_t(swapped ? shape.m : shape.n);
  gemm.k = int64_t(shape.k);
  gemm.batch = int64_t(shape.batch);
  gemm.resultType = types->resultType;
  gemm.resultBatchStride = int64_t(shape.m * shape.n);
  gemm.computeType = tf32 ? cublas::kComputeTf32 : types->computeType;
  gemm.scaleType = types->scaleType;
  return gemm;
}

CublasScalar::CublasScalar(int type, int value) {
  const auto single = float(value);
  const double twice = value;
  if (type == cublas::kF64)
    std::memcpy(bytes, &twice, sizeof(twice));
  else if (type == cublas::kF32)
    std::memcpy(bytes, &single, sizeof(single));
  else
    std::memcpy(bytes, &value, sizeof(value));
}

} // namespace kiln::measure
