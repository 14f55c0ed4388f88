#include "kiln/runtime/vm/testing/abs_program.h"

#include <fstream>
#include <iterator>
#include <optional>

#include "kiln/schema/vm_code.h"

namespace kiln::vm::testing {

using schema::CodeBuilder;
using schema::Opcode;
using schema::Register;

static constexpr auto v = Register::value;
static constexpr auto r = Register::ref;
static constexpr uint64_t kF32 = 16;

void addHalImports(schema::ModuleDesc &desc) {
#define KILN_HAL_IMPORT(Name, name, signature) desc.imports.push_back({name, signature});
#include "kiln/schema/hal_imports.def"
}

const char *nativeFormat() {
#if defined(__x86_64__)
  return "elf-x86_64";
#elif defined(__aarch64__)
  return "elf-aarch64";
#else
#error "name the ELF format of this machine"
#endif
}

static void callHal(CodeBuilder &code, HalImport import, std::span<const Register> arguments,
                    std::span<const Register> results) {
  code.callImport(static_cast<uint32_t>(import), arguments, results);
}
static void callHal(CodeBuilder &code, HalImport import, CodeBuilder::Registers arguments,
                    CodeBuilder::Registers results) {
  code.callImport(static_cast<uint32_t>(import), arguments, results);
}

// v0 is never written, and so is zero.
static std::vector<uint16_t> initializer(uint64_t elements, uint32_t ordinal, uint32_t workgroups) {
  CodeBuilder code;
  code.constant(1, 1);
  code.constant(2, 2);
  code.constant(3, elements);
  code.constant(4, elements * sizeof(float));
  code.constant(5, ordinal);
  code.constant(6, workgroups);
  callHal(code, HalImport::DeviceGet, {v(0)}, {r(0)});
  code.emit(Opcode::ConstExecutable, {1, 0});
  callHal(code, HalImport::ExecutableCreate, {r(0), r(1)}, {r(2)});
  callHal(code, HalImport::CommandBufferCreate, {r(0), v(0), v(2)}, {r(3)});
  // One constant; bindings are slot, offset, length.
  callHal(code, HalImport::CommandBufferDispatch,
          {r(3), r(2), v(5), v(6), v(1), v(1), v(1), v(3), v(0), v(0), v(4), v(1), v(0), v(4)}, {});
  callHal(code, HalImport::CommandBufferFinalize, {r(3)}, {});
  code.emit(Opcode::GlobalStoreRef, {0, 0});
  code.emit(Opcode::GlobalStoreRef, {1, 3});
  code.ret();
  return *code.finish();
}

static std::vector<uint16_t> absFunction(std::span<const uint64_t> shape, uint64_t elements) {
  CodeBuilder code;
  code.constant(1, elements * sizeof(float));
  code.constant(2, kF32);
  std::vector<Register> type = {r(0), r(1), v(2)}, create = {r(4), v(0), v(1), v(2)};
  for (size_t i = 0; i < shape.size(); ++i) {
    uint32_t dimension = static_cast<uint32_t>(3 + i);
    code.constant(dimension, shape[i]);
    type.push_back(v(dimension));
    create.push_back(v(dimension));
  }
  code.emit(Opcode::ConstRodata, {1, 0});
  callHal(code, HalImport::BufferViewAssert, type, {});
  callHal(code, HalImport::BufferViewBuffer, {r(0)}, {r(2)});
  code.emit(Opcode::GlobalLoadRef, {3, 0});
  callHal(code, HalImport::BufferAllocate, {r(3), v(0), v(1)}, {r(4)});
  code.emit(Opcode::GlobalLoadRef, {5, 1});
  callHal(code, HalImport::DeviceExecute, {r(3), r(7), r(5), r(2), v(0), v(1), r(4), v(0), v(1)}, {r(6)});
  callHal(code, HalImport::FenceAwait, {r(6)}, {});
  callHal(code, HalImport::BufferViewCreate, create, {{r(7)}});
  code.ret({r(7)});
  return *code.finish();
}

schema::ModuleDesc absDesc(std::span<const uint64_t> shape, uint32_t ordinal, uint32_t workgroups) {
  uint64_t elements = 1;
  for (uint64_t extent : shape)
    elements *= extent;
  schema::ModuleDesc desc;
  desc.name = "abs";
  desc.producer = "kiln test";
  addHalImports(desc);
  desc.refGlobals = 2;
  desc.initializer = 0;
  desc.functions.push_back({"__init", "_", 7, 4, initializer(elements, ordinal, workgroups)});
  desc.functions.push_back({"abs", "r_r", static_cast<uint32_t>(3 + shape.size()), 8, absFunction(shape, elements)});
  desc.exports.push_back(
      {"abs", 1, {{"kiln.abi.declaration", "sync func @abs(%input0: tensor) -> (%output0: tensor)"}}});
  desc.rodata.push_back({"input0", schema::Bytes::own("input0")});
  std::ifstream file(KILN_ABS_EXECUTABLE, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  schema::VariantDesc variant{"llvm-cpu",
                              nativeFormat(),
                              "generic",
                              "",
                              {{"abs_dispatch_0_elementwise_f32", 2, 1},
                               {"abs_dispatch_1_failing", 2, 1},
                               {"abs_dispatch_2_waiting", 2, 1},
                               {"abs_dispatch_3_slow", 2, 1}},
                              schema::Bytes::own(std::move(bytes))};
  desc.executables.push_back({"abs_linked", {std::move(variant)}});
  return desc;
}

namespace {

// Where functions that read the constant find things. v0 is zero.
enum : uint32_t {
  kDevice = 0,
  kLabel = 1,
  kConstant = 2,
  kResult = 3,
  kCommands = 4,
  kFence = 5,
  kView = 6,
  kNull = 7
};

// After `during`: device, and the constant as a buffer; v1 is its length in bytes.
CodeBuilder constantFunction(uint64_t elements, std::optional<uint32_t> during) {
  CodeBuilder code;
  if (during)
    code.callImport(*during, {}, {});
  code.constant(1, elements * sizeof(float));
  code.emit(Opcode::GlobalLoadRef, {kDevice, 0});
  code.emit(Opcode::ConstRodata, {kLabel, 1});
  callHal(code, HalImport::BufferConstant, {r(kDevice), r(kLabel), v(0), v(1)}, {r(kConstant)});
  return code;
}

// Executes the commands with the constant in slot 0 and a new buffer in slot 1, which is returned.
void executeOnConstant(CodeBuilder &code, uint64_t elements) {
  code.constant(2, kF32);
  code.constant(3, elements);
  callHal(code, HalImport::BufferAllocate, {r(kDevice), v(0), v(1)}, {r(kResult)});
  callHal(code, HalImport::DeviceExecute,
          {r(kDevice), r(kNull), r(kCommands), r(kConstant), v(0), v(1), r(kResult), v(0), v(1)}, {r(kFence)});
  callHal(code, HalImport::FenceAwait, {r(kFence)}, {});
  callHal(code, HalImport::BufferViewCreate, {r(kResult), v(0), v(1), v(2), v(3)}, {{r(kView)}});
  code.ret({r(kView)});
}

} // namespace

schema::ModuleDesc constantDesc(uint64_t elements, const char *during) {
  schema::ModuleDesc desc = absDesc({&elements, 1});
  std::optional<uint32_t> import;
  if (during) {
    import = static_cast<uint32_t>(desc.imports.size());
    desc.imports.push_back({during, "_"});
  }
  std::vector<float> values(elements);
  for (uint64_t i = 0; i < elements; ++i)
    values[i] = -static_cast<float>(i % 1000 + 1);
  desc.rodata.push_back({"weights", schema::Bytes::own(std::string(reinterpret_cast<const char *>(values.data()),
                                                                   elements * sizeof(float)))});
  auto add = [&](const char *name, const char *signature, CodeBuilder code) {
    desc.exports.push_back({name, static_cast<uint32_t>(desc.functions.size()), {}});
    desc.functions.push_back({name, signature, 5, 8, *code.finish()});
  };

  CodeBuilder abs = constantFunction(elements, import);
  abs.emit(Opcode::GlobalLoadRef, {kCommands, 1});
  executeOnConstant(abs, elements);
  add("constant_abs", "_r", std::move(abs));

  CodeBuilder copy = constantFunction(elements, import);
  copy.constant(2, 2);
  copy.constant(3, 1);
  callHal(copy, HalImport::CommandBufferCreate, {r(kDevice), v(0), v(2)}, {r(kCommands)});
  callHal(copy, HalImport::CommandBufferCopy, {r(kCommands), v(0), v(0), v(3), v(0), v(1)}, {});
  callHal(copy, HalImport::CommandBufferFinalize, {r(kCommands)}, {});
  executeOnConstant(copy, elements);
  add("constant_copy", "_r", std::move(copy));

  CodeBuilder load = constantFunction(elements, import);
  load.constant(2, 8);
  load.constant(3, elements / 2 * sizeof(float));
  callHal(load, HalImport::BufferLoad, {r(kConstant), v(3), v(2)}, {v(4)});
  load.ret({v(4)});
  add("constant_load", "_I", std::move(load));
  return desc;
}

} // namespace kiln::vm::testing
