// Every instruction, by running it in a function of its own.
#include <cmath>
#include <limits>

#include "gtest/gtest.h"

#include "kiln/runtime/module/test_module.h"
#include "kiln/runtime/vm/program_objects.h"
#include "kiln/runtime/vm/session.h"

namespace kiln::vm {
namespace {

using schema::CodeBuilder;
using schema::Opcode;

constexpr auto v = schema::Register::value;
constexpr auto r = schema::Register::ref;

uint64_t bits(double value) {
  return std::bit_cast<uint64_t>(value);
}
uint64_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}
constexpr float kNan32 = std::numeric_limits<float>::quiet_NaN();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint64_t kMin32 = 0x80000000, kNeg32 = 0xffffffff;
constexpr uint64_t kMin64 = uint64_t(1) << 63, kMax64 = kMin64 - 1, kNeg64 = ~uint64_t(0);

// One call of a module with one function "f", whose registers v0, v1, ... are the arguments.
Status callF(schema::ModuleDesc &desc, std::span<const Value> arguments, std::span<Value> results,
             const SessionOptions &options = {}) {
  KILN_ASSIGN_OR_RETURN(Ref<Module> module, testing::loadDesc(desc));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::create({module}, {}, options));
  KILN_ASSIGN_OR_RETURN(Function function, session->lookup("f"));
  return session->call(function, arguments, results);
}

// The bits that an instruction with operands "DR", "DRR" or "DRRR" computes.
Result<uint64_t> compute(Opcode opcode, const std::vector<uint64_t> &operands) {
  CodeBuilder code;
  switch (operands.size()) {
  case 1: code.emit(opcode, {3, 0}); break;
  case 2: code.emit(opcode, {3, 0, 1}); break;
  default: code.emit(opcode, {3, 0, 1, 2});
  }
  code.ret({v(3)});
  schema::ModuleDesc desc = testing::emptyDesc();
  testing::addFunction(desc, "f", std::string(operands.size(), 'I') + "_I", 4, 0, std::move(code));
  std::vector<Value> arguments;
  for (uint64_t operand : operands)
    arguments.push_back(Value::i64(static_cast<int64_t>(operand)));
  Value result;
  KILN_RETURN_IF_ERROR(callF(desc, arguments, {&result, 1}));
  return result.bits();
}

struct Case {
  Opcode opcode;
  std::vector<uint64_t> operands;
  uint64_t result;
};

void check(const std::vector<Case> &cases) {
  for (const Case &test : cases) {
    Result<uint64_t> result = compute(test.opcode, test.operands);
    ASSERT_TRUE(result.ok()) << opcodeInfo(test.opcode).mnemonic << ": " << result.status().toString();
    EXPECT_EQ(*result, test.result) << opcodeInfo(test.opcode).mnemonic << " of " << test.operands[0]
                                    << (test.operands.size() > 1 ? fmt::format(", {}", test.operands[1]) : "");
  }
}

TEST(Interpreter, integers32) {
  check({
      {Opcode::AddI32, {kNeg32, 2}, 1},
      {Opcode::AddI32, {0xdead00000001, 0xbeef00000001}, 2}, // the high half of a register is not part of an i32
      {Opcode::SubI32, {1, 2}, kNeg32},
      {Opcode::MulI32, {0x10000, 0x10000}, 0},
      {Opcode::MulI32, {kNeg32, 3}, 0xfffffffd},
      {Opcode::DivSI32, {0xfffffff9, 2}, 0xfffffffd},
      {Opcode::DivUI32, {0xfffffff9, 2}, 0x7ffffffc},
      {Opcode::RemSI32, {0xfffffff9, 2}, kNeg32},
      {Opcode::RemSI32, {kMin32, kNeg32}, 0},
      {Opcode::RemUI32, {0xfffffff9, 2}, 1},
      {Opcode::MinSI32, {kNeg32, 1}, kNeg32},
      {Opcode::MinUI32, {kNeg32, 1}, 1},
      {Opcode::MaxSI32, {kNeg32, 1}, 1},
      {Opcode::MaxUI32, {kNeg32, 1}, kNeg32},
      {Opcode::AndI32, {12, 10}, 8},
      {Opcode::OrI32, {12, 10}, 14},
      {Opcode::XorI32, {12, 10}, 6},
      {Opcode::ShlI32, {3, 31}, kMin32},
      {Opcode::ShlI32, {3, 33}, 6},
      {Opcode::ShrSI32, {kMin32, 31}, kNeg32},
      {Opcode::ShrUI32, {kMin32, 31}, 1},
      {Opcode::CmpEqI32, {0x100000001, 1}, 1},
      {Opcode::CmpEqI32, {2, 1}, 0},
      {Opcode::CmpNeI32, {2, 1}, 1},
      {Opcode::CmpLtSI32, {kNeg32, 1}, 1},
      {Opcode::CmpLtSI32, {1, 1}, 0},
      {Opcode::CmpLeSI32, {1, 1}, 1},
      {Opcode::CmpLtUI32, {kNeg32, 1}, 0},
      {Opcode::CmpLeUI32, {1, kNeg32}, 1},
  });
}

