// From an LLVM module to PTX.
#ifndef KILN_TARGETS_CUDA_CODEGEN_PTXCODE_H
#define KILN_TARGETS_CUDA_CODEGEN_PTXCODE_H

#include "kiln/targets/cuda/codegen/CudaTarget.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kiln {

// Makes the LLVM target machine of `target`. `optimizationLevel` is 0 to 3.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createPtxMachine(const CudaTarget &target, int optimizationLevel);

// Says what LLVM may assume: the architecture, and that products may be fused into sums, and nothing else that changes
// a result.
void annotatePtxModule(llvm::Module &module, const llvm::TargetMachine &machine);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_PTXCODE_H
