// Programs of random instructions, most of which the verifier accepts, and all of which end.
#ifndef KILN_RUNTIME_VM_TESTING_RANDOM_PROGRAM_H
#define KILN_RUNTIME_VM_TESTING_RANDOM_PROGRAM_H

#include <random>

#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/native_module.h"

namespace kiln::vm::testing {

inline constexpr uint32_t kValues = 6, kRefs = 4, kFunctions = 4;

// Gives its references back in another order, and values that depend on its arguments.
inline Status shuffle(void *, NativeCall &call) {
  for (uint32_t i = 0; i < call.repeatCount; ++i)
    call.valueResults[0] += call.values[1 + i];
  call.refResults[0] = *call.refs[0];
  call.refResults[1] = *call.refs[call.refCount - 1];
  return call.values[0] % 7 == 6 ? outOfRange("six") : okStatus();
}

// Writes random operands for the format of an opcode; mostly in range, now and then not.
class ProgramGenerator {
public:
  explicit ProgramGenerator(uint32_t seed) : random(seed) {}

  std::vector<uint16_t> function(uint32_t index, uint32_t instructions) {
    std::vector<uint16_t> code;
    std::vector<size_t> branches, starts;
    for (uint32_t i = 0; i < instructions; ++i) {
      // Calls and branches are where mistakes of the interpreter would be; most opcodes are arithmetic.
      static constexpr schema::Opcode interesting[] = {schema::Opcode::Call,       schema::Opcode::CallImport,
                                                       schema::Opcode::CallImport, schema::Opcode::CondBranch,
                                                       schema::Opcode::Discard,    schema::Opcode::ConstRodata};
      schema::Opcode opcode = below(2) ? interesting[below(std::size(interesting))]
                                       : static_cast<schema::Opcode>(below(schema::kOpcodeCount));
      if (opcode == schema::Opcode::Return || opcode == schema::Opcode::Fail)
        continue;
      starts.push_back(code.size());
      code.push_back(static_cast<uint16_t>(opcode));
      for (const char *kind = opcodeInfo(opcode).format; *kind; ++kind)
        operand(*kind, index, opcode, code, branches);
    }
    starts.push_back(code.size());
    code.insert(code.end(), {static_cast<uint16_t>(schema::Opcode::Return), 2, 0, schema::Register::ref(0).encoded});
    // Branches go forward only, so that everything ends.
    for (size_t at : branches) {
      std::vector<size_t> later;
      for (size_t start : starts)
        if (start > at)
          later.push_back(start);
      size_t target = later[below(static_cast<uint32_t>(later.size()))];
      code[at] = static_cast<uint16_t>(target);
      code[at + 1] = static_cast<uint16_t>(target >> 16);
    }
    return code;
  }

private:
  uint32_t below(uint32_t count) { return static_cast<uint32_t>(random() % count); }
  uint16_t index(uint32_t count) { return static_cast<uint16_t>(below(500) == 0 ? below(0x10000) : below(count)); }
  uint16_t reg(bool isRef) {
    return isRef ? static_cast<uint16_t>(index(kRefs) | schema::kRefBit) : static_cast<uint16_t>(index(kValues));
  }
  void list(std::vector<uint16_t> &code, std::string_view kinds) {
    code.push_back(static_cast<uint16_t>(kinds.size()));
    for (char kind : kinds)
      code.push_back(reg(kind == 'r'));
  }
  void operand(char kind, uint32_t function, schema::Opcode opcode, std::vector<uint16_t> &code,
               std::vector<size_t> &branches) {
    switch (kind) {
    case 'D':
    case 'R': code.push_back(index(kValues)); break;
    case 'd':
    case 'r': code.push_back(index(kRefs)); break;
    case 'I':
      for (int i = 0; i < 4; ++i)
        code.push_back(static_cast<uint16_t>(below(4) ? below(3) : random()));
      break;
    case 'B': {
      branches.push_back(code.size());
      uint32_t moves = below(6);
      code.insert(code.end(), {0, 0, static_cast<uint16_t>(moves)});
      for (uint32_t i = 0; i < moves; ++i) {
        bool isRef = below(2);
        code.push_back(reg(isRef));
        code.push_back(reg(isRef));
      }
      break;
    }
    case 'S':
    case 'G':
    case 'H': code.push_back(index(2)); break;
    case 'X':
    case 'M': code.push_back(index(1)); break;
    // Only functions before this one, so that calls end. The first function calls itself.
    case 'F': code.push_back(index(function ? function : 1)); break;
    case 'A': list(code, opcode == schema::Opcode::Call ? "Irr" : "Irr" + std::string(below(3), 'I')); break;
    case 'W': list(code, opcode == schema::Opcode::Call ? "Ir" : "Irr"); break;
    case 'K': list(code, std::string(below(4), 'r')); break;
    }
  }

  std::mt19937_64 random;
};

// Exports f0, f1, ... of "Irr_Ir".
inline schema::ModuleDesc randomProgram(std::string name, uint32_t seed) {
  ProgramGenerator generator(seed);
  schema::ModuleDesc desc = emptyDesc(std::move(name));
  desc.imports.push_back({"host.shuffle", seed % 2 ? "Irr(I)*_Irr" : "IrrI*_Irr"});
  desc.rodata.push_back({"a", schema::Bytes::own("a")});
  desc.rodata.push_back({"b", schema::Bytes::own("")});
  desc.executables.push_back({"e", {}});
  desc.valueGlobals = desc.refGlobals = 2;
  for (uint32_t i = 0; i < kFunctions; ++i) {
    std::string function = "f" + std::to_string(i);
    desc.functions.push_back({function, "Irr_Ir", kValues, kRefs, generator.function(i, 12)});
    desc.exports.push_back({function, i, {}});
  }
  return desc;
}

// What such a program imports.
inline Ref<NativeModule> randomProgramHost(const schema::ModuleDesc &desc) {
  Ref<NativeModule> host = makeRef<NativeModule>("host");
  return host->add("shuffle", desc.imports[0].signature, shuffle, nullptr).ok() ? host : nullptr;
}

} // namespace kiln::vm::testing

#endif // KILN_RUNTIME_VM_TESTING_RANDOM_PROGRAM_H
