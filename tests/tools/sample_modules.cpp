#include "tests/tools/sample_modules.h"

#include <bit>
#include <cstdlib>
#include <utility>

#include "kiln/runtime/vm/testing/abs_program.h"
#include "kiln/schema/module_writer.h"
#include "kiln/schema/vm_code.h"

namespace kiln::testing {

namespace {

using schema::CodeBuilder;
using schema::Opcode;
using schema::Register;
using vm::testing::HalImport;

constexpr auto v = Register::value;
constexpr auto r = Register::ref;

// Numbers of element_type.def.
constexpr uint64_t kF32 = 16, kI8 = 2;

std::string bytesOf(const schema::ModuleDesc &desc) {
  Result<std::string> bytes = schema::writeModuleToString(desc);
  if (!bytes.ok())
    std::abort();
  return *std::move(bytes);
}

schema::ModuleDesc newModule(std::string name) {
  schema::ModuleDesc desc;
  desc.name = std::move(name);
  desc.producer = "kiln test";
  vm::testing::addHalImports(desc);
  return desc;
}

void callHal(CodeBuilder &code, HalImport import, CodeBuilder::Registers arguments, CodeBuilder::Registers results) {
  code.callImport(static_cast<uint32_t>(import), arguments, results);
}

// Adds an exported function with room for 16 registers of each kind.
void add(schema::ModuleDesc &desc, std::string name, std::string signature, const std::string &declaration,
         CodeBuilder code, std::vector<schema::AttributeDesc> attributes = {}) {
  desc.exports.push_back({name, static_cast<uint32_t>(desc.functions.size()), std::move(attributes)});
  if (!declaration.empty())
    desc.exports.back().attributes.push_back({"kiln.abi.declaration", "sync func @" + name + declaration});
  desc.functions.push_back({std::move(name), std::move(signature), 16, 16, *code.finish()});
}

CodeBuilder identityCode() {
  CodeBuilder code;
  code.ret({r(0)});
  return code;
}

// Returns its argument where it is a tensor of `extent` elements of a type.
CodeBuilder checkedCode(uint64_t type, uint64_t extent) {
  CodeBuilder code;
  code.emit(Opcode::ConstRodata, {1, 0});
  code.constant(0, type);
  code.constant(1, extent);
  callHal(code, HalImport::BufferViewAssert, {r(0), r(1), v(0), v(1)}, {});
  code.ret({r(0)});
  return code;
}

CodeBuilder fillCode() {
  CodeBuilder code;
  code.constant(1, 0);
  code.constant(2, 4);
  code.emit(Opcode::MulI64, {3, 0, 2}); // bytes
  code.constant(4, std::bit_cast<uint32_t>(1.5f));
  code.constant(5, 1);
  code.constant(6, kF32);
  callHal(code, HalImport::DeviceGet, {v(1)}, {r(0)});
  callHal(code, HalImport::BufferAllocate, {r(0), v(1), v(3)}, {r(1)});
  callHal(code, HalImport::CommandBufferCreate, {r(0), v(5), v(5)}, {r(2)});
  callHal(code, HalImport::CommandBufferFill, {r(2), v(1), v(1), v(3), v(4), v(2)}, {});
  callHal(code, HalImport::CommandBufferFinalize, {r(2)}, {});
  code.emit(Opcode::ConstNull, {3});
  callHal(code, HalImport::DeviceExecute, {r(0), r(3), r(2), r(1), v(1), v(3)}, {r(4)});
  callHal(code, HalImport::FenceAwait, {r(4)}, {});
  callHal(code, HalImport::BufferViewCreate, {r(1), v(1), v(3), v(6), v(0)}, {r(5)});
  code.ret({r(5)});
  return code;
}

// Allocates buffers one after the other, each freed before the next.
CodeBuilder allocateCode(unsigned count, uint64_t usage, uint64_t bytes) {
  CodeBuilder code;
  code.constant(0, 0);
  code.constant(1, usage);
  code.constant(2, bytes);
  callHal(code, HalImport::DeviceGet, {v(0)}, {r(0)});
  for (unsigned i = 0; i < count; ++i) {
    callHal(code, HalImport::BufferAllocate, {r(0), v(1), v(2)}, {r(1)});
    code.discard({r(1)});
  }
  code.ret();
  return code;
}

CodeBuilder spinCode(uint64_t rounds) {
  CodeBuilder code;
  auto head = code.newLabel(), body = code.newLabel(), done = code.newLabel();
  code.constant(0, rounds);
  code.constant(1, 0);
  code.constant(2, 1);
  code.branch(head);
  code.bind(head);
  code.emit(Opcode::CmpLtUI64, {3, 1, 0});
  code.condBranch(3, body, done);
  code.bind(body);
  code.emit(Opcode::AddI64, {1, 1, 2});
  code.branch(head);
  code.bind(done);
  code.ret();
  return code;
}

CodeBuilder failCode() {
  CodeBuilder code;
  code.constant(0, static_cast<uint64_t>(StatusCode::OutOfRange));
  code.emit(Opcode::Fail, {0, 1});
  return code;
}

void addStrings(schema::ModuleDesc &desc) {
  desc.rodata.push_back({"label", schema::Bytes::own("input 0")});
  desc.rodata.push_back({"message", schema::Bytes::own("went wrong")});
}

} // namespace

std::string absModule() {
  return bytesOf(vm::testing::absDesc({}));
}

std::string sampleModule(const std::string &name) {
  schema::ModuleDesc desc = newModule(name);
  addStrings(desc);
  add(desc, "identity", "r_r", "(%input0: tensor<?xf32>) -> (%output0: tensor<?xf32>)", identityCode());
  add(desc, "four", "r_r", "(%input0: tensor<4xf32>) -> (%output0: tensor<4xf32>)", checkedCode(kF32, 4));
  add(desc, "bytes", "r_r", "(%input0: tensor<2xi8>) -> (%output0: tensor<2xi8>)", checkedCode(kI8, 2));

  CodeBuilder scalars;
  scalars.ret({v(0), v(1), v(2), v(3)});
  add(desc, "scalars", "iIfF_iIfF",
      "(%input0: i32, %input1: i64, %input2: f32, %input3: f64) -> "
      "(%output0: i32, %output1: i64, %output2: f32, %output3: f64)",
      std::move(scalars));
  CodeBuilder narrow;
  narrow.ret({v(0)});
  add(desc, "narrow", "i_i", "(%input0: i8) -> (%output0: i8)", std::move(narrow));
  CodeBuilder half;
  half.ret({v(0)});
  add(desc, "half", "f_f", "(%input0: f16) -> (%output0: f16)", std::move(half));
  CodeBuilder truth;
  truth.ret({v(0)});
  add(desc, "truth", "i_i", "(%input0: i1) -> (%output0: i1)", std::move(truth));
  add(desc, "fill", "I_r", "(%input0: index) -> (%output0: tensor<?xf32>)", fillCode());
  add(desc, "transients", "_", "()", allocateCode(2, 1, 4096));

  CodeBuilder nothing;
  nothing.emit(Opcode::ConstNull, {0});
  nothing.ret({r(0)});
  add(desc, "nothing", "_r", "", std::move(nothing));
  CodeBuilder pair;
  pair.ret({r(1), r(0)});
  add(desc, "pair", "rr_rr", "", std::move(pair));
  add(desc, "fails", "_", "()", failCode());
  return bytesOf(desc);
}

std::string benchModule(const std::string &dispatchRepeatCount) {
  schema::ModuleDesc desc = newModule("bench");
  addStrings(desc);
  add(desc, "spin", "_", "()", spinCode(2000));
  add(desc, "allocate", "_", "()", allocateCode(1, 0, 1024));
  add(desc, "dispatch", "_", "()", spinCode(2000), {{"kiln.benchmark", "dispatch"}});
  add(desc, "marked", "r_r", "(%input0: tensor<4xf32>) -> (%output0: tensor<4xf32>)", checkedCode(kF32, 4),
      {{"kiln.benchmark", "entry"}});
  add(desc, "takes", "r_r", "(%input0: tensor<4xf32>) -> (%output0: tensor<4xf32>)", checkedCode(kF32, 4));
  if (!dispatchRepeatCount.empty())
    desc.attributes.push_back({"kiln.dispatch_repeat_count", dispatchRepeatCount});
  return bytesOf(desc);
}

std::string constantModule() {
  return bytesOf(vm::testing::constantDesc(uint64_t(4) << 20));
}

std::string endlessModule() {
  schema::ModuleDesc desc = newModule("endless");
  addStrings(desc);
  add(desc, "spin", "_", "()", spinCode(2000));
  CodeBuilder forever;
  schema::Label start = forever.newLabel();
  forever.bind(start);
  forever.branch(start);
  add(desc, "forever", "_", "()", std::move(forever));
  return bytesOf(desc);
}

std::string failingModule() {
  schema::ModuleDesc desc = newModule("failing");
  addStrings(desc);
  add(desc, "good", "_", "()", spinCode(10));
  add(desc, "fails", "_", "()", failCode());
  return bytesOf(desc);
}

} // namespace kiln::testing