TEST(Interpreter, integers64) {
  check({
      {Opcode::AddI64, {kNeg64, 2}, 1},
      {Opcode::SubI64, {1, 2}, kNeg64},
      {Opcode::MulI64, {kNeg64, 3}, ~uint64_t(0) - 2},
      {Opcode::DivSI64, {static_cast<uint64_t>(-7), 2}, static_cast<uint64_t>(-3)},
      {Opcode::DivUI64, {static_cast<uint64_t>(-7), 2}, 0x7ffffffffffffffc},
      {Opcode::RemSI64, {static_cast<uint64_t>(-7), 2}, kNeg64},
      {Opcode::RemSI64, {kMin64, kNeg64}, 0},
      {Opcode::RemUI64, {static_cast<uint64_t>(-7), 2}, 1},
      {Opcode::MinSI64, {kNeg64, 1}, kNeg64},
      {Opcode::MinUI64, {kNeg64, 1}, 1},
      {Opcode::MaxSI64, {kNeg64, 1}, 1},
      {Opcode::MaxUI64, {kNeg64, 1}, kNeg64},
      {Opcode::AndI64, {12, 10}, 8},
      {Opcode::OrI64, {kMin64, 1}, kMin64 + 1},
      {Opcode::XorI64, {kNeg64, 1}, kNeg64 - 1},
      {Opcode::ShlI64, {1, 63}, kMin64},
      {Opcode::ShlI64, {1, 65}, 2},
      {Opcode::ShrSI64, {kMin64, 63}, kNeg64},
      {Opcode::ShrUI64, {kMin64, 63}, 1},
      {Opcode::CmpEqI64, {0x100000001, 1}, 0},
      {Opcode::CmpNeI64, {0x100000001, 1}, 1},
      {Opcode::CmpLtSI64, {kNeg64, 1}, 1},
      {Opcode::CmpLeSI64, {1, 1}, 1},
      {Opcode::CmpLtUI64, {kNeg64, 1}, 0},
      {Opcode::CmpLeUI64, {1, 1}, 1},
      {Opcode::TruncI1, {3}, 1},
      {Opcode::TruncI8, {0x1ff}, 0xff},
      {Opcode::TruncI16, {0x1ffff}, 0xffff},
      {Opcode::TruncI32, {0x1ffffffff}, kNeg32},
      {Opcode::ExtSI1, {1}, kNeg64},
      {Opcode::ExtSI1, {2}, 0},
      {Opcode::ExtSI8, {0x80}, static_cast<uint64_t>(-128)},
      {Opcode::ExtSI8, {0x17f}, 127},
      {Opcode::ExtSI16, {0x8000}, static_cast<uint64_t>(-32768)},
      {Opcode::ExtSI32, {kMin32}, static_cast<uint64_t>(std::numeric_limits<int32_t>::min())},
      {Opcode::Move, {kMax64}, kMax64},
      {Opcode::Select, {1, 5, 6}, 5},
      {Opcode::Select, {0, 5, 6}, 6},
  });
}

