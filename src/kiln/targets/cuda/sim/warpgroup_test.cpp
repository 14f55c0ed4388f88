// wgmma over tensors that the async proxy has brought, as kernels for sm_90a use them.
#include "kiln/base/random.h"
#include "kiln/targets/cuda/sim/kernel_run.h"
#include "kiln/targets/cuda/sim/tensor_map.h"
#include "kiln/targets/cuda/sim/values.h"

#include "gtest/gtest.h"

namespace kiln::cudasim {
namespace {

struct Case {
  bool transposesB = false; // b is stored as k rows of n
  bool aInRegisters = false;
  std::string fence = "wgmma.fence.sync.aligned;";
  std::string wait = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";
};

constexpr int kM = 64, kN = 64, kK = 64;

// d = a * b of 64 x 64 x 64 in f16, accumulated in f32, both operands in rows of 128 bytes that are swizzled.
std::string run(const Case &test, std::vector<float> &d, std::vector<int> &expected, uint64_t seed = 0) {
  std::string accumulators, zeros, stores;
  for (int i = 0; i < kN / 2; ++i) {
    accumulators += (i ? ", %f" : "%f") + std::to_string(i);
    zeros += "mov.f32 %f" + std::to_string(i) + ", 0f00000000;\n";
    const int row = i % 4 / 2 * 8, column = i / 4 * 8 + i % 2;
    stores += "st.global.f32 [%o+" + std::to_string((row * kN + column) * 4) + "], %f" + std::to_string(i) + ";\n";
  }
  std::string products;
  for (int step = 0; step < kK / 16; ++step) {
    std::string a = "%a";
    if (test.aInRegisters) {
      // As in mma.sync: rows lane / 4 and eight below, columns 2 * (lane % 4) and eight further; swizzled in memory.
      for (int i = 0; i < 4; ++i)
        products +=
            "add.u32 %x, %row, " + std::to_string(i % 2 * 8 * 128) + "; add.u32 %y, %column, " +
            std::to_string(step * 32 + i / 2 * 16) +
            "; add.u32 %x, %x, %y; shr.u32 %y, %x, 3; and.b32 %y, %y, 112; xor.b32 %x, %x, %y; ld.shared.b32 %r" +
            std::to_string(step * 4 + i) + ", [%x];\n";
      a = "{";
      for (int i = 0; i < 4; ++i)
        a += (i ? ", %r" : "%r") + std::to_string(step * 4 + i);
      a += "}";
    }
    if (step == 0 || test.aInRegisters) // which the thread has just read
      products += test.fence;
    const std::string transposes = test.aInRegisters ? std::string(test.transposesB ? ", 1" : ", 0")
                                                     : std::string(test.transposesB ? ", 0, 1" : ", 0, 0");
    products += "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" + accumulators + "}, " + a + ", %b, 1, 1, 1" +
                transposes + ";\nadd.u64 %a, %a, 2; add.u64 %b, %b, " + (test.transposesB ? "128" : "2") + ";\n";
  }
  KernelRun kernel(
      R"(.visible .entry k(.param .u64 out, .param .align 64 .b8 mapA[128], .param .align 64 .b8 mapB[128]) {
  .reg .b64 %out, %o, %a, %b, %state, %mapA, %mapB; .reg .b32 %t, %x, %y, %row, %column, %r<16>; .reg .f32 %f<32>; .reg .pred %p, %w;
  .shared .align 1024 .b8 dataA[8192]; .shared .align 1024 .b8 dataB[8192]; .shared .align 8 .b64 barrier;
  mov.b64 %mapA, mapA; cvta.param.u64 %mapA, %mapA; mov.b64 %mapB, mapB; cvta.param.u64 %mapB, %mapB;
  mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0; mov.u32 %x, 0;
  @%p mbarrier.init.shared.b64 [barrier], 1; fence.mbarrier_init.release.cluster; bar.sync 0;
  @%p mbarrier.arrive.expect_tx.shared.b64 %state, [barrier], 16384;
  @%p cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [dataA], [%mapA, {%x, %x}], [barrier];
  @%p cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [dataB], [%mapB, {%x, %x}], [barrier];
again: mbarrier.try_wait.parity.shared.b64 %w, [barrier], 0; @!%w bra again;
  mov.u64 %a, dataA; shr.u64 %a, %a, 4; or.b64 %a, %a, 0x4000004000000000;
  mov.u64 %b, dataB; shr.u64 %b, %b, 4; or.b64 %b, %b, 0x4000004000000000;
  shr.u32 %row, %t, 5; shl.b32 %row, %row, 11; bfe.u32 %x, %t, 2, 3; shl.b32 %x, %x, 7; add.u32 %row, %row, %x;
  mov.u32 %x, dataA; add.u32 %row, %row, %x; and.b32 %column, %t, 3; shl.b32 %column, %column, 2;
)" + zeros +
      products + test.wait + R"(
  ld.param.u64 %out, [out]; shr.u32 %x, %t, 5; shl.b32 %x, %x, 4; bfe.u32 %y, %t, 2, 3; add.u32 %x, %x, %y;
  mul.lo.u32 %x, %x, 256; and.b32 %y, %t, 3; shl.b32 %y, %y, 3; add.u32 %x, %x, %y; cvt.u64.u32 %o, %x;
  add.u64 %o, %o, %out;
)" + stores +
      "ret; }");
  EXPECT_EQ(kernel.loadError(), "");
  Random random(seed + 1);
  std::vector<int> a(kM * kK), b(kK * kN); // b by k and n
  for (int &value : a)
    value = int(random.below(9)) - 4;
  for (int &value : b)
    value = int(random.below(9)) - 4;
  std::vector<uint16_t> storedA, storedB;
  for (int value : a)
    storedA.push_back(uint16_t(encode(value, kHalf)));
  for (int i = 0; i < kK * kN; ++i)
    storedB.push_back(uint16_t(encode(test.transposesB ? b[size_t(i)] : b[size_t(i % kK * kN + i / kK)], kHalf)));
  expected.assign(kM * kN, 0);
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n)
      for (int k = 0; k < kK; ++k)
        expected[size_t(m * kN + n)] += a[size_t(m * kK + k)] * b[size_t(k * kN + n)];
  const uint64_t out = kernel.allocate(std::vector<float>(kM * kN));
  std::vector<uint64_t> params(8 + 16 + 16);
  params[0] = out;
  const uint64_t extents[] = {64, 64}, strides[] = {128};
  const uint32_t box[] = {64, 64}, ones[] = {1, 1};
  for (int i = 0; i < 2; ++i) {
    TensorMap map;
    EXPECT_EQ(encodeTiled(map, 6, 2, kernel.allocate(i ? storedB : storedA), extents, strides, box, ones, 0, 3, false),
              "");
    std::memcpy(params.data() + 8 + 16 * i, &map, sizeof(map));
  }
  std::string text = kernel.run({1, 1, 1}, {128, 1, 1}, params, seed);
  d = kernel.read<float>(out, kM * kN);
  return text;
}

