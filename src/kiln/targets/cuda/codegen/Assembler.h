// From PTX to the machine code of one architecture, by NVIDIA's ptxas.
#ifndef KILN_TARGETS_CUDA_CODEGEN_ASSEMBLER_H
#define KILN_TARGETS_CUDA_CODEGEN_ASSEMBLER_H

#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"

namespace kiln {

// What ptxas says that a kernel loses.
struct AssemblerRemark {
  Util::Cost cost;
  std::string symbol; // the kernel's
  std::string text;
};

struct AssembledCode {
  llvm::SmallString<0> cubin;
  std::vector<AssemblerRemark> remarks;
};

// `ptxas` is a file, or a name that is looked for in PATH.
llvm::Expected<std::string> findAssembler(llvm::StringRef ptxas);

// `architecture` is as CudaTarget has it, `kernels` are the symbols of those that the PTX holds. Fails where `ptxas`
// does, or has written something else than code for a GPU with these kernels. No files are left, whoever ends.
// With `keepLines` the machine code names the source lines that the PTX names.
llvm::Expected<AssembledCode> assemble(llvm::StringRef ptxas, llvm::StringRef architecture, llvm::StringRef ptx,
                                       llvm::ArrayRef<llvm::StringRef> kernels, bool keepLines);

// What the output of `ptxas -v` says of kernels.
std::vector<AssemblerRemark> remarksOf(llvm::StringRef output);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_ASSEMBLER_H
