#include "kiln/runtime/module/instruction.h"

#include <cctype>

#include "kiln/runtime/module/module.h"

namespace kiln::vm {

using schema::Opcode;

static std::string registerText(uint16_t encoded) {
  schema::Register entry{encoded};
  return fmt::format("{}{}", entry.isRef() ? 'r' : 'v', entry.index());
}

static std::string listText(std::span<const uint16_t> list) {
  std::string text;
  for (uint16_t entry : list)
    text += (text.empty() ? "" : ", ") + registerText(entry);
  return text;
}

template <typename List> static std::string nameText(char sigil, const List &list, uint64_t index) {
  if (index < list.size() && !list[index].name.empty())
    return fmt::format("{}{}", sigil, list[index].name);
  return fmt::format("{}{}", sigil, index);
}

static std::string operandText(const Module &module, const Operand &operand) {
  switch (operand.kind) {
  case 'D':
  case 'R': return fmt::format("v{}", operand.number);
  case 'd':
  case 'r': return fmt::format("r{}", operand.number);
  case 'I': return operand.number < 65536 ? fmt::format("{}", operand.number) : fmt::format("{:#x}", operand.number);
  case 'S': return nameText('$', module.rodata(), operand.number);
  case 'X': return nameText('%', module.executables(), operand.number);
  case 'G': return fmt::format("global.v{}", operand.number);
  case 'H': return fmt::format("global.r{}", operand.number);
  case 'F': return nameText('@', module.functions(), operand.number);
  case 'M': return nameText('@', module.imports(), operand.number);
  case 'B': {
    std::string moves;
    for (size_t i = 0; i + 1 < operand.list.size(); i += 2)
      moves +=
          fmt::format("{}{} -> {}", i ? ", " : "", registerText(operand.list[i]), registerText(operand.list[i + 1]));
    return moves.empty() ? fmt::format("{}", operand.number) : fmt::format("{} ({})", operand.number, moves);
  }
  default: return listText(operand.list);
  }
}

std::string instructionText(const Module &module, const Instruction &instruction) {
  const char *mnemonic = opcodeInfo(instruction.opcode).mnemonic;
  std::span<const Operand> operands(instruction.operands.data(), instruction.operandCount);
  if (instruction.opcode == Opcode::Call || instruction.opcode == Opcode::CallImport) {
    std::string results = listText(operands[2].list);
    return fmt::format("{}{}{} {}({})", results, results.empty() ? "" : " = ", mnemonic,
                       operandText(module, operands[0]), listText(operands[1].list));
  }
  std::string text;
  bool writes = !operands.empty() && (operands[0].kind == 'D' || operands[0].kind == 'd');
  if (writes) {
    text = operandText(module, operands[0]) + " = ";
    operands = operands.subspan(1);
  }
  text += mnemonic;
  const char *separator = " ";
  for (const Operand &operand : operands) {
    std::string part = operandText(module, operand);
    if (part.empty())
      continue;
    text += separator + part;
    separator = ", ";
  }
  return text;
}

std::string functionText(const Module &module, const FunctionInfo &function) {
  std::string text;
  uint32_t position = 0;
  while (position < function.code.size()) {
    Result<Instruction> instruction = decodeInstruction(function.code, position);
    if (!instruction.ok()) {
      text += fmt::format("{:6}: <{}>", position, instruction.status().message());
      for (uint16_t unit : function.code.subspan(position).first(std::min<size_t>(8, function.code.size() - position)))
        text += fmt::format(" {:04x}", unit);
      text += "\n";
      break;
    }
    text += fmt::format("{:6}: {}\n", position, instructionText(module, *instruction));
    position += instruction->units;
  }
  return text;
}

} // namespace kiln::vm