TEST(Warpgroups, products) {
  for (bool transposesB : {false, true})
    for (bool aInRegisters : {false, true})
      for (uint64_t seed = 0; seed < 2; ++seed) {
        Case test;
        test.transposesB = transposesB;
        test.aInRegisters = aInRegisters;
        std::vector<float> d;
        std::vector<int> expected;
        EXPECT_EQ(run(test, d, expected, seed), "");
        int wrong = 0;
        for (size_t i = 0; i < d.size(); ++i)
          wrong += d[i] != float(expected[i]);
        EXPECT_EQ(wrong, 0) << transposesB << aInRegisters;
      }
}

TEST(Warpgroups, resultsAreThereOnceTheyAreAwaited) {
  std::vector<float> d;
  std::vector<int> expected;
  Case test;
  test.wait = "wgmma.commit_group.sync.aligned;";
  std::string text = run(test, d, expected);
  EXPECT_NE(text.find("instruction 'st.global.f32 [%o+0], %f0'"), text.npos) << text;
  EXPECT_NE(text.find("touches a register of a wgmma that goes on; no wgmma.wait_group has waited for its end"),
            text.npos)
      << text;
  test.wait = "wgmma.wait_group.sync.aligned 0;"; // nothing was committed
  EXPECT_NE(run(test, d, expected).find("touches a register of a wgmma"), std::string::npos);
  test = {};
  test.fence += " mov.f32 %f3, 0f40490fdb;";
  text = run(test, d, expected);
  EXPECT_NE(text.find("is a wgmma of a register that was written since the last wgmma.fence"), text.npos) << text;
  // All four warps come to the same instructions.
  for (const char *alone : {"setp.lt.u32 %p, %t, 32; @%p wgmma.fence.sync.aligned;",
                            "setp.ge.u32 %p, %t, 96; @%p wgmma.commit_group.sync.aligned;"}) {
    test = {};
    test.fence = alone + test.fence;
    text = run(test, d, expected);
    EXPECT_NE(text.find("is of all four warps of a warpgroup, of which others are at PTX line"), text.npos) << text;
  }
  test = {};
  test.wait += " setp.lt.u32 %p, %t, 32; @%p wgmma.fence.sync.aligned;";
  text = run(test, d, expected);
  EXPECT_NE(text.find("and some of them have ended without it"), text.npos) << text;
  test = {};
  test.fence = "";
  EXPECT_NE(run(test, d, expected).find("is a wgmma before which there is no wgmma.fence"), std::string::npos);
}

} // namespace
} // namespace kiln::cudasim
