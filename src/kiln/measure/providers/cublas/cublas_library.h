// cuBLAS and cuBLASLt, loaded at run time; what is used of their interfaces is declared here.
#ifndef KILN_MEASURE_PROVIDERS_CUBLAS_CUBLAS_LIBRARY_H
#define KILN_MEASURE_PROVIDERS_CUBLAS_CUBLAS_LIBRARY_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "kiln/base/status.h"
#include "kiln/targets/cuda/driver/cuda_library.h"

namespace kiln::measure {

using CublasHandle = struct CublasContext *;
using CublasLtHandle = struct CublasLtContext *;
using CublasLtMatmul = struct CublasLtMatmulDescription *;
using CublasLtLayout = struct CublasLtMatrixLayout *;
using CublasLtPreference = struct CublasLtMatmulPreference *;

// cublasLtMatmulHeuristicResult_t
struct CublasLtHeuristic {
  uint64_t algorithm[8];
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

namespace cublas {
inline constexpr int kSuccess = 0, kNotSupported = 15;
inline constexpr int kKeep = 0, kTranspose = 1;
// Element types, those of scalars among them.
inline constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kI8 = 3, kI32 = 10, kBF16 = 14;
// What sums are kept in.
inline constexpr int kComputeF32 = 68, kComputeF64 = 70, kComputeI32 = 72, kComputeTf32 = 77;
inline constexpr int kDefaultAlgorithm = -1;
// Attributes of cuBLASLt.
inline constexpr int kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8, kBiasType = 26;
inline constexpr int kBatchCount = 5, kBatchStride = 6;
inline constexpr int kMostWorkspace = 1;
// Epilogues.
inline constexpr int kBias = 4, kReluBias = 6, kGeluBias = 36;
} // namespace cublas

// Tables of functions, each a member of its name.
struct CublasLibrary {
#define KILN_CUBLAS_FUNCTION(name, parameters) int(*name) parameters = nullptr;
#include "kiln/measure/providers/cublas/cublas_functions.def"
#undef KILN_CUBLAS_FUNCTION

  // Unimplemented where this machine has none that its driver is new enough for.
  static Result<CublasLibrary> load(const std::string &peersFolder, const hal::CudaLibrary &cuda);
};

struct CublasLtLibrary {
#define KILN_CUBLAS_FUNCTION(name, parameters) int(*name) parameters = nullptr;
#include "kiln/measure/providers/cublas/cublaslt_functions.def"
#undef KILN_CUBLAS_FUNCTION
  size_t (*cublasLtGetVersion)() = nullptr;

  static Result<CublasLtLibrary> load(const std::string &peersFolder, const hal::CudaLibrary &cuda);
};

// Success, or an error with the library's number for it: Unimplemented where it does not do what was asked.
Status checkCublas(int status, std::string_view what);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_CUBLAS_CUBLAS_LIBRARY_H
