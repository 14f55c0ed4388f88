#include "kiln/schema/vm_code.h"

#include <cstring>

#include "gtest/gtest.h"

namespace kiln::schema {
namespace {

constexpr auto v = Register::value;
constexpr auto r = Register::ref;

uint16_t op(Opcode opcode) {
  return static_cast<uint16_t>(opcode);
}

TEST(Opcodes, tablesAgree) {
  EXPECT_STREQ(opcodeInfo(Opcode::Nop).mnemonic, "nop");
  EXPECT_STREQ(opcodeInfo(Opcode::AddI32).name, "AddI32");
  EXPECT_STREQ(opcodeInfo(Opcode::PowF64).mnemonic, "pow.f64");
  EXPECT_EQ(op(Opcode::PowF64) + 1, kOpcodeCount);
  for (const OpcodeInfo &info : kOpcodes)
    EXPECT_EQ(std::strspn(info.format, "DdRrISXGHFMBAWK"), std::strlen(info.format)) << info.mnemonic;
}

TEST(CodeBuilder, encodes) {
  CodeBuilder code;
  Label end = code.newLabel();
  code.constant(3, 0x1122334455667788);
  code.condBranch(3, end, {{v(1), v(2)}}, end, {{r(4), r(5)}});
  code.callImport(7, {v(1), r(2)}, {r(3)});
  code.discard({r(9)});
  code.bind(end);
  EXPECT_EQ(code.position(), 28u);
  code.ret({v(1)});
  Result<std::vector<uint16_t>> units = code.finish();
  ASSERT_TRUE(units.ok());
  std::vector<uint16_t> expected = {op(Opcode::Const), 3, 0x7788, 0x5566, 0x3344, 0x1122};
  for (uint16_t unit : {op(Opcode::CondBranch), uint16_t(3), uint16_t(28), uint16_t(0), uint16_t(1), uint16_t(1),
                        uint16_t(2), uint16_t(28), uint16_t(0), uint16_t(1), uint16_t(0x8004), uint16_t(0x8005)})
    expected.push_back(unit);
  for (uint16_t unit :
       {op(Opcode::CallImport), uint16_t(7), uint16_t(2), uint16_t(1), uint16_t(0x8002), uint16_t(1), uint16_t(0x8003)})
    expected.push_back(unit);
  for (uint16_t unit :
       {op(Opcode::Discard), uint16_t(1), uint16_t(0x8009), op(Opcode::Return), uint16_t(1), uint16_t(1)})
    expected.push_back(unit);
  EXPECT_EQ(*units, expected);
  EXPECT_EQ(code.position(), 0u) << "the builder can be used again";
}

TEST(CodeBuilder, branchesAcrossSixteenBits) {
  CodeBuilder code;
  Label start = code.newLabel(), end = code.newLabel();
  code.bind(start);
  code.branch(end);
  for (int i = 0; i < 70000; ++i)
    code.emit(Opcode::Nop);
  code.bind(end);
  code.branch(start);
  Result<std::vector<uint16_t>> units = code.finish();
  ASSERT_TRUE(units.ok());
  EXPECT_EQ((*units)[1] | (*units)[2] << 16, 70004);
}

TEST(CodeBuilder, refusesWhatCannotBeEncoded) {
  CodeBuilder unbound;
  unbound.branch(unbound.newLabel());
  EXPECT_FALSE(unbound.finish().ok());
  CodeBuilder tooLong;
  tooLong.ret(std::vector<Register>(70000, v(0)));
  EXPECT_EQ(tooLong.finish().status().code(), StatusCode::OutOfRange);
}

} // namespace
} // namespace kiln::schema
