// Programs whose code is what a fuzzer makes of it, with something of everything that code can name around it.
#ifndef KILN_TESTS_FUZZ_CODE_PROGRAM_H
#define KILN_TESTS_FUZZ_CODE_PROGRAM_H

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/testing/abs_program.h"

namespace kiln::fuzz {

// By their positions; corpora hold these.
inline constexpr const char *kSignatures[] = {"_", "r_r", "I_I", "Irr_Ir", "ifIF_iFIf", "rr_", "_r", "_I"};
// Imports behind those of the HAL.
inline constexpr uint32_t kMixImport = 0
#define KILN_HAL_IMPORT(Name, name, signature) +1
#include "kiln/schema/hal_imports.def"
    ;
// Bytes of the second of the program's texts, which is as long as the tensors of its callers.
inline constexpr uint64_t kWeightBytes = 16;

// The bytes are up to four functions: each is a unit of 16 bits that picks its signature, one that counts the units of
// its code, and these. Where the first has no arguments and results, it is the initializer.
inline Result<Ref<vm::Module>> loadCode(std::string_view bytes) {
  constexpr uint32_t registers = 16, globals = 4;
  constexpr size_t mostFunctions = 4, mostUnits = 1024;
  schema::ModuleDesc desc = vm::testing::emptyDesc("fuzz");
  vm::testing::addHalImports(desc);
  desc.imports.push_back({"host.mix", "Irr(I)*_Irr"});
  desc.imports.push_back({"host.plain", "if_F"});
  desc.rodata.push_back({"message", schema::Bytes::own("went wrong")});
  desc.rodata.push_back({"weights", schema::Bytes::own(std::string(kWeightBytes, '?'))});
  desc.rodata.push_back({"empty", schema::Bytes::own("")});
  desc.executables.push_back(
      {"dispatches", {{"llvm-cpu", "elf", "", "", {{"dispatch_0", 2, 1}}, schema::Bytes::own("no ELF")}}});
  desc.valueGlobals = desc.refGlobals = globals;

  std::vector<uint16_t> units(bytes.size() / 2);
  if (!units.empty())
    std::memcpy(units.data(), bytes.data(), units.size() * 2);
  for (size_t at = 0; at + 2 <= units.size() && desc.functions.size() < mostFunctions;) {
    const char *signature = kSignatures[units[at] % std::size(kSignatures)];
    const size_t count = std::min(units[at + 1] % mostUnits, units.size() - at - 2);
    const auto code = units.begin() + static_cast<ptrdiff_t>(at + 2);
    std::string name = "f" + std::to_string(desc.functions.size());
    desc.exports.push_back({name, static_cast<uint32_t>(desc.functions.size()), {}});
    desc.functions.push_back({name, signature, registers, registers, {code, code + static_cast<ptrdiff_t>(count)}});
    at += 2 + count;
  }
  if (desc.functions.empty())
    return invalidArgument("there is no function");
  if (desc.functions.front().signature == "_")
    desc.initializer = 0;
  return vm::testing::loadDesc(desc);
}

} // namespace kiln::fuzz

#endif // KILN_TESTS_FUZZ_CODE_PROGRAM_H