TEST(Interpreter, floats) {
  check({
      {Opcode::AddF32, {bits(1.5f), bits(2.0f)}, bits(3.5f)},
      {Opcode::SubF32, {bits(1.5f), bits(2.0f)}, bits(-0.5f)},
      {Opcode::MulF32, {bits(1.5f), bits(2.0f)}, bits(3.0f)},
      {Opcode::DivF32, {bits(1.0f), bits(3.0f)}, bits(1.0f / 3.0f)},
      {Opcode::RemF32, {bits(-7.5f), bits(2.0f)}, bits(-1.5f)},
      {Opcode::MinF32, {bits(0.0f), bits(-0.0f)}, bits(-0.0f)},
      {Opcode::MaxF32, {bits(-0.0f), bits(0.0f)}, bits(0.0f)},
      {Opcode::MinF32, {bits(1.0f), bits(2.0f)}, bits(1.0f)},
      {Opcode::MaxF32, {bits(1.0f), bits(2.0f)}, bits(2.0f)},
      {Opcode::NegF32, {bits(0.0f)}, bits(-0.0f)},
      {Opcode::AddF64, {bits(1.5), bits(2.0)}, bits(3.5)},
      {Opcode::SubF64, {bits(1.5), bits(2.0)}, bits(-0.5)},
      {Opcode::MulF64, {bits(1.5), bits(2.0)}, bits(3.0)},
      {Opcode::DivF64, {bits(1.0), bits(0.0)}, bits(kInfinity)},
      {Opcode::RemF64, {bits(-7.5), bits(2.0)}, bits(-1.5)},
      {Opcode::MinF64, {bits(1.0), bits(2.0)}, bits(1.0)},
      {Opcode::MaxF64, {bits(1.0), bits(2.0)}, bits(2.0)},
      {Opcode::NegF64, {bits(-1.0)}, bits(1.0)},
      {Opcode::CmpEqF32, {bits(0.0f), bits(-0.0f)}, 1},
      {Opcode::CmpEqF32, {bits(kNan32), bits(kNan32)}, 0},
      {Opcode::CmpLtF32, {bits(1.0f), bits(2.0f)}, 1},
      {Opcode::CmpLtF32, {bits(kNan32), bits(2.0f)}, 0},
      {Opcode::CmpLeF32, {bits(2.0f), bits(2.0f)}, 1},
      {Opcode::CmpUnoF32, {bits(kNan32), bits(2.0f)}, 1},
      {Opcode::CmpUnoF32, {bits(1.0f), bits(2.0f)}, 0},
      {Opcode::CmpEqF64, {bits(1.0), bits(1.0)}, 1},
      {Opcode::CmpLtF64, {bits(2.0), bits(1.0)}, 0},
      {Opcode::CmpLeF64, {bits(1.0), bits(2.0)}, 1},
      {Opcode::CmpUnoF64, {bits(1.0), bits(kNan)}, 1},
  });
  EXPECT_TRUE(
      std::isnan(std::bit_cast<float>(static_cast<uint32_t>(*compute(Opcode::MinF32, {bits(kNan32), bits(1.0f)})))));
  EXPECT_TRUE(std::isnan(std::bit_cast<double>(*compute(Opcode::MaxF64, {bits(1.0), bits(kNan)}))));
}

