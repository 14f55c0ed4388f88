#include "kiln/measure/machine/noise.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kiln/base/clock.h"
#include "kiln/measure/machine/bandwidth.h"
#include "kiln/measure/machine/peak.h"
#include "kiln/measure/machine/team.h"

namespace kiln::measure {

static constexpr size_t kStretch = 20; // runs, half of them A's

static double quantile(std::vector<double> values, double part) {
  if (values.empty())
    return 0;
  auto at = values.begin() + std::lround(part * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

Noise summarizeNoise(unsigned threads, std::span<const double> samples) {
  Noise noise;
  noise.threads = threads;
  noise.samples = static_cast<unsigned>(samples.size());
  std::vector<double> all(samples.begin(), samples.end());
  noise.medianSeconds = quantile(all, 0.5);
  if (!(noise.medianSeconds > 0))
    return noise;
  noise.p10 = quantile(all, 0.1) / noise.medianSeconds;
  noise.p90 = quantile(all, 0.9) / noise.medianSeconds;
  std::vector<double> differences;
  for (; samples.size() >= kStretch; samples = samples.subspan(kStretch)) {
    std::vector<double> a, b;
    for (size_t i = 0; i < kStretch; ++i)
      (i % 2 == 0 ? a : b).push_back(samples[i]);
    differences.push_back(std::abs(quantile(a, 0.5) / quantile(b, 0.5) - 1));
  }
  noise.floor = quantile(differences, 0.95);
  return noise;
}

Noise measureNoise(const Provenance &machine, unsigned threads, double seconds, const std::function<bool()> &isOver) {
  const Cache *l2 = machine.dataCache(2);
  uint64_t bytes = l2 ? l2->bytes / 2 : uint64_t(128) << 10;
  std::vector<PeakKernel> kernels = peakKernels(machine.features);
  std::vector<std::vector<std::byte>> memory(threads, std::vector<std::byte>(bytes + 64));
  auto work = [&](unsigned thread) {
    std::byte *start = memory[thread].data();
    start += -reinterpret_cast<uintptr_t>(start) & 63;
    for (unsigned i = 0; i < 8; ++i) {
      if (!kernels.empty())
        kernels.front().run(1000);
      runTransfer(Transfer::Read, std::span(start, bytes), 2, machine.features);
    }
  };
  Team team(std::span(machine.allowedCpus).first(std::min<size_t>(threads, machine.allowedCpus.size())));
  std::vector<double> samples;
  uint64_t begin = monotonicNanoseconds();
  for (unsigned i = 0; i < 20; ++i) // warm-up
    team.run(team.size(), work);
  auto goesOn = [&] {
    return static_cast<double>(monotonicNanoseconds() - begin) * 1e-9 < seconds && !(isOver && isOver());
  };
  while (samples.size() < kStretch || goesOn())
    samples.push_back(static_cast<double>(team.run(team.size(), work)) * 1e-9);
  return summarizeNoise(team.size(), samples);
}

//===--- Clock ----------------------------------------------------------------------------------------------------===//

static constexpr uint64_t kAdditions = 16; // of a round

#if defined(__x86_64__)
#define ONE_ADDITION "add %1, %0\n\t"
#elif defined(__aarch64__)
#define ONE_ADDITION "add %0, %0, %1\n\t"
#endif

// Each addition waits for the one before it.
static void addInChain(uint64_t rounds) {
#if defined(ONE_ADDITION)
  uint64_t sum = 0, one = 1;
  for (uint64_t round = 0; round < rounds; ++round)
    asm volatile(
        ONE_ADDITION ONE_ADDITION ONE_ADDITION ONE_ADDITION ONE_ADDITION ONE_ADDITION ONE_ADDITION ONE_ADDITION
            ONE_ADDITION ONE_ADDITION ONE_ADDITION ONE_ADDITION ONE_ADDITION ONE_ADDITION ONE_ADDITION ONE_ADDITION
        : "+r"(sum)
        : "r"(one)
        : "cc");
#endif
}

ClockRate measureClockRate(const Provenance &machine, double seconds) {
#if !defined(ONE_ADDITION)
  return {};
#endif
  constexpr uint64_t rounds = 200000; // about a millisecond
  Team team(std::span(machine.allowedCpus).first(1));
  std::vector<double> rates;
  uint64_t begin = monotonicNanoseconds();
  do {
    auto took = static_cast<double>(team.run(1, [](unsigned) { addInChain(rounds); })) * 1e-9;
    rates.push_back(static_cast<double>(rounds * kAdditions) / took);
  } while (static_cast<double>(monotonicNanoseconds() - begin) * 1e-9 < seconds);
  return {std::ranges::max(rates), quantile(rates, 0.5)};
}

} // namespace kiln::measure
