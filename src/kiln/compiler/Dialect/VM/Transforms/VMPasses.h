// The vm phase: from host functions and executables to a module of the VM.
#ifndef KILN_COMPILER_DIALECT_VM_TRANSFORMS_VMPASSES_H
#define KILN_COMPILER_DIALECT_VM_TRANSFORMS_VMPASSES_H

#include "kiln/compiler/Interfaces/CompilerContext.h"

namespace kiln::VM {

void buildVMPhase(mlir::OpPassManager &passes, const CompilerContext &context);

void registerVMPasses(const CompilerContext &context);

#define GEN_PASS_DECL
#include "kiln/compiler/Dialect/VM/Transforms/VMPasses.h.inc"

} // namespace kiln::VM

#endif // KILN_COMPILER_DIALECT_VM_TRANSFORMS_VMPASSES_H
