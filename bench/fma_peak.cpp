// fma_peak [THREADS [SECONDS]]: the machine's peak of f32 fused multiply-adds in GFLOP/s (an FMA counts as two), with
// THREADS threads at once (1), looked for during SECONDS (0.2). Prints one line: the instruction set that reached it,
// the number of threads, and the rate.
//
// Each thread runs chains of FMAs that do not depend on each other, all in registers: more chains than latency times
// throughput, so that nothing but the FMA units limits. The rate of a window is the work of all threads over the time
// from their common start to the last one's end; the peak is the best of many short windows.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace {

struct InstructionSet {
  const char *name;
  double flopsPerRound;
  float (*kernel)(uint64_t rounds); // the result depends on all of the work
};

// Values converge to 1 / (1 - 0.5): they stay normal numbers however long it runs. The empty asm, which seems to change
// the register, keeps the compiler from merging rounds. The chains are variables of their own, because a compiler that
// meets a loop over an array may keep the array in memory.
// clang-format off
#define FMA_TWELVE(Do, ...)                                                                                            \
  Do(0, __VA_ARGS__) Do(1, __VA_ARGS__) Do(2, __VA_ARGS__) Do(3, __VA_ARGS__) Do(4, __VA_ARGS__) Do(5, __VA_ARGS__)    \
  Do(6, __VA_ARGS__) Do(7, __VA_ARGS__) Do(8, __VA_ARGS__) Do(9, __VA_ARGS__) Do(10, __VA_ARGS__) Do(11, __VA_ARGS__)
#define FMA_TWENTY(Do, ...)                                                                                            \
  FMA_TWELVE(Do, __VA_ARGS__) Do(12, __VA_ARGS__) Do(13, __VA_ARGS__) Do(14, __VA_ARGS__) Do(15, __VA_ARGS__)          \
  Do(16, __VA_ARGS__) Do(17, __VA_ARGS__) Do(18, __VA_ARGS__) Do(19, __VA_ARGS__)
#define FMA_DECLARE(i, Register) Register chain##i = one;
#define FMA_STEP(i, fma, constraint)                                                                                   \
  chain##i = fma(chain##i, half, one);                                                                                 \
  asm("" : constraint(chain##i));
#define FMA_SUM(i, ...) sum += chain##i;
#define FMA_KERNEL(function, Chains, Register, broadcast, fma, constraint)                                             \
  float function(uint64_t rounds) {                                                                                    \
    Register half = broadcast(0.5f), one = broadcast(1.0f), sum = one;                                                 \
    Chains(FMA_DECLARE, Register)                                                                                      \
    for (uint64_t round = 0; round < rounds; ++round) {                                                                \
      Chains(FMA_STEP, fma, constraint)                                                                                \
    }                                                                                                                  \
    Chains(FMA_SUM, )                                                                                                  \
    return sum[0];                                                                                                     \
  }
// clang-format on

#if defined(__x86_64__)
// Latency 4 times 2 units needs 8 chains; 12 and the two constants fit into 16 registers.
__attribute__((target("avx2,fma"))) FMA_KERNEL(fmaAvx2, FMA_TWELVE, __m256, _mm256_set1_ps, _mm256_fmadd_ps, "+x");
__attribute__((target("avx512f"))) FMA_KERNEL(fmaAvx512, FMA_TWELVE, __m512, _mm512_set1_ps, _mm512_fmadd_ps, "+v");
#elif defined(__aarch64__)
// Latency 4 times 4 units needs 16 chains; 20 and the two constants fit into 32 registers.
FMA_KERNEL(fmaNeon, FMA_TWENTY, float32x4_t, vdupq_n_f32, vfmaq_f32, "+w");
#endif

std::vector<InstructionSet> available() {
  std::vector<InstructionSet> sets;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    sets.push_back({"avx2", 2.0 * 8 * 12, fmaAvx2});
  if (__builtin_cpu_supports("avx512f"))
    sets.push_back({"avx512", 2.0 * 16 * 12, fmaAvx512});
#elif defined(__aarch64__)
  sets.push_back({"neon", 2.0 * 4 * 20, fmaNeon});
#endif
  return sets;
}

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The best rate of windows of about 5 ms during `seconds`, in FLOP/s.
double peak(const InstructionSet &set, int threadCount, double seconds) {
  uint64_t rounds = 1024;
  for (double took = 0; took < 0.005; rounds *= 2) {
    Clock::time_point start = Clock::now();
    volatile float sink = set.kernel(rounds);
    (void)sink;
    took = secondsSince(start);
  }
  double best = 0;
  bool done = false;
  Clock::time_point begin = Clock::now(), windowStart = begin;
  bool inWindow = false;
  // Runs while every thread waits: opens a window, or closes it and decides whether there is another.
  auto turn = [&]() noexcept {
    if (inWindow) {
      best = std::max(best, threadCount * double(rounds) * set.flopsPerRound / secondsSince(windowStart));
      done = secondsSince(begin) >= seconds;
    }
    inWindow = !inWindow;
    windowStart = Clock::now();
  };
  std::barrier barrier(threadCount, turn);
  auto work = [&] {
    while (true) {
      barrier.arrive_and_wait();
      volatile float sink = set.kernel(rounds);
      (void)sink;
      barrier.arrive_and_wait();
      if (done)
        return;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < threadCount; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  return best;
}

} // namespace

int main(int argc, char **argv) {
  int threadCount = argc > 1 ? int(strtol(argv[1], nullptr, 10)) : 1;
  double seconds = argc > 2 ? strtod(argv[2], nullptr) : 0.2;
  if (threadCount < 1 || seconds <= 0 || argc > 3) {
    fputs("usage: fma_peak [THREADS [SECONDS]]\n", stderr);
    return 2;
  }
  std::vector<InstructionSet> sets = available();
  if (sets.empty()) {
    fputs("fma_peak: this CPU has no fused multiply-add that this program knows\n", stderr);
    return 1;
  }
  const char *name = nullptr;
  double best = 0;
  for (const InstructionSet &set : sets)
    if (double rate = peak(set, threadCount, seconds / double(sets.size())); rate > best) {
      best = rate;
      name = set.name;
    }
  printf("%s %d %.1f\n", name, threadCount, best / 1e9);
  return 0;
}