TEST(Interpreter, conversions) {
  check({
      {Opcode::ExtF32F64, {bits(1.5f)}, bits(1.5)},
      {Opcode::TruncF64F32, {bits(0.1)}, bits(0.1f)},
      {Opcode::ExtF16F64, {0xC500}, bits(-5.0)},
      {Opcode::TruncF64F16, {bits(2049.0)}, 0x6800}, // a tie goes to even: 2048
      {Opcode::TruncF64F16, {bits(1e6)}, 0x7C00},
      {Opcode::ExtBF16F64, {0x3FC0}, bits(1.5)},
      {Opcode::TruncF64BF16, {bits(-257.0)}, 0xC380}, // likewise: -256
      {Opcode::SI64ToF32, {kNeg64}, bits(-1.0f)},
      {Opcode::UI64ToF32, {kNeg64}, bits(18446744073709551616.0f)},
      {Opcode::SI64ToF64, {kMin64}, bits(-9223372036854775808.0)},
      {Opcode::UI64ToF64, {kMin64}, bits(9223372036854775808.0)},
      {Opcode::F32ToSI64, {bits(-1.9f)}, kNeg64},
      {Opcode::F32ToSI64, {bits(kNan32)}, 0},
      {Opcode::F32ToSI64, {bits(1e30f)}, kMax64},
      {Opcode::F32ToSI64, {bits(-1e30f)}, kMin64},
      {Opcode::F32ToUI64, {bits(-3.0f)}, 0},
      {Opcode::F32ToUI64, {bits(1e30f)}, kNeg64},
      {Opcode::F64ToSI64, {bits(9223372036854775808.0)}, kMax64},
      {Opcode::F64ToSI64, {bits(-9223372036854775808.0)}, kMin64},
      {Opcode::F64ToSI64, {bits(1.9)}, 1},
      {Opcode::F64ToUI64, {bits(9223372036854775808.0)}, kMin64},
      {Opcode::F64ToUI64, {bits(kNan)}, 0},
      {Opcode::F64ToUI64, {bits(kInfinity)}, kNeg64},
  });
}

TEST(Interpreter, mathematics) {
  check({
      {Opcode::AbsF32, {bits(-2.0f)}, bits(2.0f)},
      {Opcode::AbsF64, {bits(-2.0)}, bits(2.0)},
      {Opcode::CeilF32, {bits(1.2f)}, bits(2.0f)},
      {Opcode::CeilF64, {bits(-1.2)}, bits(-1.0)},
      {Opcode::FloorF32, {bits(-1.2f)}, bits(-2.0f)},
      {Opcode::FloorF64, {bits(1.2)}, bits(1.0)},
      {Opcode::RoundEvenF32, {bits(2.5f)}, bits(2.0f)},
      {Opcode::RoundEvenF64, {bits(3.5)}, bits(4.0)},
      {Opcode::SqrtF32, {bits(2.0f)}, bits(std::sqrt(2.0f))},
      {Opcode::SqrtF64, {bits(2.0)}, bits(std::sqrt(2.0))},
      {Opcode::ExpF32, {bits(1.0f)}, bits(std::exp(1.0f))},
      {Opcode::ExpF64, {bits(1.0)}, bits(std::exp(1.0))},
      {Opcode::Exp2F32, {bits(3.0f)}, bits(8.0f)},
      {Opcode::Exp2F64, {bits(-1.0)}, bits(0.5)},
      {Opcode::LogF32, {bits(1.0f)}, bits(0.0f)},
      {Opcode::LogF64, {bits(2.0)}, bits(std::log(2.0))},
      {Opcode::Log2F32, {bits(8.0f)}, bits(3.0f)},
      {Opcode::Log2F64, {bits(8.0)}, bits(3.0)},
      {Opcode::SinF32, {bits(1.0f)}, bits(std::sin(1.0f))},
      {Opcode::SinF64, {bits(1.0)}, bits(std::sin(1.0))},
      {Opcode::CosF32, {bits(0.0f)}, bits(1.0f)},
      {Opcode::CosF64, {bits(1.0)}, bits(std::cos(1.0))},
      {Opcode::TanhF32, {bits(0.5f)}, bits(std::tanh(0.5f))},
      {Opcode::TanhF64, {bits(0.5)}, bits(std::tanh(0.5))},
      {Opcode::ErfF32, {bits(0.5f)}, bits(std::erf(0.5f))},
      {Opcode::ErfF64, {bits(0.5)}, bits(std::erf(0.5))},
      {Opcode::PowF32, {bits(2.0f), bits(10.0f)}, bits(1024.0f)},
      {Opcode::PowF64, {bits(2.0), bits(-1.0)}, bits(0.5)},
  });
}

