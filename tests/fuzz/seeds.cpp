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
#include "tests/fuzz/code_program.h"
#include "tests/fuzz/packed_module.h"

using namespace kiln;
using schema::CodeBuilder;
using schema::Opcode;

namespace {

constexpr auto v = schema::Register::value;
constexpr auto r = schema::Register::ref;
// Positions in kSignatures.
enum Signature : uint16_t { kNothing, kRef, kNumber, kMixed, kAllNumbers, kTwoRefs, kMakesRef, kMakesNumber };

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
  const std::string_view bytes(reinterpret_cast<const char *>(units.data()), units.size() * 2);
  // What the verifier refuses runs nothing.
  if (Result<Ref<vm::Module>> module = fuzz::loadCode(bytes); !module.ok()) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), std::string(module.status().message()).c_str());
    std::exit(1);
  }
  write(path, bytes);
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

std::vector<uint16_t> imports() {
  CodeBuilder code;
  code.callImport(fuzz::kMixImport, {v(0), r(0), r(1), v(0), v(1)}, {v(2), r(2), r(3)});
  code.callImport(fuzz::kMixImport + 1, {v(0), v(1)}, {v(3)});
  code.call(0, {v(2)}, {v(4)});
  code.discard(std::initializer_list<schema::Register>{r(2)});
  code.ret({v(4), r(3)});
  return finish(code);
}

// Calls of the HAL that the other programs do not make. v0 is zero, r15 null.
std::vector<uint16_t> queues() {
  using vm::testing::HalImport;
  CodeBuilder code;
  auto hal = [&](HalImport import, CodeBuilder::Registers arguments, CodeBuilder::Registers results) {
    code.callImport(static_cast<uint32_t>(import), arguments, results);
  };
  code.constant(1, 1);
  code.constant(2, 2);
  code.constant(3, fuzz::kWeightBytes);
  code.constant(4, static_cast<uint32_t>(io::ElementType::F32));
  code.constant(5, fuzz::kWeightBytes / 4);
  code.constant(6, 4);
  hal(HalImport::DeviceGet, {v(0)}, {r(0)});
  code.emit(Opcode::ConstExecutable, {1, 0});
  hal(HalImport::ExecutableVariantIndex, {r(0), r(1)}, {v(7)});
  hal(HalImport::ExecutableCreate, {r(0), r(1)}, {r(2)});
  code.emit(Opcode::ConstRodata, {3, 1});
  hal(HalImport::BufferConstant, {r(0), r(3), v(0), v(3)}, {r(4)});
  hal(HalImport::BufferTransfer, {r(0), r(4), v(0), v(3)}, {r(5)});
  hal(HalImport::BufferLength, {r(5)}, {v(8)});
  hal(HalImport::DeviceQueueAlloca, {r(0), r(15), v(1), v(3)}, {r(6)});
  hal(HalImport::CommandBufferCreate, {r(0), v(0), v(2)}, {r(7)});
  hal(HalImport::CommandBufferFill, {r(7), v(1), v(0), v(3), v(2), v(6)}, {});
  hal(HalImport::CommandBufferBarrier, {r(7)}, {});
  hal(HalImport::CommandBufferCopy, {r(7), v(0), v(0), v(1), v(0), v(3)}, {});
  hal(HalImport::CommandBufferDispatch,
      {r(7), r(2), v(0), v(1), v(1), v(1), v(1), v(5), v(0), v(0), v(3), v(1), v(0), v(3)}, {});
  hal(HalImport::CommandBufferFinalize, {r(7)}, {});
  hal(HalImport::DeviceQueueExecute, {r(0), v(1), r(15), r(7), r(4), v(0), v(3), r(6), v(0), v(3)}, {r(8)});
  hal(HalImport::FenceJoin, {r(8), r(15)}, {r(9)});
  hal(HalImport::DeviceEndTurn, {r(0), r(15), r(9), r(6)}, {r(10)});
  hal(HalImport::FenceAwait, {r(9)}, {});
  hal(HalImport::BufferLoad, {r(5), v(0), v(6)}, {v(9)});
  hal(HalImport::BufferViewCreate, {r(5), v(0), v(3), v(4), v(5)}, {r(11)});
  code.emit(Opcode::ConstRodata, {12, 0});
  hal(HalImport::BufferViewAssert, {r(11), r(12), v(4), v(5)}, {});
  hal(HalImport::BufferViewDim, {r(11), v(0)}, {v(10)});
  hal(HalImport::BufferViewBuffer, {r(11)}, {r(13)});
  code.ret({r(11)});
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

  writeCode(folder / "vm/program", {{kNothing, program.functions[0].code}, {kRef, program.functions[1].code}});
  const schema::ModuleDesc reader = vm::testing::constantDesc(kShape[0]);
  writeCode(folder / "vm/constant", {{kNothing, reader.functions[0].code},
                                     {kMakesRef, reader.functions[2].code},
                                     {kMakesRef, reader.functions[3].code},
                                     {kMakesNumber, reader.functions[4].code}});
  writeCode(folder / "vm/queues", {{kMakesRef, queues()}});
  writeCode(folder / "vm/loop", {{kNumber, loop()}});
  writeCode(folder / "vm/imports", {{kNumber, loop()}, {kMixed, imports()}});
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
