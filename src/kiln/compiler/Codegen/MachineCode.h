// From an LLVM module to what its target machine emits.
#ifndef KILN_COMPILER_CODEGEN_MACHINECODE_H
#define KILN_COMPILER_CODEGEN_MACHINECODE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kiln {

// LLVM's name for a level from 0 to 3.
llvm::CodeGenOptLevel codeGenLevel(int optimizationLevel);

// LLVM's own pipeline of that level.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine, int optimizationLevel);

// Changes the module; where it is needed afterwards, give a clone.
llvm::Error emitNativeCode(llvm::Module &module, llvm::TargetMachine &machine, bool assembly,
                           llvm::SmallVectorImpl<char> &bytes);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_MACHINECODE_H
