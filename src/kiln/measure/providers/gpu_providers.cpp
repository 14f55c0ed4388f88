#include "kiln/measure/providers/gpu_providers.h"

#include "kiln/measure/providers/cublas/cublas_provider.h"
#include "kiln/measure/providers/cudnn/cudnn_provider.h"

namespace kiln::measure {

template <typename Library> static LoadGpuLibrary<Library> from(const std::string &peers) {
  return [peers](const hal::CudaLibrary &cuda) { return Library::load(peers, cuda); };
}

static constexpr ProviderEntry kEntries[] = {
    {"cublas", "cuBLAS on a GPU: f16, bf16, f32, f64, and i8 to i32",
     [](const std::string &peers) { return createCublasProvider(from<CublasLibrary>(peers), false); }},
    {"cublas:tf32", "cuBLAS on a GPU, f32 rounded to tf32",
     [](const std::string &peers) { return createCublasProvider(from<CublasLibrary>(peers), true); }},
    {"cublaslt", "cuBLASLt on a GPU: the same, and what follows a product",
     [](const std::string &peers) { return createCublasLtProvider(from<CublasLtLibrary>(peers), false); }},
    {"cublaslt:tf32", "cuBLASLt on a GPU, f32 rounded to tf32",
     [](const std::string &peers) { return createCublasLtProvider(from<CublasLtLibrary>(peers), true); }},
    {"cudnn", "cuDNN on a GPU: convolutions of f16, bf16 and f32",
     [](const std::string &peers) { return createCudnnProvider(from<CudnnLibrary>(peers), false); }},
    {"cudnn:tf32", "cuDNN on a GPU, f32 rounded to tf32",
     [](const std::string &peers) { return createCudnnProvider(from<CudnnLibrary>(peers), true); }},
};

std::span<const ProviderEntry> gpuProviders() {
  return kEntries;
}

} // namespace kiln::measure
