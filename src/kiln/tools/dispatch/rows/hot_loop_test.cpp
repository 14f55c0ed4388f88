#include "kiln/tools/dispatch/rows/hot_loop.h"
#include "kiln/tools/dispatch/rows/mca.h"
#include "kiln/tools/dispatch/rows/recompile.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr const char *kX86 = "x86_64-unknown-linux-gnu";

// An outer loop with two inner ones, of which the second does more; a function that is another's; a tail.
constexpr const char *kAssembly = R"(	.text
	.globl	mm_dispatch_0
mm_dispatch_0:                          # @mm_dispatch_0
	xorl	%eax, %eax
.LBB0_1:                                # =>This Loop Header: Depth=1
	movq	%rdi, %rcx
.LBB0_2:                                #   Parent Loop BB0_1 Depth=1
	vmovups	(%rcx), %zmm1
	vfmadd231ps	(%rsi,%rcx){1to16}, %zmm1, %zmm2 # zmm2 = (zmm1 * mem) + zmm2
	addq	$64, %rcx
	jne	.LBB0_2
# %bb.3:
	.p2align	4
.LBB0_4:
	vfmadd231ps	%zmm0, %zmm1, %zmm3
	vfmadd231ps	%zmm0, %zmm1, %zmm4 {%k1}
	vfmadd231ss	%xmm0, %xmm1, %xmm5
	addq	$8, %rdi
	jne	.LBB0_4
	incq	%rax
	jb	.LBB0_1
	retq
.Lfunc_end0:
	.size	mm_dispatch_0, .Lfunc_end0-mm_dispatch_0
other:
.LBB1_1:
	vfmadd231ps	%zmm0, %zmm1, %zmm3
	vfmadd231ps	%zmm0, %zmm1, %zmm4
	vfmadd231ps	%zmm0, %zmm1, %zmm5
	jne	.LBB1_1
	retq
)";

double flops(std::string_view instruction, bool expectFused) {
  bool fused = false;
  double result = flopsOf(instruction, 128, fused);
  EXPECT_EQ(fused, expectFused) << instruction;
  return result;
}

TEST(HotLoop, IsTheInnermostOneWithTheMostArithmetic) {
  Result<HotLoop> loop = findHotLoop(kAssembly, "mm_", kX86, 512);
  ASSERT_TRUE(loop.ok()) << loop.status().toString();
  EXPECT_EQ(loop->function, "mm_dispatch_0");
  EXPECT_EQ(loop->label, ".LBB0_4");
  EXPECT_EQ(loop->instructions, 5U);
  EXPECT_EQ(loop->multiplyAdds, 3U);
  EXPECT_EQ(loop->flops, 32 + 32 + 2);
  EXPECT_EQ(loop->peakInstruction, "vfmadd231ps\t%zmm0, %zmm1, %zmm2");
  EXPECT_EQ(loop->peakFlops, 32);
  EXPECT_EQ(loop->lines.front(), ".LBB0_4:");
  EXPECT_EQ(loop->lines[1], "vfmadd231ps\t%zmm0, %zmm1, %zmm3");
}

TEST(HotLoop, OfOtherFunctionsIsNotLookedAt) {
  Result<HotLoop> loop = findHotLoop(kAssembly, "other", kX86, 512);
  ASSERT_TRUE(loop.ok());
  EXPECT_EQ(loop->label, ".LBB1_1");
  EXPECT_EQ(findHotLoop(kAssembly, "nobody", kX86, 512).status().code(), StatusCode::NotFound);
  EXPECT_EQ(findHotLoop("", "", kX86, 512).status().code(), StatusCode::NotFound);
}

