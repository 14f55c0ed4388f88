// What a user can choose for the cuda backend. The flags are declared in CudaBackend.cpp.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CUDAOPTIONS_H
#define KILN_TARGETS_CUDA_CODEGEN_CUDAOPTIONS_H

#include <string>

namespace kiln {

struct CudaOptions {
  std::string architecture = "sm_80"; // sm_NN, sm_90a, or a product's name: h100
};

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_CUDAOPTIONS_H