TEST(Interpreter, divisionsFail) {
  for (Opcode opcode : {Opcode::DivSI32, Opcode::DivUI32, Opcode::RemSI32, Opcode::RemUI32, Opcode::DivSI64,
                        Opcode::DivUI64, Opcode::RemSI64, Opcode::RemUI64}) {
    Result<uint64_t> result = compute(opcode, {1, 0});
    ASSERT_FALSE(result.ok()) << opcodeInfo(opcode).mnemonic;
    EXPECT_EQ(result.status().message(), "integer division by zero\n  at @f+0 of module 'test'");
  }
  // The high half of an i32 is not part of the divisor.
  EXPECT_FALSE(compute(Opcode::DivSI32, {1, 0x100000000}).ok());
  for (auto [opcode, least] : {std::pair(Opcode::DivSI32, kMin32), std::pair(Opcode::DivSI64, kMin64)}) {
    Result<uint64_t> result = compute(opcode, {least, opcode == Opcode::DivSI32 ? kNeg32 : kNeg64});
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.status().message().find("signed overflow"), std::string_view::npos);
  }
}

TEST(Interpreter, movesOfABranchAreDoneAtOnce) {
  // Rotates three values and swaps two references, n times.
  CodeBuilder code;
  auto head = code.newLabel(), body = code.newLabel(), done = code.newLabel();
  for (uint32_t i = 0; i < 3; ++i)
    code.constant(1 + i, 10 + i);
  code.constant(5, 1);
  code.emit(Opcode::ConstRodata, {0, 0});
  code.branch(head);
  code.bind(head);
  code.emit(Opcode::CmpLtSI64, {6, 4, 0});
  code.condBranch(6, body, done);
  code.bind(body);
  code.emit(Opcode::AddI64, {4, 4, 5});
  code.branch(head, {{v(1), v(2)}, {r(0), r(1)}, {v(2), v(3)}, {r(1), r(0)}, {v(3), v(1)}});
  code.bind(done);
  code.emit(Opcode::IsNullRef, {7, 0});
  code.ret({v(1), v(2), v(3), v(7)});
  schema::ModuleDesc desc = testing::emptyDesc();
  desc.rodata.push_back({"", schema::Bytes::own("x")});
  testing::addFunction(desc, "f", "I_IIIi", 8, 2, std::move(code));
  Value results[4];
  Value arguments[] = {Value::i64(1)};
  ASSERT_TRUE(callF(desc, arguments, results).ok());
  EXPECT_EQ(results[0].asI64(), 12);
  EXPECT_EQ(results[1].asI64(), 10);
  EXPECT_EQ(results[2].asI64(), 11);
  EXPECT_EQ(results[3].asI32(), 1);
  arguments[0] = Value::i64(6);
  ASSERT_TRUE(callF(desc, arguments, results).ok());
  EXPECT_EQ(results[0].asI64(), 10);
  EXPECT_EQ(results[3].asI32(), 0);
}

TEST(Interpreter, references) {
  CodeBuilder code;
  code.emit(Opcode::Nop);
  code.emit(Opcode::ConstRodata, {0, 1});
  code.emit(Opcode::MoveRef, {1, 0});
  code.emit(Opcode::ConstNull, {0});
  code.emit(Opcode::IsNullRef, {1, 0});
  code.emit(Opcode::SelectRef, {2, 0, 0, 1}); // v0 != 0 ? null : rodata
  code.discard({r(1), r(0)});
  code.emit(Opcode::IsNullRef, {2, 1});
  code.ret({v(1), v(2), r(2), r(2)});
  schema::ModuleDesc desc = testing::emptyDesc();
  desc.rodata.push_back({"a", schema::Bytes::own("aa")});
  desc.rodata.push_back({"b", schema::Bytes::own("bbb")});
  testing::addFunction(desc, "f", "i_iirr", 3, 3, std::move(code));
  Value results[4];
  Value arguments[] = {Value::i32(0)};
  ASSERT_TRUE(callF(desc, arguments, results).ok());
  EXPECT_EQ(results[0].asI32(), 1);
  EXPECT_EQ(results[1].asI32(), 1);
  // The constant outlives session and module.
  ASSERT_NE(results[2].as<Rodata>(), nullptr);
  EXPECT_EQ(results[2].as<Rodata>()->bytes(), "bbb");
  EXPECT_EQ(results[3].as<Rodata>(), results[2].as<Rodata>());
  arguments[0] = Value::i32(1);
  ASSERT_TRUE(callF(desc, arguments, results).ok());
  EXPECT_FALSE(results[2].anyRef());
}

