// Loops that do nothing but arithmetic, or move data, on a GPU: clang compiles this to PTX when Kiln is built, and
// Kiln's own compiler has no part in it. Each thread leaves the sum of what it has: of operands that are all one, and
// sums that start at zero, that is how often it has multiplied and added, or how many words it has read.
#include "kiln/measure/device/kernel_parts.h"

using namespace kiln::measure;

namespace {

KILN_SHARED uint32_t words[kSharedBytes / 4];

struct Vector {
  uint32_t x, y, z, w;
  uint32_t sum() const { return x + y + z + w; }
};

// From the L2 cache, or from memory: what L1 holds is not asked.
Vector loadPastL1(const KILN_GLOBAL Vector *place) {
  Vector v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(place));
  return v;
}

// 16 chains are more than an instruction's latency, with two warps on each scheduler.
template <typename T> void chains(const PeakTask *task, const T *operands, float *results) {
  constexpr int kChains = 16, kSteps = 8;
  const T factor = numberOf(operands, 2 * threadIndex()), term = numberOf(operands, 2 * threadIndex() + 1);
  T sums[kChains];
#pragma unroll
  for (int i = 0; i < kChains; ++i)
    sums[i] = operands[i];
  for (uint64_t round = task->rounds; round > 0; --round) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
#pragma unroll
      for (T &sum : sums)
        sum = __builtin_elementwise_fma(sum, factor, term);
  }
  T all = 0;
#pragma unroll
  for (T sum : sums)
    all += sum;
  results[threadOfAll()] = float(all);
}

} // namespace

KILN_KERNEL chains_f32(const PeakTask *task, const float *operands, float *results, KILN_OTHER_PARAMETERS) {
  chains(task, operands, results);
}

KILN_KERNEL chains_f64(const PeakTask *task, const double *operands, float *results, KILN_OTHER_PARAMETERS) {
  chains(task, operands, results);
}

