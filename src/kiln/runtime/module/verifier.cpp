#include "kiln/runtime/module/verifier.h"

#include <algorithm>

#include "kiln/runtime/module/instruction.h"

namespace kiln::vm {

using schema::Opcode;
using schema::Register;
using schema::Signature;

namespace {

struct Counts {
  uint32_t values = 0;
  uint32_t refs = 0;
};

class FunctionVerifier {
public:
  FunctionVerifier(const Module &module, FunctionInfo &function) : module(module), function(function) {}

  Status run() {
    if (function.code.empty())
      return dataLoss("it has no code");
    starts.assign(function.code.size(), false);
    uint32_t position = 0;
    bool terminated = false;
    while (position < function.code.size()) {
      starts[position] = true;
      Result<Instruction> instruction = decodeInstruction(function.code, position);
      if (!instruction.ok())
        return std::move(instruction).status().withContext(fmt::format("unit {}", position));
      if (Status status = check(*instruction); !status.ok())
        return std::move(status).withContext(
            fmt::format("unit {}: '{}'", position, opcodeInfo(instruction->opcode).mnemonic));
      terminated = isTerminator(instruction->opcode);
      position += instruction->units;
    }
    if (!terminated)
      return dataLoss("its code runs past its end: the last instruction is no branch, return or fail");
    for (auto [from, to] : branches)
      if (to >= starts.size() || !starts[to])
        return dataLoss("unit {}: a branch goes to unit {}, where no instruction of the function starts", from, to);
    return okStatus();
  }

private:
  Status check(const Instruction &instruction) {
    for (uint32_t i = 0; i < instruction.operandCount; ++i)
      KILN_RETURN_IF_ERROR(checkOperand(instruction, instruction.operands[i]));
    switch (instruction.opcode) {
    case Opcode::Call: {
      const FunctionInfo &callee = module.functions()[instruction.operands[0].number];
      return checkCall(instruction, callee.signature, callee.name);
    }
    case Opcode::CallImport: {
      const ImportInfo &import = module.imports()[instruction.operands[0].number];
      // A native function gets pointers to its references, which take the place of a value each.
      Counts arguments = count(instruction.operands[1].list);
      Counts results = count(instruction.operands[2].list);
      needScratch({arguments.values + arguments.refs + results.values, results.refs});
      return checkCall(instruction, import.signature, import.name);
    }
    case Opcode::Return: return checkKinds(instruction.operands[0].list, function.signature.results, "results");
    default: return okStatus();
    }
  }

  Status checkOperand(const Instruction &instruction, const Operand &operand) {
    switch (operand.kind) {
    case 'D':
    case 'R': return checkIndex(operand.number, function.valueRegisters, "value register");
    case 'd':
    case 'r': return checkIndex(operand.number, function.refRegisters, "reference register");
    case 'S': return checkIndex(operand.number, module.rodata().size(), "constant");
    case 'X': return checkIndex(operand.number, module.executables().size(), "executable");
    case 'G': return checkIndex(operand.number, module.valueGlobals(), "value global");
    case 'H': return checkIndex(operand.number, module.refGlobals(), "reference global");
    case 'F': return checkIndex(operand.number, module.functions().size(), "function");
    case 'M': return checkIndex(operand.number, module.imports().size(), "import");
    case 'B':
      branches.push_back({instruction.position, static_cast<uint32_t>(operand.number)});
      KILN_RETURN_IF_ERROR(checkRegisters(operand.list));
      for (size_t i = 0; i + 1 < operand.list.size(); i += 2)
        if (Register{operand.list[i]}.isRef() != Register{operand.list[i + 1]}.isRef())
          return dataLoss("a move goes from one kind of register to the other");
      needScratch(count(operand.list));
      return okStatus();
    case 'K':
      for (uint16_t entry : operand.list)
        if (!Register{entry}.isRef())
          return dataLoss("value register {} is discarded; only references can be", Register{entry}.index());
      return checkRegisters(operand.list);
    case 'A':
    case 'W': return checkRegisters(operand.list);
    default: return okStatus(); // an immediate
    }
  }

  static Status checkIndex(uint64_t index, size_t size, const char *what) {
    if (index < size)
      return okStatus();
    return dataLoss("{} {} does not exist; there are {}", what, index, size);
  }

  Status checkRegisters(std::span<const uint16_t> list) const {
    for (uint16_t encoded : list) {
      Register entry{encoded};
      KILN_RETURN_IF_ERROR(entry.isRef() ? checkIndex(entry.index(), function.refRegisters, "reference register")
                                         : checkIndex(entry.index(), function.valueRegisters, "value register"));
    }
    return okStatus();
  }

  static Status checkKinds(std::span<const uint16_t> list, const std::string &kinds, const char *what) {
    if (list.size() != kinds.size())
      return dataLoss("{} {} are given; the signature has {}", list.size(), what, kinds.size());
    for (size_t i = 0; i < list.size(); ++i)
      if (Register{list[i]}.isRef() != schema::isRefKind(kinds[i]))
        return dataLoss("entry {} of the {} is of the wrong kind", i, what);
    return okStatus();
  }

  static Status checkCall(const Instruction &instruction, const Signature &signature, std::string_view callee) {
    std::span<const uint16_t> arguments = instruction.operands[1].list;
    if (signature.repeatCount(arguments.size()) < 0)
      return dataLoss("@{} cannot take {} arguments", callee, arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i)
      if (Register{arguments[i]}.isRef() != schema::isRefKind(signature.argumentKind(i)))
        return dataLoss("argument {} of @{} is of the wrong kind", i, callee);
    return checkKinds(instruction.operands[2].list, signature.results, "results");
  }

  static Counts count(std::span<const uint16_t> list) {
    Counts counts;
    for (uint16_t entry : list)
      ++(Register{entry}.isRef() ? counts.refs : counts.values);
    return counts;
  }

  void needScratch(Counts counts) {
    function.valueScratch = std::max(function.valueScratch, counts.values);
    function.refScratch = std::max(function.refScratch, counts.refs);
  }

  const Module &module;
  FunctionInfo &function;
  std::vector<bool> starts; // by unit: an instruction starts here
  std::vector<std::pair<uint32_t, uint32_t>> branches;
};

} // namespace

Status verifyFunction(const Module &module, FunctionInfo &function) {
  return FunctionVerifier(module, function).run();
}

} // namespace kiln::vm