TEST(Interpreter, failCarriesCodeAndMessage) {
  for (auto [number, code] :
       {std::pair(uint64_t(11), StatusCode::OutOfRange), std::pair(uint64_t(0), StatusCode::Unknown),
        std::pair(uint64_t(1) << 40, StatusCode::Unknown)}) {
    CodeBuilder builder;
    builder.constant(0, number);
    builder.emit(Opcode::Fail, {0, 0});
    schema::ModuleDesc desc = testing::emptyDesc();
    desc.rodata.push_back({"", schema::Bytes::own("index 7 is too large")});
    testing::addFunction(desc, "f", "_", 1, 0, std::move(builder));
    Status status = callF(desc, {}, {});
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(status.message(), "index 7 is too large\n  at @f+6 of module 'test'");
  }
}

// f(n) = n == 0 ? 0 : f(n - 1) + n, with a reference carried along.
schema::ModuleDesc recursiveDesc() {
  CodeBuilder code;
  auto zero = code.newLabel(), more = code.newLabel();
  code.condBranch(0, more, zero);
  code.bind(zero);
  code.ret({v(0), r(0)});
  code.bind(more);
  code.constant(1, 1);
  code.emit(Opcode::SubI64, {2, 0, 1});
  code.call(0, {v(2), r(0)}, {v(3), r(1)});
  code.emit(Opcode::AddI64, {3, 3, 0});
  code.ret({v(3), r(1)});
  schema::ModuleDesc desc = testing::emptyDesc();
  testing::addFunction(desc, "f", "Ir_Ir", 4, 2, std::move(code));
  return desc;
}

TEST(Interpreter, recursion) {
  schema::ModuleDesc desc = recursiveDesc();
  Value results[2];
  Value arguments[] = {Value::i64(1000), Value()};
  ASSERT_TRUE(callF(desc, arguments, results).ok());
  EXPECT_EQ(results[0].asI64(), 500500);
}

TEST(Interpreter, recursionIsBounded) {
  schema::ModuleDesc desc = recursiveDesc();
  Value results[2];
  Value arguments[] = {Value::i64(int64_t(1) << 40), Value(makeRef<Rodata>("x", nullptr))};
  Status status = callF(desc, arguments, results);
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_NE(status.message().find("more than 1024 active functions"), std::string_view::npos) << status.message();
  EXPECT_NE(status.message().find("\n  and 1008 functions more"), std::string_view::npos) << status.message();
  EXPECT_TRUE(arguments[1].anyRef().pointer()->unique()) << "frames that were unwound drop their references";

  SessionOptions options;
  options.maxCallDepth = ~0u;
  status = callF(desc, arguments, results, options);
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_NE(status.message().find("1048576 bytes of registers"), std::string_view::npos) << status.message();
  EXPECT_TRUE(arguments[1].anyRef().pointer()->unique());

  options.stackBytes = 16;
  EXPECT_EQ(callF(desc, arguments, results, options).code(), StatusCode::ResourceExhausted);
}

TEST(Interpreter, trace) {
  schema::ModuleDesc desc = recursiveDesc();
  char *text = nullptr;
  size_t size = 0;
  SessionOptions options;
  options.trace = open_memstream(&text, &size);
  Value results[2];
  Value arguments[] = {Value::i64(1), Value()};
  ASSERT_TRUE(callF(desc, arguments, results, options).ok());
  std::fclose(options.trace);
  EXPECT_STREQ(text, "[test.f+0000] cond_br v0, 12, 8\n"
                     "[test.f+0012] v1 = const 1\n"
                     "[test.f+0018] v2 = sub.i64 v0, v1\n"
                     "[test.f+0022] v3, r1 = call @f(v2, r0)\n"
                     "[test.f+0000] cond_br v0, 12, 8\n"
                     "[test.f+0008] return v0, r0\n"
                     "[test.f+0030] v3 = add.i64 v3, v0\n"
                     "[test.f+0034] return v3, r1\n");
  std::free(text);
}

} // namespace
} // namespace kiln::vm
