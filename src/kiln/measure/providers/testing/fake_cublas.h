// Libraries that take the place of cuBLAS and cuBLASLt in tests: column-major products as their manuals define them, by
// a plain kernel in PTX that runs on the simulated GPU, one thread for each element of the result.
#ifndef KILN_MEASURE_PROVIDERS_TESTING_FAKE_CUBLAS_H
#define KILN_MEASURE_PROVIDERS_TESTING_FAKE_CUBLAS_H

#include "kiln/measure/providers/cublas/cublas_library.h"

namespace kiln::measure::testing {

// While this is set, f32 cuts off one of four steps of a sum where it ends, and does not round it: as tensor cores may.
inline bool cutsSums = false;

Result<CublasLibrary> fakeCublas(const hal::CudaLibrary &cuda);
// It proposes three algorithms: one that it then refuses, one that is slow, and a good one.
Result<CublasLtLibrary> fakeCublasLt(const hal::CudaLibrary &cuda);
inline constexpr uint64_t kGoodAlgorithm = 7;
// Of the last product of cuBLASLt.
uint64_t lastAlgorithm();

} // namespace kiln::measure::testing

#endif // KILN_MEASURE_PROVIDERS_TESTING_FAKE_CUBLAS_H
