// Decodes one instruction of PTX: its modifiers are taken one by one, and one that nothing takes is an error.
#ifndef KILN_TARGETS_CUDA_SIM_DECODER_H
#define KILN_TARGETS_CUDA_SIM_DECODER_H

#include "kiln/targets/cuda/sim/machine.h"

#include <functional>
#include <initializer_list>
#include <string_view>
#include <unordered_map>

namespace kiln::cudasim {

class Decoder;

struct Opcode {
  std::string_view name;
  void (*decode)(Decoder &in);
};
// Each file of operations has a list of them.
std::span<const Opcode> integerOpcodes();
std::span<const Opcode> bitOpcodes();
std::span<const Opcode> comparisonOpcodes();
std::span<const Opcode> floatOpcodes();
std::span<const Opcode> conversionOpcodes();
std::span<const Opcode> memoryOpcodes();
std::span<const Opcode> controlOpcodes();
std::span<const Opcode> warpOpcodes();
std::span<const Opcode> matrixOpcodes();
std::span<const Opcode> copyOpcodes();
std::span<const Opcode> mbarrierOpcodes();
std::span<const Opcode> warpgroupOpcodes();
std::span<const Opcode> clusterOpcodes();

// The kernel that is decoded, and what its codes share.
class ProgramBuilder {
public:
  ProgramBuilder(const Module &module, std::span<const uint64_t> addresses) : module(module), addresses(addresses) {}
  Result<std::unique_ptr<Program>> build(const Function &kernel);

private:
  friend class Decoder;
  Status decodeFunction(const Function &function);
  Code *codeOf(const Function &function);
  uint64_t sharedOffset(uint32_t variable);

  const Module &module;
  std::span<const uint64_t> addresses; // of variables in global memory
  std::unique_ptr<Program> program;
  std::unordered_map<uint32_t, uint64_t> sharedOffsets; // by variable
  std::vector<const Function *> waiting;
};

// Slots, constants and variables of one function, and the instruction that is decoded now.
class Decoder {
public:
  Decoder(ProgramBuilder &builder, Code &code, const Function &function);
  Status run();

  // The instruction's parts, and what becomes of it.
  const Instruction &instruction() const { return *current; }
  Inst inst;

  // True where the modifier is there; it is taken then.
  bool take(std::string_view modifier);
  // The one of these that is there; empty where there is none.
  std::string_view takeOneOf(std::initializer_list<std::string_view> modifiers);
  // The first type among the modifiers, an error where there is none.
  Type takeType();
  Type takeTypeOf(std::initializer_list<Type> allowed);
  void skipModifiers(std::initializer_list<std::string_view> modifiers);

  size_t operandCount() const { return current->operands.size(); }
  void expectOperands(size_t count) { expectOperands(count, count); }
  void expectOperands(size_t least, size_t most);
  const Operand &operand(size_t index);

  // The slot of an operand that is read as this type. `wider` allows registers that have more bits than the type.
  uint32_t source(size_t index, Type type, bool wider = false) { return source(operand(index), type, wider); }
  uint32_t source(const Operand &operand, Type type, bool wider = false);
  // The slot of a register that is written; 0xffffffff's stand-in, a slot that nothing reads, for '_'.
  uint32_t target(size_t index, Type type, bool wider = false) { return target(operand(index), type, wider); }
  uint32_t target(const Operand &operand, Type type, bool wider = false);
  // A predicate, for what may be negated: a slot, and in `negated` whether.
  uint32_t predicate(const Operand &operand, bool &negated);
  // An address in brackets: the slot of its base; what is added goes to `offset`.
  uint32_t address(const Operand &operand, uint64_t &offset);
  uint64_t immediate(size_t index);
  const uint32_t *list(std::vector<uint32_t> slots);
  uint32_t constant(uint64_t bits);

  const Inst *label(const std::string &name);
  const Inst *const *labelTable(const std::string &name, size_t &count);
  const Code *callee(const std::string &name);
  // Where a parameter of a call or of the function itself is in the frame; of a kernel, in the launch's parameters.
  struct ParamPlace {
    uint64_t offset;
    bool isLaunch;
  };
  const ParamPlace *paramPlace(uint32_t variable) const;
  const Variable &variable(uint32_t index) const { return builder.module.variables[index]; }
  const Code &code() const { return out; }

  // The instruction is not understood; only the first reason is kept.
  void fail(std::string_view what);
  bool failed() const { return !status.ok(); }

private:
  Status decodeInstruction(const Instruction &instruction);
  uint32_t newSlot(uint64_t initial);
  uint32_t registerSlot(const Operand &operand);
  uint32_t special(const std::string &name);
  uint32_t specialSlot(SpecialKind kind, uint64_t offset);
  uint32_t variableAddress(const Operand &operand);
  void placeParams();

  ProgramBuilder &builder;
  Code &out;
  const Function &function;
  const Instruction *current = nullptr;
  std::vector<bool> taken;       // by modifier
  std::vector<uint32_t> touched; // registers of the instruction
  Status status;
  std::vector<uint32_t> registerSlots; // by register; 0 where it has none yet
  std::unordered_map<uint64_t, uint32_t> constantSlots;
  std::unordered_map<uint64_t, uint32_t> specialSlots; // by kind and offset
  std::unordered_map<uint32_t, ParamPlace> params;     // by variable
  std::unordered_map<uint32_t, uint32_t> locals;       // by variable: offset in the frame
  uint32_t sink = 0;
};

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_DECODER_H
