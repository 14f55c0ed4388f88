// NVIDIA's libraries of matrix products, on a GPU.
#ifndef KILN_MEASURE_PROVIDERS_CUBLAS_CUBLAS_PROVIDER_H
#define KILN_MEASURE_PROVIDERS_CUBLAS_CUBLAS_PROVIDER_H

#include <memory>

#include "kiln/measure/providers/cublas/cublas_library.h"
#include "kiln/measure/providers/gpu_library.h"
#include "kiln/measure/providers/provider.h"

namespace kiln::measure {

// Products of f16 and bf16 with sums in f32, of f32, f64, and i8 with sums in i32. With `tf32` those of f32 are rounded
// to tf32 before they are multiplied; otherwise f32 it is.
std::unique_ptr<Provider> createCublasProvider(LoadGpuLibrary<CublasLibrary> load, bool tf32);
// The same with what follows a product in one kernel, by the fastest of the algorithms that the library proposes.
std::unique_ptr<Provider> createCublasLtProvider(LoadGpuLibrary<CublasLtLibrary> load, bool tf32);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_CUBLAS_CUBLAS_PROVIDER_H
