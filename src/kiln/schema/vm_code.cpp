#include "kiln/schema/vm_code.h"

#include <cassert>
#include <cstring>

namespace kiln::schema {

static constexpr uint32_t kUnbound = ~0u;

Label CodeBuilder::newLabel() {
  labels.push_back(kUnbound);
  return {static_cast<uint32_t>(labels.size() - 1)};
}

void CodeBuilder::bind(Label label) {
  assert(labels[label.id] == kUnbound && "a label is bound once");
  labels[label.id] = position();
}

void CodeBuilder::start(Opcode opcode, std::string_view format) {
  assert(opcodeInfo(opcode).format == format && "operands do not fit the opcode's format");
  (void)format;
  unit(static_cast<uint16_t>(opcode));
}

void CodeBuilder::emit(Opcode opcode, std::initializer_list<uint32_t> operands) {
  const char *format = opcodeInfo(opcode).format;
  assert(std::strlen(format) == operands.size() && "operands do not fit the opcode's format");
  assert(std::strpbrk(format, "IBAWK") == nullptr && "the opcode has an operand that is not one unit");
  (void)format;
  unit(static_cast<uint16_t>(opcode));
  for (uint32_t operand : operands) {
    assert(operand <= 0xFFFF && "an operand is one unit");
    unit(operand);
  }
}

void CodeBuilder::constant(uint32_t target, uint64_t bits) {
  start(Opcode::Const, "DI");
  unit(target);
  for (int i = 0; i < 4; ++i)
    unit(static_cast<uint16_t>(bits >> (16 * i)));
}

void CodeBuilder::count(size_t size) {
  listTooLong |= size > 0xFFFF;
  unit(static_cast<uint32_t>(size));
}

void CodeBuilder::branchOperand(Label target, std::span<const Move> moves) {
  fixups.push_back({position(), target.id});
  unit(0);
  unit(0);
  count(moves.size());
  for (const Move &move : moves) {
    assert(move.source.isRef() == move.target.isRef() && "a move stays within one kind of register");
    unit(move.source.encoded);
    unit(move.target.encoded);
  }
}

void CodeBuilder::registers(std::span<const Register> list) {
  count(list.size());
  for (Register entry : list)
    unit(entry.encoded);
}

void CodeBuilder::branch(Label target, std::span<const Move> moves) {
  start(Opcode::Branch, "B");
  branchOperand(target, moves);
}

void CodeBuilder::condBranch(uint32_t condition, Label ifTrue, std::span<const Move> trueMoves, Label ifFalse,
                             std::span<const Move> falseMoves) {
  start(Opcode::CondBranch, "RBB");
  unit(condition);
  branchOperand(ifTrue, trueMoves);
  branchOperand(ifFalse, falseMoves);
}

void CodeBuilder::call(uint32_t function, std::span<const Register> arguments, std::span<const Register> results) {
  start(Opcode::Call, "FAW");
  unit(function);
  registers(arguments);
  registers(results);
}

void CodeBuilder::callImport(uint32_t import, std::span<const Register> arguments, std::span<const Register> results) {
  start(Opcode::CallImport, "MAW");
  unit(import);
  registers(arguments);
  registers(results);
}

void CodeBuilder::ret(std::span<const Register> results) {
  start(Opcode::Return, "A");
  registers(results);
}

void CodeBuilder::discard(std::span<const Register> refs) {
  start(Opcode::Discard, "K");
  registers(refs);
}

Result<std::vector<uint16_t>> CodeBuilder::finish() {
  if (listTooLong)
    return outOfRange("an instruction has more than 65535 registers in one list");
  for (const Fixup &fixup : fixups) {
    uint32_t target = labels[fixup.label];
    if (target == kUnbound)
      return internalError("a branch goes to a label that was never bound");
    code[fixup.position] = static_cast<uint16_t>(target);
    code[fixup.position + 1] = static_cast<uint16_t>(target >> 16);
  }
  std::vector<uint16_t> result = std::move(code);
  *this = CodeBuilder();
  return result;
}

bool isTerminator(Opcode opcode) {
  return opcode == Opcode::Branch || opcode == Opcode::CondBranch || opcode == Opcode::Return || opcode == Opcode::Fail;
}

Result<Instruction> decodeInstruction(std::span<const uint16_t> code, uint32_t position) {
  Instruction instruction;
  instruction.position = position;
  if (position >= code.size())
    return dataLoss("the code ends where an instruction is needed");
  if (code[position] >= kOpcodeCount)
    return dataLoss("there is no opcode {}", code[position]);
  instruction.opcode = static_cast<Opcode>(code[position]);
  const OpcodeInfo &info = opcodeInfo(instruction.opcode);
  auto truncated = [&] { return dataLoss("instruction '{}' runs past the end of the function", info.mnemonic); };

  size_t at = size_t(position) + 1;
  auto left = [&] { return code.size() - at; };
  for (const char *kind = info.format; *kind; ++kind) {
    Operand &operand = instruction.operands[instruction.operandCount++];
    operand.kind = *kind;
    switch (*kind) {
    case 'I':
      if (left() < 4)
        return truncated();
      for (int i = 0; i < 4; ++i)
        operand.number |= uint64_t(code[at++]) << (16 * i);
      break;
    case 'B':
    case 'A':
    case 'W':
    case 'K': {
      bool branch = *kind == 'B';
      if (left() < (branch ? 3 : 1))
        return truncated();
      if (branch) {
        operand.number = code[at] | uint64_t(code[at + 1]) << 16;
        at += 2;
      }
      size_t entries = size_t(code[at++]) * (branch ? 2 : 1);
      if (left() < entries)
        return truncated();
      operand.list = code.subspan(at, entries);
      at += entries;
      break;
    }
    default:
      if (left() < 1)
        return truncated();
      operand.number = code[at++];
    }
  }
  instruction.units = static_cast<uint32_t>(at - position);
  return instruction;
}

} // namespace kiln::schema
