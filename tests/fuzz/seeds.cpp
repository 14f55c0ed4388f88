// Writes the seeds that are no text, from what the runtime's own writers make: `seeds FOLDER` fills FOLDER/module,
// FOLDER/vm and FOLDER/npy; with names of module files behind it, FOLDER/module has them too.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/runtime/io/npy.h"
#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/testing/abs_program.h"
#include "tests/fuzz/packed_module.h"

using namespace kiln;
using schema::CodeBuilder;
using schema::Opcode;

namespace {

constexpr auto v = schema::Register::value;
constexpr auto r = schema::Register::ref;
// Positions in kSignatures of vm_fuzz.cpp.
enum Signature : uint16_t { kNothing, kRef, kNumber, kMixed, kAllNumbers };

void write(const std::filesystem::path &path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

void writeModule(const std::filesystem::path &path, const schema::ModuleDesc &desc) {
  write(path, fuzz::packModule(*schema::writeModuleToString(desc)));
}

using Functions = std::vector<std::pair<Signature, std::vector<uint16_t>>>;

void writeCode(const std::filesystem::path &path, const Functions &functions) {
  std::vector<uint16_t> units;
  for (const auto &[signature, code] : functions) {
    units.push_back(signature);
    units.push_back(static_cast<uint16_t>(code.size()));
    units.insert(units.end(), code.begin(), code.end());
  }
  write(path, {reinterpret_cast<const char *>(units.data()), units.size() * 2});
}

std::vector<uint16_t> finish(CodeBuilder &code) {
  return *code.finish();
}

std::vector<uint16_t> loop() {
  CodeBuilder code;
  auto head = code.newLabel(), body = code.newLabel(), done = code.newLabel();
  code.constant(3, 1);
  code.branch(head, {});
  code.bind(head);
  code.emit(Opcode::CmpLtSI64, {4, 1, 0});
  code.condBranch(4, body, done);
  code.bind(body);
  code.emit(Opcode::AddI64, {5, 2, 1});
  code.emit(Opcode::AddI64, {6, 1, 3});
  code.branch(head, {{v(5), v(2)}, {v(6), v(1)}});
  code.bind(done);
  code.ret({v(2)});
  return finish(code);
}

std::vector<uint16_t> imports(uint32_t mix) {
  CodeBuilder code;
  code.callImport(mix, {v(0), r(0), r(1), v(0), v(1)}, {v(2), r(2), r(3)});
  code.callImport(mix + 1, {v(0), v(1)}, {v(3)});
  code.call(0, {v(2)}, {v(4)});
  code.discard(std::initializer_list<schema::Register>{r(2)});
  code.ret({v(4), r(3)});
  return finish(code);
}

// Every instruction that takes numbers only, one after the other.
std::vector<uint16_t> arithmetic(bool floats) {
  CodeBuilder code;
  code.constant(7, 3);
  for (uint16_t i = 0; i < schema::kOpcodeCount; ++i) {
    const schema::OpcodeInfo &info = schema::kOpcodes[i];
    std::string_view format = info.format;
    const bool ofFloats = std::string_view(info.mnemonic).find(".f") != std::string_view::npos;
    if (ofFloats != floats || format.empty() || format.find_first_not_of("DR") != std::string_view::npos)
      continue;
    if (format == "DRR")
      code.emit(static_cast<Opcode>(i), {static_cast<uint32_t>(i % 7), static_cast<uint32_t>(i % 5), 7});
    else if (format == "DR")
      code.emit(static_cast<Opcode>(i), {static_cast<uint32_t>(i % 7), static_cast<uint32_t>(i % 5)});
  }
  code.ret({v(0), v(1), v(2), v(3)});
  return finish(code);
}

void writeArray(const std::filesystem::path &path, io::ElementType type, std::vector<uint64_t> shape,
                std::string_view bytes, bool fortran = false) {
  std::string header = io::formatNpyHeader(type, shape);
  if (fortran)
    header.replace(header.find("False"), 5, "True ");
  write(path, header.append(bytes));
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fputs("usage: seeds FOLDER [MODULE...]\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  writeModule(folder / "module/rich", vm::testing::richDesc());
  writeModule(folder / "module/empty", vm::testing::emptyDesc());
  constexpr uint64_t kShape[] = {4};
  schema::ModuleDesc program = vm::testing::absDesc(kShape);
  program.executables[0].variants[0].bytes = schema::Bytes::own("no ELF");
  writeModule(folder / "module/program", program);
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    write(folder / "module" / std::filesystem::path(argv[i]).stem(), fuzz::packModule(bytes));
  }

  const uint32_t mix = static_cast<uint32_t>(program.imports.size());
  writeCode(folder / "vm/program", {{kNothing, program.functions[0].code}, {kRef, program.functions[1].code}});
  writeCode(folder / "vm/loop", {{kNumber, loop()}});
  writeCode(folder / "vm/imports", {{kNumber, loop()}, {kMixed, imports(mix)}});
  writeCode(folder / "vm/integers", {{kAllNumbers, arithmetic(false)}});
  writeCode(folder / "vm/floats", {{kAllNumbers, arithmetic(true)}});

  writeArray(folder / "npy/f32", io::ElementType::F32, {2, 3}, std::string(24, '?'));
  writeArray(folder / "npy/columns", io::ElementType::I16, {3, 2, 2}, std::string(24, 'a'), true);
  writeArray(folder / "npy/scalar", io::ElementType::F64, {}, std::string(8, '@'));
  writeArray(folder / "npy/empty", io::ElementType::I1, {0, 7}, "");
  writeArray(folder / "npy/narrow", io::ElementType::F8E5M2, {5}, "abcde");
  writeArray(folder / "npy/half", io::ElementType::BF16, {1}, "ab");
  return 0;
}