// Products of a warp, eight after each other that do not wait for each other. A has four registers of 32 bits, B two.
#define KILN_MMA(NAME, TYPES, SUM, CONSTRAINT)                                                                         \
  KILN_KERNEL NAME(const PeakTask *task, const uint32_t *operands, float *results, KILN_OTHER_PARAMETERS) {            \
    constexpr int kSums = 8, kSteps = 4;                                                                               \
    uint32_t a[4], b[2];                                                                                               \
    for (int i = 0; i < 4; ++i)                                                                                        \
      a[i] = numberOf(operands, 8 * threadIndex() + i);                                                                \
    for (int i = 0; i < 2; ++i)                                                                                        \
      b[i] = numberOf(operands, 8 * threadIndex() + 4 + i);                                                            \
    SUM sums[kSums][4];                                                                                                \
    _Pragma("unroll") for (int i = 0; i < kSums * 4; ++i) sums[i / 4][i % 4] =                                         \
        reinterpret_cast<const SUM *>(operands)[i];                                                                    \
    for (uint64_t round = task->rounds; round > 0; --round) {                                                          \
      _Pragma("unroll") for (int i = 0; i < kSums * kSteps; ++i) {                                                     \
        SUM(&d)[4] = sums[i % kSums];                                                                                  \
        asm volatile("mma.sync.aligned." TYPES " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"      \
                     : CONSTRAINT(d[0]), CONSTRAINT(d[1]), CONSTRAINT(d[2]), CONSTRAINT(d[3])                          \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                              \
      }                                                                                                                \
    }                                                                                                                  \
    SUM all = 0;                                                                                                       \
    _Pragma("unroll") for (int i = 0; i < kSums * 4; ++i) all += sums[i / 4][i % 4];                                   \
    results[threadOfAll()] = float(all);                                                                               \
  }

KILN_MMA(mma_f16, "m16n8k16.row.col.f32.f16.f16.f32", float, "+f")
KILN_MMA(mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "+f")
KILN_MMA(mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "+f")
KILN_MMA(mma_i8, "m16n8k32.row.col.s32.s8.s8.s32", int32_t, "+r")

// Sums in f16, two in a register: some GPUs have twice the speed.
KILN_KERNEL mma_f16_f16(const PeakTask *task, const uint32_t *operands, float *results, KILN_OTHER_PARAMETERS) {
  constexpr int kSums = 8, kSteps = 4;
  uint32_t a[4], b[2];
  for (int i = 0; i < 4; ++i)
    a[i] = numberOf(operands, 8 * threadIndex() + i);
  for (int i = 0; i < 2; ++i)
    b[i] = numberOf(operands, 8 * threadIndex() + 4 + i);
  uint32_t sums[kSums][2];
#pragma unroll
  for (int i = 0; i < kSums * 2; ++i)
    sums[i / 2][i % 2] = operands[i];
  for (uint64_t round = task->rounds; round > 0; --round) {
#pragma unroll
    for (int i = 0; i < kSums * kSteps; ++i) {
      uint32_t (&d)[2] = sums[i % kSums];
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                   : "+r"(d[0]), "+r"(d[1])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
  }
  float all = 0;
#pragma unroll
  for (int i = 0; i < kSums * 2; ++i)
    for (int half = 0; half < 2; ++half)
      all += float(__builtin_bit_cast(_Float16, uint16_t(sums[i / 2][i % 2] >> (16 * half))));
  results[threadOfAll()] = all;
}

KILN_KERNEL mma_f64(const PeakTask *task, const double *operands, float *results, KILN_OTHER_PARAMETERS) {
  constexpr int kSums = 8, kSteps = 4;
  const double a = numberOf(operands, 2 * threadIndex()), b = numberOf(operands, 2 * threadIndex() + 1);
  double sums[kSums][2];
#pragma unroll
  for (int i = 0; i < kSums * 2; ++i)
    sums[i / 2][i % 2] = operands[i];
  for (uint64_t round = task->rounds; round > 0; --round) {
#pragma unroll
    for (int i = 0; i < kSums * kSteps; ++i)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(sums[i % kSums][0]), "+d"(sums[i % kSums][1])
                   : "d"(a), "d"(b));
  }
  double all = 0;
#pragma unroll
  for (int i = 0; i < kSums * 2; ++i)
    all += sums[i / 2][i % 2];
  results[threadOfAll()] = float(all);
}

// All of the device reads all vectors in each round.
KILN_KERNEL read_global(const PeakTask *task, const Vector *source, float *results, KILN_OTHER_PARAMETERS) {
  const auto *first = (const KILN_GLOBAL Vector *)source;
  const uint64_t step = threadCount(), vectors = task->vectors;
  uint32_t all = 0;
  for (uint64_t round = task->rounds; round > 0; --round)
    for (uint64_t at = threadOfAll(); at < vectors; at += kLoadsInFlight * step) {
      Vector loaded[kLoadsInFlight];
#pragma unroll
      for (int i = 0; i < kLoadsInFlight; ++i)
        loaded[i] = loadPastL1(first + at + i * step);
#pragma unroll
      for (const Vector &vector : loaded)
        all += vector.sum();
    }
  results[threadOfAll()] = float(all);
}

// The second half of the buffer becomes the first one.
KILN_KERNEL copy_global(const PeakTask *task, Vector *buffer, float *results, KILN_OTHER_PARAMETERS) {
  const auto *first = (const KILN_GLOBAL Vector *)buffer;
  const uint64_t step = threadCount(), vectors = task->vectors;
  for (uint64_t round = task->rounds; round > 0; --round)
    for (uint64_t at = threadOfAll(); at < vectors; at += kLoadsInFlight * step) {
      Vector loaded[kLoadsInFlight];
#pragma unroll
      for (int i = 0; i < kLoadsInFlight; ++i)
        loaded[i] = loadPastL1(first + at + i * step);
#pragma unroll
      for (int i = 0; i < kLoadsInFlight; ++i)
        asm volatile("st.global.v4.u32 [%4], {%0, %1, %2, %3};"
                     :
                     : "r"(loaded[i].x), "r"(loaded[i].y), "r"(loaded[i].z), "r"(loaded[i].w),
                       "l"((KILN_GLOBAL Vector *)buffer + vectors + at + i * step)
                     : "memory");
    }
  results[threadOfAll()] = float(task->rounds);
}

KILN_KERNEL read_shared(const PeakTask *task, const uint32_t *source, float *results, KILN_OTHER_PARAMETERS) {
  for (uint64_t i = threadIndex(); i < kSharedBytes / 4; i += kPeakThreads)
    words[i] = numberOf(source, i);
  __nvvm_bar_sync(0);
  const auto place = uint32_t(uintptr_t(words) + threadIndex() * sizeof(Vector));
  uint32_t all = 0;
  for (uint64_t round = task->rounds; round > 0; --round) {
    Vector loaded[kSharedBytes / sizeof(Vector) / kPeakThreads];
#pragma unroll
    for (int i = 0; Vector &v : loaded)
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                   : "r"(place + uint32_t(i++ * kPeakThreads * sizeof(Vector))));
#pragma unroll
    for (const Vector &vector : loaded)
      all += vector.sum();
  }
  results[threadOfAll()] = float(all);
}

// Of `rounds` 0 each word is one; else numbers that follow from it.
KILN_KERNEL fill_global(const PeakTask *task, Vector *buffer, float *results, KILN_OTHER_PARAMETERS) {
  for (uint64_t at = threadOfAll(); at < task->vectors; at += threadCount()) {
    uint64_t bits = (at + 1) * task->rounds * 0x9E3779B97F4A7C15;
    bits ^= bits >> 29;
    const uint64_t more = bits * 0xBF58476D1CE4E5B9;
    buffer[at] = task->rounds == 0 ? Vector{1, 1, 1, 1}
                                   : Vector{uint32_t(bits), uint32_t(bits >> 32), uint32_t(more), uint32_t(more >> 32)};
  }
  results[threadOfAll()] = 1;
}

KILN_KERNEL nothing(const PeakTask *, const uint32_t *, float *, KILN_OTHER_PARAMETERS) {}
