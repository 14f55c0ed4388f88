// Code that passed the verifier is safe to run, whatever it is: random instructions are offered to the verifier, and
// what it accepts runs. Meant for the sanitizers; without them it still finds crashes.
#include <random>

#include "gtest/gtest.h"

#include "kiln/runtime/module/instruction.h"
#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/session.h"

namespace kiln::vm {
namespace {

using schema::Opcode;
using schema::Register;

constexpr uint32_t kValues = 6, kRefs = 4, kFunctions = 4;

// Gives its references back in another order, and values that depend on its arguments.
Status shuffle(void *, NativeCall &call) {
  for (uint32_t i = 0; i < call.repeatCount; ++i)
    call.valueResults[0] += call.values[1 + i];
  call.refResults[0] = *call.refs[0];
  call.refResults[1] = *call.refs[call.refCount - 1];
  return call.values[0] % 7 == 6 ? outOfRange("six") : okStatus();
}

// Writes random operands for the format of an opcode; mostly in range, now and then not.
class Generator {
public:
  explicit Generator(uint32_t seed) : random(seed) {}

  std::vector<uint16_t> function(uint32_t index, uint32_t instructions) {
    std::vector<uint16_t> code;
    std::vector<size_t> branches, starts;
    for (uint32_t i = 0; i < instructions; ++i) {
      // Calls and branches are where mistakes of the interpreter would be; most opcodes are arithmetic.
      static constexpr Opcode interesting[] = {Opcode::Call,       Opcode::CallImport, Opcode::CallImport,
                                               Opcode::CondBranch, Opcode::Discard,    Opcode::ConstRodata};
      Opcode opcode =
          below(2) ? interesting[below(std::size(interesting))] : static_cast<Opcode>(below(schema::kOpcodeCount));
      if (opcode == Opcode::Return || opcode == Opcode::Fail)
        continue;
      starts.push_back(code.size());
      code.push_back(static_cast<uint16_t>(opcode));
      for (const char *kind = opcodeInfo(opcode).format; *kind; ++kind)
        operand(*kind, index, opcode, code, branches);
    }
    starts.push_back(code.size());
    code.insert(code.end(), {static_cast<uint16_t>(Opcode::Return), 2, 0, Register::ref(0).encoded});
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
  void operand(char kind, uint32_t function, Opcode opcode, std::vector<uint16_t> &code,
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
    case 'A': list(code, opcode == Opcode::Call ? "Irr" : "Irr" + std::string(below(3), 'I')); break;
    case 'W': list(code, opcode == Opcode::Call ? "Ir" : "Irr"); break;
    case 'K': list(code, std::string(below(4), 'r')); break;
    }
  }

  std::mt19937_64 random;
};

TEST(VmFuzz, whatTheVerifierAcceptsIsSafeToRun) {
  size_t refused = 0, succeeded = 0, failed = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Generator generator(seed);
    schema::ModuleDesc desc = testing::emptyDesc("fuzz");
    desc.imports.push_back({"host.shuffle", seed % 2 ? "Irr(I)*_Irr" : "IrrI*_Irr"});
    desc.rodata.push_back({"a", schema::Bytes::own("a")});
    desc.rodata.push_back({"b", schema::Bytes::own("")});
    desc.executables.push_back({"e", {}});
    desc.valueGlobals = desc.refGlobals = 2;
    for (uint32_t i = 0; i < kFunctions; ++i) {
      std::string name = "f" + std::to_string(i);
      desc.functions.push_back({name, "Irr_Ir", kValues, kRefs, generator.function(i, 12)});
      desc.exports.push_back({name, i, {}});
    }
    Result<Ref<Module>> module = testing::loadDesc(desc);
    if (!module.ok()) {
      ++refused;
      continue;
    }
    Ref<NativeModule> host = makeRef<NativeModule>("host");
    ASSERT_TRUE(host->add("shuffle", desc.imports[0].signature, shuffle, nullptr).ok());
    SessionOptions options;
    options.maxCallDepth = 8;
    options.stackBytes = 4096;
    auto session = Session::create({*module}, {host}, options);
    ASSERT_TRUE(session.ok()) << session.status().toString();
    for (const Function &function : (*session)->exports()) {
      Value arguments[] = {Value::i64(seed), Value(), Value()};
      Value results[2];
      ++((*session)->call(function, arguments, results).ok() ? succeeded : failed);
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(succeeded, 1000u);
  EXPECT_GT(failed, 100u);
}

} // namespace
} // namespace kiln::vm
