// What a user can choose for the cuda backend. The flags are declared in CudaBackend.cpp.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CUDAOPTIONS_H
#define KILN_TARGETS_CUDA_CODEGEN_CUDAOPTIONS_H

#include <string>

namespace kiln {

struct CudaOptions {
  std::string architecture = "sm_80"; // sm_NN, sm_90a, a product's name such as h100, or native
  // What a module carries beside code that runs on one architecture alone; or none.
  std::string fallbackArchitecture = "sm_80";
  std::string ptxas; // makes machine code of the PTX: a file, or a name in PATH; empty: only the device's driver does
  bool debugSymbols = false;        // kernels name the lines of the MLIR source
  std::string transformDialectSpec; // a file; empty: the strategies
  bool transformDialectStrategies = false;
};

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_CUDAOPTIONS_H
