// LLVM's target machine for CPUs, and what it may assume.
#ifndef KILN_TARGETS_CPU_CODEGEN_NATIVECODE_H
#define KILN_TARGETS_CPU_CODEGEN_NATIVECODE_H

#include <memory>

#include "kiln/compiler/Codegen/MachineCode.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kiln {

// Makes the LLVM target machine of `target`; position-independent. `optimizationLevel` is 0 to 3.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const CpuTarget &target,
                                                                         int optimizationLevel);

// Says on every function, and on every operation where it matters, what LLVM may assume: the CPU and its features, that
// products may be fused into sums (and nothing else that changes a result), that frames can be walked, and what the
// executable ABI promises of the pointers that it hands out.
void annotateModule(llvm::Module &module, const CpuTarget &target, const llvm::TargetMachine &machine);

// Masked stores of one element become plain ones, of optimized code. With AVX-512, LLVM 22 writes such an element in
// the width that it had before it was truncated, and with it what lies behind.
void storeSingleElements(llvm::Module &module);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_NATIVECODE_H
