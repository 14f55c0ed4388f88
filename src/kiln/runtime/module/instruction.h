// Decoding of VM code, and its text: what the verifier, the disassembler and the trace have in common.
#ifndef KILN_RUNTIME_MODULE_INSTRUCTION_H
#define KILN_RUNTIME_MODULE_INSTRUCTION_H

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "kiln/base/status.h"
#include "kiln/schema/vm_code.h"

namespace kiln::vm {

class Module;
struct FunctionInfo;

struct Operand {
  char kind = 0;                  // letter of vm_opcodes.def
  uint64_t number = 0;            // register, index, immediate, or branch target
  std::span<const uint16_t> list; // registers of A, W and K; of B the pairs (source, destination)
};

struct Instruction {
  schema::Opcode opcode = schema::Opcode::Nop;
  uint32_t position = 0; // in units from the start of the function
  uint32_t units = 0;    // its length
  uint32_t operandCount = 0;
  std::array<Operand, 4> operands;
};

// Whether the function's code cannot go on after it to the next instruction.
bool isTerminator(schema::Opcode opcode);

// Decodes the instruction at `position` of a function's code. Fails where the opcode does not exist or the instruction
// runs past the end; it checks no operand.
Result<Instruction> decodeInstruction(std::span<const uint16_t> code, uint32_t position);

// One line: "v2 = add.i32 v0, v1", "r0 = call.import @hal.buffer.allocate(r1, v3)", "br 24 (v1 -> v0)". Names come from
// the module; an index that it does not have is printed as a number.
std::string instructionText(const Module &module, const Instruction &instruction);

// The whole function, an instruction per line with its position. What cannot be decoded is shown as units.
std::string functionText(const Module &module, const FunctionInfo &function);

} // namespace kiln::vm

#endif // KILN_RUNTIME_MODULE_INSTRUCTION_H
