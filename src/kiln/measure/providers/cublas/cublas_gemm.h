// A product of row-major matrices as cuBLAS, whose matrices are column-major, computes it.
#ifndef KILN_MEASURE_PROVIDERS_CUBLAS_CUBLAS_GEMM_H
#define KILN_MEASURE_PROVIDERS_CUBLAS_CUBLAS_GEMM_H

#include <cstdint>

#include "kiln/base/status.h"
#include "kiln/measure/providers/matmul_shape.h"

namespace kiln::measure {

// A row-major matrix is the transpose of a column-major one: in place of C = A B it computes its transpose, B^T A^T.
struct CublasGemm {
  struct Operand {
    size_t input = 0; // of the problem
    bool transposed = false;
    int type = 0;
    int64_t rows = 0, columns = 0; // as it lies in memory, column-major
    int64_t batchStride = 0;
  };
  Operand a, b;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  int resultType = 0;
  int64_t resultBatchStride = 0;
  int computeType = 0, scaleType = 0;

  // Unimplemented where cuBLAS has no product of these types.
  static Result<CublasGemm> of(const MatmulShape &shape, bool tf32);
};

// 1 or 0 in the type of scalars.
struct CublasScalar {
  CublasScalar(int type, int value);
  const void *data() const { return bytes; }

private:
  alignas(8) unsigned char bytes[8] = {};
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_CUBLAS_CUBLAS_GEMM_H
