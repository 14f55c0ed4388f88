// The text of VM code: what the disassembler and the trace have in common.
#ifndef KILN_RUNTIME_MODULE_INSTRUCTION_H
#define KILN_RUNTIME_MODULE_INSTRUCTION_H

#include <string>

#include "kiln/schema/vm_code.h"

namespace kiln::vm {

class Module;
struct FunctionInfo;

using schema::decodeInstruction;
using schema::Instruction;
using schema::isTerminator;
using schema::Operand;

// One line: "v2 = add.i32 v0, v1", "r0 = call.import @hal.buffer.allocate(r1, v3)", "br 24 (v1 -> v0)". Names come from
// the module; an index that it does not have is printed as a number.
std::string instructionText(const Module &module, const Instruction &instruction);

// The whole function, an instruction per line with its position. What cannot be decoded is shown as units.
std::string functionText(const Module &module, const FunctionInfo &function);

} // namespace kiln::vm

#endif // KILN_RUNTIME_MODULE_INSTRUCTION_H
