// PTX's grammar, what is said of text that is none, and that damaged text never does harm.
#include "kiln/base/file.h"
#include "kiln/base/random.h"
#include "kiln/targets/cuda/sim/kernel_run.h"
#include "kiln/targets/cuda/sim/ptx_parser.h"

#include "gtest/gtest.h"

namespace kiln::cudasim {
namespace {

std::string errorOf(std::string text) {
  return KernelRun(std::move(text)).loadError();
}
std::string errorIn(const std::string &body) {
  return errorOf(".entry k() {\n.reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<2>; .reg .f32 %f<4>;\n" + body + "\n}");
}

TEST(PtxParser, directives) {
  Result<std::unique_ptr<Module>> parsed = parsePtx(R"(
// comment
.version 8.4
.target sm_90a, debug /* and
more */ .address_size 64
.file 1 "a.mlir"
.extern .shared .align 16 .b8 dynamic[];
.visible .const .align 4 .b8 table[8] = {1, 2, -1, 0x10, 017, 0b11};
.global .f32 one = 0f3F800000;
.global .v4 .f32 four;
.weak .func (.param .b32 r) f(.param .align 8 .b8 p[16]) .noreturn;
.visible .entry k(.param .u64 .ptr .global .align 64 a, .param .u32 b)
.maxntid 256, 1, 1 .minnctapersm 2 .reqntid 128 .maxnreg 64 .pragma "nounroll";
{
  .reg .b32 %r<3>; .reg .pred p, q;
  .shared .align 8 .b8 s[4][8];
  .pragma "nounroll";
  .loc 1 7 5
  {
    .reg .b32 %inner;
    mov.u32 %inner, %tid.x;
  }
  .loc 1 9 5, function_name $f, inlined_at 1 3 4
$L: @!p bra $L;
  ret;
}
.section .debug_str { .b8 1 { } }
)");
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  const Module &module = **parsed;
  EXPECT_EQ(module.versionMajor, 8u);
  EXPECT_EQ(module.versionMinor, 4u);
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(module.files.at(1), "a.mlir");
  EXPECT_EQ(module.variables[1].contents, (std::vector<uint8_t>{1, 2, 255, 16, 15, 3}));
  EXPECT_EQ(module.variables[3].bytes, 16u);
  EXPECT_EQ(module.variables[3].align, 16u);
  const Function *kernel = module.findFunction("k");
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->isEntry);
  EXPECT_EQ(kernel->maxThreads[0], 256u);
  EXPECT_EQ(kernel->requiredThreads[0], 128u);
  EXPECT_EQ(kernel->maxRegisters, 64u);
  EXPECT_EQ(kernel->parameters.size(), 2u);
  ASSERT_EQ(kernel->body.size(), 3u);
  EXPECT_EQ(kernel->body[0].sourceLine, 7u);
  EXPECT_EQ(kernel->body[1].sourceLine, 9u);
  EXPECT_TRUE(kernel->body[1].guard->negated);
  EXPECT_EQ(kernel->body[1].text, "@!p bra $L");
  EXPECT_EQ(kernel->labels.at("$L"), 1u);
  EXPECT_EQ(module.variables[kernel->localVariables[0]].bytes, 32u);
}

// A pair of braces has labels of its own, and its branches may leave it.
TEST(PtxParser, labelsBelongToBraces) {
  Result<std::unique_ptr<Module>> parsed = parsePtx(R"(.version 8.0
.target sm_90
.address_size 64
.entry k() {
  { again: bra done; bra again; done: bra.uni out; }
  { again: { bra again; } }
  out: ret;
}
)");
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  const Function &kernel = *(*parsed)->findFunction("k");
  auto target = [&](size_t branch) { return kernel.labels.at(kernel.body[branch].operands[0].name); };
  EXPECT_EQ(target(0), 2u);
  EXPECT_EQ(target(1), 0u);
  EXPECT_EQ(target(2), 4u);
  EXPECT_EQ(target(3), 3u);
  EXPECT_EQ(errorIn("{ a: ; { a: ; } a: ; }"), "line 4: label 'a' is there already");
  EXPECT_EQ(errorIn("{ a: ; } bra a;"), "line 4: 'bra a': there is no label 'a'");
}

TEST(PtxParser, errorsNameLineAndCause) {
  EXPECT_EQ(errorOf(".version 8.0\n.target sm_90\n.address_size 32\n"), // the size has been read
            "line 4: only addresses of 64 bits are simulated, and the text ends");
  EXPECT_EQ(errorOf("\n.entry k( {"), "line 3: '.param' is expected, at '{'");
  EXPECT_EQ(errorIn("frobnicate.b32 %r1, %r2;"),
            "line 4: 'frobnicate.b32 %r1, %r2': the instruction 'frobnicate' is not one that the simulator knows");
  EXPECT_EQ(errorIn("\nadd.fancy.s32 %r1, %r2, %r3;"),
            "line 5: 'add.fancy.s32 %r1, %r2, %r3': the modifier '.fancy' is not one that the simulator knows here");
  EXPECT_EQ(errorIn("add.s32 %r1, %r2;"), "line 4: 'add.s32 %r1, %r2': it has 2 operands");
  EXPECT_EQ(errorIn("add.s64 %d1, %d2, %r1;"),
            "line 4: 'add.s64 %d1, %d2, %r1': an operand of type '.s64' is in a register of type '.b32'");
  EXPECT_EQ(errorIn("add.s32 %r1, %r9, 1;"),
            "line 4: 'add.s32 %r1, %r9, 1': '%r9' is no register of the function, and no special register that the "
            "simulator knows");
  EXPECT_EQ(errorIn("bra $nowhere;"), "line 4: 'bra $nowhere': there is no label '$nowhere'");
  EXPECT_EQ(errorIn("setp.lt.b32 %p0, %r1, %r2;"), "line 4: 'setp.lt.b32 %p0, %r1, %r2': bits are equal or not");
  EXPECT_EQ(errorIn("cvt.s32.f32 %r1, %f1;"), "line 4: 'cvt.s32.f32 %r1, %f1': a rounding is expected");
  EXPECT_EQ(errorIn("fma.f32 %f1, %f1, %f1, %f1;"), "line 4: 'fma.f32 %f1, %f1, %f1, %f1': a rounding is expected");
  EXPECT_EQ(errorIn("shfl.bfly.b32 %r1, %r2, 1, 31;").substr(0, 7), "line 4:");
  EXPECT_EQ(errorIn("@%r1 bra x;"), "line 4: a predicate is expected after '@', at 'bra'");
  EXPECT_EQ(errorIn("mov.u32 %r1, 99999999999999999999;"), "line 4: '99999999999999999999' is no number");
  EXPECT_EQ(errorIn("mov.u32 %r1, \x01;"), "line 4: the byte 0x01 is no text of PTX");
  EXPECT_EQ(errorIn("call.uni missing, ();"),
            "line 4: 'call.uni missing, ()': there is no function 'missing' with a body");
  EXPECT_EQ(errorIn("mov.u32 %r1, 1/0;"), "line 4: a constant is divided by zero, at ';'");
  EXPECT_EQ(errorOf(".entry k() { .reg .b32 %r<70000>; }"), "line 2: there are too many registers, at ';'");
  EXPECT_EQ(errorOf(".entry k() { .shared .b8 s[9999999999]; }"), "line 2: a variable is too large, at ';'");
  EXPECT_EQ(errorOf(".entry k() {} .entry k() {}"), "line 2: function 'k' is there already");
  EXPECT_EQ(errorOf(std::string(".entry k() {") + std::string(500, '{')),
            "line 2: braces are nested too deeply, at '{'");
  EXPECT_EQ(errorIn("mov.u32 %r1, " + std::string(5000, '(') + "1;"),
            "line 4: a constant is nested too deeply, at '('");
}

std::string readFile(const char *path) {
  Result<Ref<FileContents>> file = FileContents::open(path);
  EXPECT_TRUE(file.ok()) << path;
  return file.ok() ? std::string(reinterpret_cast<const char *>((*file)->bytes().data()), (*file)->bytes().size()) : "";
}

// Bytes changed, dropped and doubled; lines exchanged; cut off: an error or a module, and kernels that end.
TEST(PtxParser, damagedTextDoesNoHarm) {
  const std::string whole = readFile(KILN_TEST_PTX);
  ASSERT_EQ(KernelRun(whole).loadError(), "");
  Random random(1);
  const std::string marks = "{}[]()<>,;:.@!|+-*/_%$0f\"\n ";
  int refused = 0;
  constexpr int kTries = 3000;
  for (int i = 0; i < kTries; ++i) {
    std::string text = whole;
    for (size_t changes = 1 + random.below(3); changes > 0 && text.size() > 20; --changes) {
      const size_t place = random.below(text.size()), length = 1 + random.below(12);
      switch (random.below(5)) {
      case 0: text[place] = char(random.bits()); break;
      case 1: text.erase(place, length); break;
      case 2: text.insert(place, text.substr(random.below(text.size()), length)); break;
      case 3: text[place] = marks[random.below(marks.size())]; break;
      case 4: text.resize(place + 1); break;
      }
    }
    KernelRun damaged(text);
    refused += !damaged.loadError().empty();
  }
  EXPECT_GT(refused, kTries / 2);
  EXPECT_LT(refused, kTries);
}

} // namespace
} // namespace kiln::cudasim
