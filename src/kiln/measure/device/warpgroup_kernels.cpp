// Products by four warps, and by one in f64, as peak_kernels.cpp has those that older GPUs know: nothing but
// arithmetic, with sums that count it. Instructions of sm_90a alone.
#include "kiln/measure/device/kernel_parts.h"

using namespace kiln::measure;

namespace {

// 64 rows of A and 256 of B, of 128 bytes each along k, swizzled. The block's two groups of warps read both.
constexpr int32_t kWords = (64 + 256) * 32;
alignas(1024) KILN_SHARED uint32_t tiles[kWords];

// Rows of 128 bytes that follow each other, in groups of 8.
uint64_t descriptorOf(uint32_t address) {
  return uint64_t(address >> 4) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

void fillTiles(const uint32_t *operands) {
  for (int32_t i = int32_t(threadIndex()); i < kWords; i += kPeakThreads)
    tiles[i] = numberOf(operands, uint64_t(i));
  // Written by threads, read by the tensor cores.
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __nvvm_bar_sync(0);
}

} // namespace

#define KILN_TEN(T)                                                                                                    \
  "s" #T "0, s" #T "1, s" #T "2, s" #T "3, s" #T "4, s" #T "5, s" #T "6, s" #T "7, s" #T "8, s" #T "9, "
#define KILN_SUMS                                                                                                      \
  KILN_TEN()                                                                                                           \
  KILN_TEN(1)                                                                                                          \
  KILN_TEN(2)                                                                                                          \
  KILN_TEN(3)                                                                                                          \
  KILN_TEN(4)                                                                                                          \
  KILN_TEN(5)                                                                                                          \
  KILN_TEN(6)                                                                                                          \
  KILN_TEN(7)                                                                                                          \
  KILN_TEN(8)                                                                                                          \
  KILN_TEN(9)                                                                                                          \
  KILN_TEN(10) KILN_TEN(11) "s120, s121, s122, s123, s124, s125, s126, s127"

#define KILN_ADD_TEN(ADD, T)                                                                                           \
  ADD " s0, s0, s" #T "0;\n" ADD " s0, s0, s" #T "1;\n" ADD " s0, s0, s" #T "2;\n" ADD " s0, s0, s" #T "3;\n" ADD      \
      " s0, s0, s" #T "4;\n" ADD " s0, s0, s" #T "5;\n" ADD " s0, s0, s" #T "6;\n" ADD " s0, s0, s" #T "7;\n" ADD      \
      " s0, s0, s" #T "8;\n" ADD " s0, s0, s" #T "9;\n"
#define KILN_ADD_ALL(ADD)                                                                                              \
  ADD " s0, s0, s1;\n" ADD " s0, s0, s2;\n" ADD " s0, s0, s3;\n" ADD " s0, s0, s4;\n" ADD " s0, s0, s5;\n" ADD         \
      " s0, s0, s6;\n" ADD " s0, s0, s7;\n" ADD " s0, s0, s8;\n" ADD " s0, s0, s9;\n" KILN_ADD_TEN(ADD, 1)             \
          KILN_ADD_TEN(ADD, 2) KILN_ADD_TEN(ADD, 3) KILN_ADD_TEN(ADD, 4) KILN_ADD_TEN(ADD, 5) KILN_ADD_TEN(ADD, 6)     \
              KILN_ADD_TEN(ADD, 7) KILN_ADD_TEN(ADD, 8) KILN_ADD_TEN(ADD, 9) KILN_ADD_TEN(ADD, 10)                     \
                  KILN_ADD_TEN(ADD, 11) ADD " s0, s0, s120;\n" ADD " s0, s0, s121;\n" ADD " s0, s0, s122;\n" ADD       \
                                            " s0, s0, s123;\n" ADD " s0, s0, s124;\n" ADD " s0, s0, s125;\n" ADD       \
                                            " s0, s0, s126;\n" ADD " s0, s0, s127;\n"

#define KILN_PRODUCT(TYPES, STEP, REST)                                                                                \
  "wgmma.mma_async.sync.aligned." TYPES " {" KILN_SUMS "}, a" #STEP ", b" #STEP ", adds" REST ";\n"
#define KILN_ADDS "setp.eq.u32 adds, left, left;\n"
#define KILN_FOUR_PRODUCTS(TYPES, REST)                                                                                \
  KILN_PRODUCT(TYPES, 0, REST)                                                                                         \
  KILN_ADDS KILN_PRODUCT(TYPES, 1, REST) KILN_PRODUCT(TYPES, 2, REST) KILN_PRODUCT(TYPES, 3, REST)

// All in one statement: between statements a compiler may move sums to other registers, which waits for the products.
// The other group of warps multiplies while one waits. The first product overwrites what the sums are.
#define KILN_WARPGROUP(NAME, TYPES, REST, KIND, ADD, CONVERT)                                                          \
  KILN_KERNEL NAME(const PeakTask *task, const uint32_t *operands, float *results, KILN_OTHER_PARAMETERS) {            \
    fillTiles(operands);                                                                                               \
    const auto a = uint32_t(uintptr_t(tiles)), b = a + 64 * 128;                                                       \
    float all;                                                                                                         \
    asm volatile(                                                                                                      \
        "{\n.reg ." KIND " s<128>;\n.reg .pred adds, more;\n.reg .b32 left;\n.reg .b64 a0, a1, a2, a3, b0, "           \
        "b1, b2, b3;\n"                                                                                                \
        "mov.b32 left, %1;\nmov.b64 a0, %2;\nadd.u64 a1, a0, 2;\nadd.u64 a2, a0, 4;\nadd.u64 a3, a0, 6;\n"             \
        "mov.b64 b0, %3;\nadd.u64 b1, b0, 2;\nadd.u64 b2, b0, 4;\nadd.u64 b3, b0, 6;\n"                                \
        "setp.ne.u32 adds, left, left;\n"                                                                              \
        "AGAIN:\n"                                                                                                     \
        "wgmma.fence.sync.aligned;\n" KILN_FOUR_PRODUCTS(TYPES, REST) KILN_FOUR_PRODUCTS(                              \
            TYPES, REST) "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"                        \
                         "sub.u32 left, left, 1;\nsetp.ne.u32 more, left, 0;\n@more bra AGAIN;\n" KILN_ADD_ALL(ADD)    \
                             CONVERT " %0, s0;\n}"                                                                     \
        : "=f"(all)                                                                                                    \
        : "r"(uint32_t(task->rounds)), "l"(descriptorOf(a)), "l"(descriptorOf(b))                                      \
        : "memory");                                                                                                   \
    results[threadOfAll()] = all;                                                                                      \
  }

KILN_WARPGROUP(wgmma_f16, "m64n256k16.f32.f16.f16", ", 1, 1, 0, 0", "f32", "add.f32", "mov.f32")
KILN_WARPGROUP(wgmma_bf16, "m64n256k16.f32.bf16.bf16", ", 1, 1, 0, 0", "f32", "add.f32", "mov.f32")
KILN_WARPGROUP(wgmma_tf32, "m64n256k8.f32.tf32.tf32", ", 1, 1", "f32", "add.f32", "mov.f32")
KILN_WARPGROUP(wgmma_i8, "m64n256k32.s32.s8.s8", "", "b32", "add.s32", "cvt.rn.f32.s32")

// Of one warp: older GPUs have a smaller shape.
KILN_KERNEL mma_f64_wide(const PeakTask *task, const double *operands, float *results, KILN_OTHER_PARAMETERS) {
  constexpr int kSums = 4, kSteps = 4;
  double a[8], b[4];
  for (int i = 0; i < 8; ++i)
    a[i] = numberOf(operands, 16 * threadIndex() + i);
  for (int i = 0; i < 4; ++i)
    b[i] = numberOf(operands, 16 * threadIndex() + 8 + i);
  double sums[kSums][4];
#pragma unroll
  for (int i = 0; i < kSums * 4; ++i)
    sums[i / 4][i % 4] = operands[i];
  for (uint64_t round = task->rounds; round > 0; --round) {
#pragma unroll
    for (int i = 0; i < kSums * kSteps; ++i) {
      double (&d)[4] = sums[i % kSums];
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
                   "%11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
                   : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                   : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
                     "d"(b[1]), "d"(b[2]), "d"(b[3]));
    }
  }
  double all = 0;
#pragma unroll
  for (int i = 0; i < kSums * 4; ++i)
    all += sums[i / 4][i % 4];
  results[threadOfAll()] = float(all);
}