TEST(HotLoop, IsAllOfAKernelThatIsUnrolled) {
  Result<HotLoop> loop =
      findHotLoop("f:\n\tvmulps\t%ymm0, %ymm1, %ymm2\n\tvaddps\t%ymm0, %ymm1, %ymm2\n\tretq\n", "f", kX86, 256);
  ASSERT_TRUE(loop.ok());
  EXPECT_EQ(loop->label, "");
  EXPECT_EQ(loop->instructions, 3U);
  EXPECT_EQ(loop->flops, 16);
  EXPECT_EQ(loop->multiplyAdds, 0U);
  EXPECT_EQ(loop->peakInstruction, "");
}

// Rows that are left over: the same loop of one row, unrolled four times.
TEST(HotLoop, IsNotTheUnrolledRemainder) {
  std::string assembly = "f:\n.LBB0_1:\n";
  for (int row = 0; row < 3; ++row)
    assembly += fmt::format("\tvfmadd231ps\t(%rax){{1to16}}, %zmm0, %zmm{}\n", row + 1);
  assembly += "\tjne\t.LBB0_1\n.LBB0_2:\n";
  for (int step = 0; step < 4; ++step)
    assembly += fmt::format("\tvfmadd231ps\t{}(%rax){{1to16}}, %zmm0, %zmm1 {{%k1}}\n", 4 * step);
  assembly += "\tjne\t.LBB0_2\n\tretq\n";
  Result<HotLoop> loop = findHotLoop(assembly, "f", kX86, 512);
  ASSERT_TRUE(loop.ok());
  EXPECT_EQ(loop->label, ".LBB0_1");
  EXPECT_EQ(loop->multiplyAdds, 3U);
  EXPECT_EQ(loop->tileFlops, 96);
}

// A loop that only copies is not what an unrolled kernel is about.
TEST(HotLoop, IsNotALoopThatComputesNothing) {
  Result<HotLoop> loop = findHotLoop("f:\n.LBB0_1:\n\tmovq\t%rax, %rcx\n\tjne\t.LBB0_1\n"
                                     "\tvfmadd231pd\t%ymm0, %ymm1, %ymm2\n\tretq\n",
                                     "f", kX86, 256);
  ASSERT_TRUE(loop.ok());
  EXPECT_EQ(loop->label, "");
  EXPECT_EQ(loop->multiplyAdds, 1U);
}

TEST(HotLoop, CountsWhatInstructionsDo) {
  EXPECT_EQ(flops("vfmadd231pd\t(%rax), %ymm1, %ymm2", true), 8);
  EXPECT_EQ(flops("vfnmadd213sd\t%xmm0, %xmm1, %xmm2", true), 2);
  EXPECT_EQ(flops("vfmadd231ph\t%zmm0, %zmm1, %zmm2", true), 64);
  EXPECT_EQ(flops("vdpbf16ps\t%zmm0, %zmm1, %zmm2", true), 64);
  EXPECT_EQ(flops("vpdpbusd\t%zmm0, %zmm1, %zmm2", true), 128);
  EXPECT_EQ(flops("vpmaddwd\t%ymm0, %ymm1, %ymm2", true), 32);
  EXPECT_EQ(flops("vmulps\t%zmm0, %zmm1, %zmm2", false), 16);
  EXPECT_EQ(flops("mulps\t%xmm0, %xmm1", false), 4);
  EXPECT_EQ(flops("vmovups\t%zmm0, (%rax)", false), 0);
  EXPECT_EQ(flops("vmovaps\t%zmm0, %zmm1", false), 0);
  EXPECT_EQ(flops("addq\t$8, %rdi", false), 0);
  EXPECT_EQ(flops("fmla\tv0.4s, v1.4s, v2.s[0]", true), 8);
  EXPECT_EQ(flops("fmla\tz0.s, p0/m, z1.s, z2.s", true), 8);
  EXPECT_EQ(flops("fmadd\ts0, s1, s2, s0", true), 2);
  EXPECT_EQ(flops("bfmmla\tv0.4s, v1.8h, v2.8h", true), 32);
  EXPECT_EQ(flops("sdot\tv0.4s, v1.16b, v2.16b", true), 32);
  EXPECT_EQ(flops("fmul\tv0.2d, v1.2d, v2.2d", false), 2);
  EXPECT_EQ(flops("ldr\tq0, [x0]", false), 0);
}

