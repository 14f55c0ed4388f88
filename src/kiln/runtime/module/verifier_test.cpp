// What the verifier rejects, one broken function at a time.
#include "gtest/gtest.h"

#include "kiln/runtime/module/test_module.h"

namespace kiln::vm {
namespace {

using schema::CodeBuilder;
using schema::Opcode;
using schema::Register;

constexpr auto v = Register::value;
constexpr auto r = Register::ref;

uint16_t op(Opcode opcode) {
  return static_cast<uint16_t>(opcode);
}

// A module in which "f" has the given signature, 4 value and 2 reference registers and the code; there is one constant,
// one executable, one global of each kind, one import "rI*_r", and a function "g" (function 1) with signature "Ir_rI".
Status verify(std::string signature, std::vector<uint16_t> code) {
  schema::ModuleDesc desc = testing::emptyDesc();
  desc.imports.push_back({"host.many", "rI*_r"});
  desc.rodata.push_back({"", schema::Bytes::own("x")});
  desc.executables.push_back({"e", {}});
  desc.valueGlobals = desc.refGlobals = 1;
  desc.functions.push_back({"f", std::move(signature), 4, 2, std::move(code)});
  CodeBuilder g;
  g.ret({r(0), v(0)});
  testing::addFunction(desc, "g", "Ir_rI", 1, 1, std::move(g));
  return testing::loadDesc(desc).status();
}

Status verify(std::string signature, CodeBuilder code) {
  return verify(std::move(signature), *code.finish());
}

void expectError(const Status &status, std::string_view text) {
  ASSERT_FALSE(status.ok()) << text;
  EXPECT_EQ(status.code(), StatusCode::DataLoss);
  EXPECT_EQ(status.message().substr(0, 48), "module 'test.vmfb' is damaged: function @f: unit");
  EXPECT_NE(status.message().find(text), std::string_view::npos) << status.toString();
}

TEST(Verifier, acceptsWhatIsRight) {
  CodeBuilder code;
  auto head = code.newLabel(), end = code.newLabel();
  code.bind(head);
  code.constant(0, 1);
  code.emit(Opcode::ConstRodata, {0, 0});
  code.emit(Opcode::ConstExecutable, {1, 0});
  code.emit(Opcode::GlobalStore, {0, 3});
  code.emit(Opcode::GlobalStoreRef, {0, 1});
  code.callImport(0, {r(0)}, {r(1)});
  code.callImport(0, {r(0), v(0), v(1), v(2)}, {r(1)});
  code.call(1, {v(0), r(0)}, {r(1), v(0)});
  code.condBranch(0, head, {{v(0), v(1)}, {r(0), r(1)}}, end, {});
  code.bind(end);
  code.ret({v(0)});
  Status status = verify("I_I", std::move(code));
  EXPECT_TRUE(status.ok()) << status.toString();
}

TEST(Verifier, opcodesAndEnds) {
  EXPECT_EQ(verify("_", std::vector<uint16_t>{}).message(),
            "module 'test.vmfb' is damaged: function @f: it has no code");
  expectError(verify("_", std::vector<uint16_t>{schema::kOpcodeCount}),
              "unit 0: there is no opcode " + std::to_string(schema::kOpcodeCount));
  expectError(verify("_", std::vector<uint16_t>{op(Opcode::Nop), op(Opcode::AddI64), 0, 1}),
              "unit 1: instruction 'add.i64' runs past the end");
  expectError(verify("_", std::vector<uint16_t>{op(Opcode::Const), 0, 1, 2, 3}), "runs past the end");
  expectError(verify("_", std::vector<uint16_t>{op(Opcode::Return), 2, 0}), "runs past the end");
  expectError(verify("_", std::vector<uint16_t>{op(Opcode::Branch), 0, 0, 1, 0}), "runs past the end");
  expectError(verify("_", std::vector<uint16_t>{op(Opcode::Branch), 0}), "runs past the end");
  expectError(verify("_", std::vector<uint16_t>{op(Opcode::Discard)}), "runs past the end");
  Status status = verify("_", std::vector<uint16_t>{op(Opcode::Nop)});
  EXPECT_EQ(status.message(), "module 'test.vmfb' is damaged: function @f: its code runs past its end: the last "
                              "instruction is no branch, return or fail");
}

TEST(Verifier, indices) {
  struct Case {
    Opcode opcode;
    std::vector<uint16_t> operands;
    const char *message;
  };
  for (const Case &test : std::vector<Case>{
           {Opcode::AddI64, {4, 0, 0}, "'add.i64': value register 4 does not exist; there are 4"},
           {Opcode::AddI64, {0, 4, 0}, "value register 4 does not exist"},
           {Opcode::AddI64, {0, 0, 0x8000}, "value register 32768 does not exist"},
           {Opcode::MoveRef, {2, 0}, "reference register 2 does not exist; there are 2"},
           {Opcode::MoveRef, {0, 2}, "reference register 2 does not exist"},
           {Opcode::ConstRodata, {0, 1}, "constant 1 does not exist; there are 1"},
           {Opcode::ConstExecutable, {0, 1}, "executable 1 does not exist"},
           {Opcode::GlobalLoad, {0, 1}, "value global 1 does not exist"},
           {Opcode::GlobalStore, {1, 0}, "value global 1 does not exist"},
           {Opcode::GlobalLoadRef, {0, 1}, "reference global 1 does not exist"},
           {Opcode::GlobalStoreRef, {1, 0}, "reference global 1 does not exist"},
           {Opcode::Call, {2, 0, 0}, "function 2 does not exist; there are 2"},
           {Opcode::CallImport, {1, 0, 0}, "import 1 does not exist"},
           {Opcode::Fail, {0, 1}, "constant 1 does not exist"},
           {Opcode::Const, {4, 0, 0, 0, 0}, "value register 4 does not exist"},
           {Opcode::Discard, {1, 0x8002}, "reference register 2 does not exist"},
           {Opcode::Discard, {1, 0}, "value register 0 is discarded"},
       }) {
    std::vector<uint16_t> code = {op(test.opcode)};
    code.insert(code.end(), test.operands.begin(), test.operands.end());
    code.insert(code.end(), {op(Opcode::Return), 0});
    expectError(verify("_", code), test.message);
  }
}

TEST(Verifier, branches) {
  auto branch = [](uint32_t target, std::vector<uint16_t> pairs) {
    std::vector<uint16_t> code = {op(Opcode::Branch), uint16_t(target), uint16_t(target >> 16),
                                  uint16_t(pairs.size() / 2)};
    code.insert(code.end(), pairs.begin(), pairs.end());
    return code;
  };
  EXPECT_TRUE(verify("_", branch(0, {0, 1, 0x8000, 0x8001})).ok());
  expectError(verify("_", branch(1, {})), "unit 0: a branch goes to unit 1, where no instruction");
  expectError(verify("_", branch(4, {})), "goes to unit 4");
  expectError(verify("_", branch(0x10000, {})), "goes to unit 65536");
  expectError(verify("_", branch(0xffffffff, {})), "goes to unit 4294967295");
  expectError(verify("_", branch(0, {0, 4})), "value register 4 does not exist");
  expectError(verify("_", branch(0, {0x8002, 0x8000})), "reference register 2 does not exist");
  expectError(verify("_", branch(0, {0, 0x8000})), "a move goes from one kind of register to the other");
}

TEST(Verifier, callsAndReturns) {
  auto check = [](auto emit, std::string_view message) {
    CodeBuilder code;
    emit(code);
    code.ret({v(0), r(0)});
    expectError(verify("_Ir", std::move(code)), message);
  };
  check([](CodeBuilder &code) { code.call(1, {v(0)}, {r(1), v(0)}); }, "@g cannot take 1 arguments");
  check([](CodeBuilder &code) { code.call(1, {r(0), v(0)}, {r(1), v(0)}); }, "argument 0 of @g is of the wrong kind");
  check([](CodeBuilder &code) { code.call(1, {v(0), r(0)}, {r(1)}); }, "1 results are given; the signature has 2");
  check([](CodeBuilder &code) { code.call(1, {v(0), r(0)}, {v(0), r(0)}); }, "entry 0 of the results is of the wrong");
  check([](CodeBuilder &code) { code.call(1, {v(9), r(0)}, {r(0), v(0)}); }, "value register 9 does not exist");
  check([](CodeBuilder &code) { code.call(1, {v(0), r(0)}, {r(9), v(0)}); }, "reference register 9 does not exist");
  check([](CodeBuilder &code) { code.callImport(0, {}, {r(0)}); }, "@host.many cannot take 0 arguments");
  check([](CodeBuilder &code) { code.callImport(0, {r(0), v(0), r(1)}, {r(0)}); },
        "argument 2 of @host.many is of the wrong kind");
  check([](CodeBuilder &code) { code.ret({v(0)}); }, "1 results are given; the signature has 2");
  check([](CodeBuilder &code) { code.ret({r(0), v(0)}); }, "entry 0 of the results is of the wrong kind");
}

} // namespace
} // namespace kiln::vm
