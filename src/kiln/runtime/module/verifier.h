// The verifier of VM code: after it, the interpreter needs no check of opcodes, registers, branch targets, indices or
// lists.
#ifndef KILN_RUNTIME_MODULE_VERIFIER_H
#define KILN_RUNTIME_MODULE_VERIFIER_H

#include "kiln/base/status.h"
#include "kiln/runtime/module/module.h"

namespace kiln::vm {

// Verifies the code of one function, and sets its scratch counts. Signatures and tables of the module must have been
// read. The message names the position within the function and the instruction.
Status verifyFunction(const Module &module, FunctionInfo &function);

} // namespace kiln::vm

#endif // KILN_RUNTIME_MODULE_VERIFIER_H
