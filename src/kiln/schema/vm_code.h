// The VM's instructions as data; the one decoder; and the one encoder, for the compiler and for tests.
#ifndef KILN_SCHEMA_VM_CODE_H
#define KILN_SCHEMA_VM_CODE_H

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"

namespace kiln::schema {

enum class Opcode : uint16_t {
#define KILN_VM_OP(Name, mnemonic, format) Name,
#include "kiln/schema/vm_opcodes.def"
};

struct OpcodeInfo {
  const char *name;     // AddI32
  const char *mnemonic; // add.i32
  const char *format;   // operand letters of vm_opcodes.def
};

inline constexpr OpcodeInfo kOpcodes[] = {
#define KILN_VM_OP(Name, mnemonic, format) {#Name, mnemonic, format},
#include "kiln/schema/vm_opcodes.def"
};
inline constexpr uint16_t kOpcodeCount = sizeof(kOpcodes) / sizeof(kOpcodes[0]);

inline const OpcodeInfo &opcodeInfo(Opcode opcode) {
  return kOpcodes[static_cast<uint16_t>(opcode)];
}

// A register in a list or a branch move: bit 15 says that it is a reference register, so a function has at most 2^15 of
// each kind.
inline constexpr uint16_t kRefBit = 0x8000;
inline constexpr uint32_t kMaxRegisters = 0x8000;

struct Register {
  uint16_t encoded;

  static constexpr Register value(uint32_t index) { return {static_cast<uint16_t>(index)}; }
  static constexpr Register ref(uint32_t index) { return {static_cast<uint16_t>(index | kRefBit)}; }
  constexpr bool isRef() const { return encoded & kRefBit; }
  constexpr uint16_t index() const { return encoded & ~kRefBit; }
  friend bool operator==(Register, Register) = default;
};

// A branch copies `source` into `target`; both are of the same kind.
struct Move {
  Register source;
  Register target;
};

struct Label {
  uint32_t id;
};

struct Operand {
  char kind = 0;                  // letter of vm_opcodes.def
  uint64_t number = 0;            // register, index, immediate, or branch target
  std::span<const uint16_t> list; // registers of A, W and K; of B the pairs (source, destination)
};

struct Instruction {
  Opcode opcode = Opcode::Nop;
  uint32_t position = 0; // in units from the start of the function
  uint32_t units = 0;    // its length
  uint32_t operandCount = 0;
  std::array<Operand, 4> operands;
};

// Whether the function's code cannot go on after it to the next instruction.
bool isTerminator(Opcode opcode);

// Decodes the instruction at `position` of a function's code. Fails where the opcode does not exist or the instruction
// runs past the end; it checks no operand.
Result<Instruction> decodeInstruction(std::span<const uint16_t> code, uint32_t position);

// Encodes one function. Registers are given as plain numbers where the format says which file they belong to, and as
// Register in lists. Operands must fit the format of the opcode: an assertion, since only a bug can break it. What
// depends on the program (its size) is reported by finish().
class CodeBuilder {
public:
  Label newLabel();
  // The next instruction is the label's target. A label is bound once.
  void bind(Label label);

  // Any instruction whose operands are all registers and indices: emit(Opcode::AddI32, {d, a, b}).
  void emit(Opcode opcode, std::initializer_list<uint32_t> operands = {});
  void constant(uint32_t target, uint64_t bits);
  void branch(Label target, std::span<const Move> moves = {});
  void condBranch(uint32_t condition, Label ifTrue, std::span<const Move> trueMoves, Label ifFalse,
                  std::span<const Move> falseMoves);
  void condBranch(uint32_t condition, Label ifTrue, Label ifFalse) { condBranch(condition, ifTrue, {}, ifFalse, {}); }
  void call(uint32_t function, std::span<const Register> arguments, std::span<const Register> results);
  void callImport(uint32_t import, std::span<const Register> arguments, std::span<const Register> results);
  void ret(std::span<const Register> results = {});
  void discard(std::span<const Register> refs);

  // The same with braced lists.
  using Registers = std::initializer_list<Register>;
  using Moves = std::initializer_list<Move>;
  void branch(Label target, Moves moves) { branch(target, list(moves)); }
  void condBranch(uint32_t condition, Label ifTrue, Moves trueMoves, Label ifFalse, Moves falseMoves) {
    condBranch(condition, ifTrue, list(trueMoves), ifFalse, list(falseMoves));
  }
  void call(uint32_t function, Registers arguments, Registers results) {
    call(function, list(arguments), list(results));
  }
  void callImport(uint32_t import, Registers arguments, Registers results) {
    callImport(import, list(arguments), list(results));
  }
  void ret(Registers results) { ret(list(results)); }
  void discard(Registers refs) { discard(list(refs)); }

  // Where the next instruction will start, in units from the start of the function.
  uint32_t position() const { return static_cast<uint32_t>(code.size()); }

  // The code, with all labels resolved; the builder is empty afterwards. Fails where a list is longer than 65535
  // entries or a label was never bound.
  Result<std::vector<uint16_t>> finish();

private:
  struct Fixup {
    uint32_t position;
    uint32_t label;
  };

  template <typename T> static std::span<const T> list(std::initializer_list<T> items) {
    return {items.begin(), items.size()};
  }
  void unit(uint32_t bits) { code.push_back(static_cast<uint16_t>(bits)); }
  void start(Opcode opcode, std::string_view format);
  void branchOperand(Label target, std::span<const Move> moves);
  void registers(std::span<const Register> list);
  void count(size_t size);

  std::vector<uint16_t> code;
  std::vector<uint32_t> labels; // position of each label; kUnbound before bind
  std::vector<Fixup> fixups;
  bool listTooLong = false;
};

} // namespace kiln::schema

#endif // KILN_SCHEMA_VM_CODE_H