TEST(HotLoop, OfAarch64KeepsImmediates) {
  Result<HotLoop> loop = findHotLoop("f:\n.LBB0_1:                                // =>This Inner Loop\n"
                                     "\tldr\tq0, [x0], #16\n\tfmla\tv2.4s, v0.4s, v1.s[0]\n\tsubs\tx1, x1, #1\n"
                                     "\tb.ne\t.LBB0_1\n\tret\n",
                                     "f", "aarch64-linux-gnu", 128);
  ASSERT_TRUE(loop.ok());
  EXPECT_EQ(loop->label, ".LBB0_1");
  EXPECT_EQ(loop->lines[1], "ldr\tq0, [x0], #16");
  EXPECT_EQ(loop->flops, 8);
  EXPECT_EQ(loop->peakInstruction, "fmla\tv0.4s, v1.4s, v2.4s");
}

HotLoop loopOf(double flops, double peakFlops) {
  HotLoop loop;
  loop.flops = flops;
  loop.peakFlops = peakFlops;
  return loop;
}

TEST(Mca, SharesOfThePeakFollowFromTheReport) {
  // 64 FLOP in 4 cycles, where one instruction of 32 FLOP can start every cycle: half of the peak.
  constexpr const char *kReport = R"({"CodeRegions":[
    {"Name":"loop","Instructions":["vfmadd231ps\t%zmm0, %zmm1, %zmm2","jne\t.L"],
     "InstructionInfoView":{"InstructionList":[{"Instruction":0,"Latency":4,"RThroughput":1},
                                               {"Instruction":1,"Latency":1,"RThroughput":0.5},
                                               {"Instruction":7,"Latency":1,"RThroughput":0.5}]},
     "BottleneckAnalysis":{"TotalCycles":2000,"RegisterDependencyCycles":1500,"ResourcePressureCycles":10,
                           "MemoryDependencyCycles":0,"ResourcePressure":[{"FP0":10}]},
     "SummaryView":{"Iterations":500,"TotalCycles":2000,"BlockRThroughput":2,"DispatchWidth":6,"uOpsPerCycle":1.5}},
    {"Name":"peak","SummaryView":{"Iterations":500,"TotalCycles":2003,"BlockRThroughput":1}}]})";
  Result<McaReport> report = parseMca(kReport, loopOf(64, 32));
  ASSERT_TRUE(report.ok()) << report.status().toString();
  EXPECT_EQ(report->cycles, 4);
  EXPECT_EQ(report->blockThroughput, 2);
  ASSERT_TRUE(report->peakPercent);
  EXPECT_DOUBLE_EQ(*report->peakPercent, 50);
  EXPECT_EQ(report->bottleneck, "one result waits for another, in 75 % of cycles");
  ASSERT_EQ(report->instructions.size(), 2U);
  EXPECT_EQ(report->instructions[0].latency, 4);
}

TEST(Mca, WhatIsNoReportIsAnError) {
  for (const char *text :
       {"", "[]", "{\"CodeRegions\":3}", "{\"CodeRegions\":[{\"Name\":\"loop\"}]}", "{\"CodeRegions\":[{\"Name\":5}]}"})
    EXPECT_EQ(parseMca(text, loopOf(1, 1)).status().code(), StatusCode::DataLoss) << text;
}

TEST(RecordedFlags, ComeBackAsTheyWere) {
  std::vector<std::string> flags = {"--a=b", "--with=two words", "--c"};
  EXPECT_EQ(splitFlags(recordedFlags("", flags)), flags);
  std::vector<std::string> words = splitFlags(recordedFlags("/opt/kiln-compile", flags));
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words.front(), "/opt/kiln-compile");
  EXPECT_TRUE(splitFlags("").empty());
}

} // namespace
} // namespace kiln
