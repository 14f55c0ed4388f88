// The VM with code of somebody else: the input is the code of up to four functions. What the verifier takes is run.
//
// Each function is a unit of 16 bits that picks its signature, one that counts the units of its code, and these.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/testing/abs_program.h"
#include "tests/fuzz/run_program.h"

using namespace kiln;

namespace {

constexpr const char *kSignatures[] = {"_", "r_r", "I_I", "Irr_Ir", "ifIF_iFIf", "rr_"};
constexpr uint32_t kRegisters = 16, kGlobals = 4;
constexpr size_t kFunctions = 4, kUnits = 1024;

schema::ModuleDesc surroundings() {
  schema::ModuleDesc desc = vm::testing::emptyDesc("fuzz");
  vm::testing::addHalImports(desc);
  desc.imports.push_back({"host.mix", "Irr(I)*_Irr"});
  desc.imports.push_back({"host.plain", "if_F"});
  desc.rodata.push_back({"message", schema::Bytes::own("went wrong")});
  desc.rodata.push_back({"empty", schema::Bytes::own("")});
  desc.executables.push_back(
      {"dispatches", {{"llvm-cpu", "elf", "", "", {{"dispatch_0", 2, 1}}, schema::Bytes::own("no ELF")}}});
  desc.valueGlobals = desc.refGlobals = kGlobals;
  return desc;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint16_t> units(size / 2);
  if (!units.empty())
    std::memcpy(units.data(), data, units.size() * 2);
  schema::ModuleDesc desc = surroundings();
  for (size_t at = 0; at + 2 <= units.size() && desc.functions.size() < kFunctions;) {
    const char *signature = kSignatures[units[at] % std::size(kSignatures)];
    const size_t count = std::min(units[at + 1] % kUnits, units.size() - at - 2);
    const auto code = units.begin() + static_cast<ptrdiff_t>(at + 2);
    std::string name = "f" + std::to_string(desc.functions.size());
    desc.exports.push_back({name, static_cast<uint32_t>(desc.functions.size()), {}});
    desc.functions.push_back({name, signature, kRegisters, kRegisters, {code, code + static_cast<ptrdiff_t>(count)}});
    at += 2 + count;
  }
  if (desc.functions.empty())
    return 0;
  if (desc.functions.front().signature == "_")
    desc.initializer = 0;
  if (Result<Ref<vm::Module>> module = vm::testing::loadDesc(desc); module.ok())
    fuzz::runProgram(*module);
  return 0;
}
