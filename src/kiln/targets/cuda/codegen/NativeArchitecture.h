// The architecture of this machine's GPU, for --kiln-hal-cuda-llvm-target-arch=native.
#ifndef KILN_TARGETS_CUDA_CODEGEN_NATIVEARCHITECTURE_H
#define KILN_TARGETS_CUDA_CODEGEN_NATIVEARCHITECTURE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln {

// The best of `known` ("sm_80", "sm_90a") for a GPU of this compute capability: the one with what that GPU alone has,
// or else the newest that is not newer than it. Empty where all are newer.
std::string chooseArchitecture(llvm::ArrayRef<llvm::StringRef> known, int major, int minor);

// The same for the first GPU that NVIDIA's driver finds.
llvm::Expected<std::string> findNativeArchitecture(llvm::ArrayRef<llvm::StringRef> known);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_NATIVEARCHITECTURE_H
