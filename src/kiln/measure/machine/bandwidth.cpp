#include "kiln/measure/machine/bandwidth.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace kiln::measure {

const char *transferName(Transfer transfer) {
  switch (transfer) {
  case Transfer::Read: return "read";
  case Transfer::Copy: return "copy";
  case Transfer::Triad: return "triad";
  }
  return "?";
}

//===--- Memory ---------------------------------------------------------------------------------------------------===//

Result<TransferBuffer> TransferBuffer::create(uint64_t bytes) {
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return errnoStatus(errno, fmt::format("cannot get {} bytes to measure bandwidth with", bytes));
  ::madvise(memory, bytes, MADV_HUGEPAGE); // where it fails, pages are small
  return TransferBuffer(static_cast<std::byte *>(memory), bytes);
}

TransferBuffer::TransferBuffer(TransferBuffer &&other) noexcept
    : memory(std::exchange(other.memory, nullptr)), size(other.size) {}

TransferBuffer::~TransferBuffer() {
  if (memory)
    ::munmap(memory, size);
}

//===--- Loops ----------------------------------------------------------------------------------------------------===//

namespace {

// Arrays are cut into blocks of this many bytes, which each loop goes through in one step.
constexpr uint64_t kBlock = 512;
// Arrays start at different places of a page, or stores would be taken for what later loads read.
constexpr uint64_t kSkew = 320;

struct Arrays {
  std::byte *first, *second, *third;
  uint64_t blocks; // of each
};

// What the loops do is written once, in vectors of 16, 32 and 64 bytes. The empty asm keeps values from being merged,
// and the copy from becoming a call of memcpy.
// clang-format off
#define TRANSFER_LOOPS(suffix, attribute, width, constraint)                                                           \
  using Float##suffix = float __attribute__((vector_size(width)));                                                     \
  using Integer##suffix = long long __attribute__((vector_size(width)));                                               \
  attribute void read##suffix(const Arrays &arrays) {                                                                  \
    const auto *from = reinterpret_cast<const Integer##suffix *>(arrays.first);                                        \
    Integer##suffix sums[4] = {};                                                                                      \
    for (uint64_t block = 0; block < arrays.blocks; ++block, from += kBlock / (width)) {                               \
      _Pragma("GCC unroll 32")                                                                                         \
      for (unsigned i = 0; i < kBlock / (width); ++i)                                                                  \
        sums[i % 4] += from[i];                                                                                        \
    }                                                                                                                  \
    for (Integer##suffix &sum : sums)                                                                                  \
      asm volatile("" : constraint(sum));                                                                              \
  }                                                                                                                    \
  attribute void copy##suffix(const Arrays &arrays) {                                                                  \
    const auto *from = reinterpret_cast<const Float##suffix *>(arrays.first);                                          \
    auto *to = reinterpret_cast<Float##suffix *>(arrays.second);                                                       \
    for (uint64_t block = 0; block < arrays.blocks; ++block, from += kBlock / (width), to += kBlock / (width)) {       \
      _Pragma("GCC unroll 32")                                                                                         \
      for (unsigned i = 0; i < kBlock / (width); ++i) {                                                                \
        Float##suffix value = from[i];                                                                                 \
        asm volatile("" : constraint(value));                                                                          \
        to[i] = value;                                                                                                 \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  attribute void triad##suffix(const Arrays &arrays) {                                                                 \
    const auto *a = reinterpret_cast<const Float##suffix *>(arrays.first);                                             \
    const auto *b = reinterpret_cast<const Float##suffix *>(arrays.second);                                            \
    auto *c = reinterpret_cast<Float##suffix *>(arrays.third);                                                         \
    constexpr uint64_t step = kBlock / (width);                                                                        \
    for (uint64_t block = 0; block < arrays.blocks; ++block, a += step, b += step, c += step) {                        \
      _Pragma("GCC unroll 32")                                                                                         \
      for (unsigned i = 0; i < step; ++i)                                                                              \
        c[i] = a[i] + 3.0F * b[i];                                                                                     \
    }                                                                                                                  \
  }
#if defined(__x86_64__)
TRANSFER_LOOPS(Sse, , 16, "+x")
TRANSFER_LOOPS(Avx2, __attribute__((target("avx2,fma"))), 32, "+x")
TRANSFER_LOOPS(Avx512, __attribute__((target("avx512f"))), 64, "+v")
#elif defined(__aarch64__)
TRANSFER_LOOPS(Neon, , 16, "+w")
#else
TRANSFER_LOOPS(Plain, , 16, "+m")
#endif
// clang-format on

using Loop = void (*)(const Arrays &);
struct Loops {
  Loop read, copy, triad;
};

Loops chooseLoops(std::span<const std::string> features) {
#if defined(__x86_64__)
  auto has = [&](const char *name) { return std::ranges::find(features, name) != features.end(); };
  if (has("avx512f"))
    return {readAvx512, copyAvx512, triadAvx512};
  if (has("avx2") && has("fma"))
    return {readAvx2, copyAvx2, triadAvx2};
  return {readSse, copySse, triadSse};
#elif defined(__aarch64__)
  return {readNeon, copyNeon, triadNeon};
#else
  return {readPlain, copyPlain, triadPlain};
#endif
}

uint64_t blocksOf(Transfer transfer, uint64_t workingSet) {
  uint64_t arrays = transfer == Transfer::Read ? 1 : transfer == Transfer::Copy ? 2 : 3;
  uint64_t skew = (arrays - 1) * kSkew;
  return workingSet > skew ? (workingSet - skew) / arrays / kBlock : 0;
}

} // namespace

uint64_t transferBytes(Transfer transfer, uint64_t workingSet) {
  uint64_t arrays = transfer == Transfer::Read ? 1 : transfer == Transfer::Copy ? 2 : 3;
  return arrays * blocksOf(transfer, workingSet) * kBlock;
}

void runTransfer(Transfer transfer, std::span<std::byte> memory, uint64_t passes,
                 std::span<const std::string> features) {
  Loops loops = chooseLoops(features);
  Loop loop = transfer == Transfer::Read ? loops.read : transfer == Transfer::Copy ? loops.copy : loops.triad;
  uint64_t blocks = blocksOf(transfer, memory.size());
  uint64_t distance = blocks * kBlock + kSkew;
  Arrays arrays{memory.data(), memory.data() + (transfer == Transfer::Read ? 0 : distance),
                memory.data() + (transfer == Transfer::Triad ? 2 * distance : 0), blocks};
  for (uint64_t pass = 0; pass < passes; ++pass) {
    loop(arrays);
    asm volatile("" ::: "memory");
  }
}

//===--- Levels ---------------------------------------------------------------------------------------------------===//

std::vector<MemoryLevel> memoryLevels(const Provenance &machine, unsigned threads) {
  std::vector<MemoryLevel> levels;
  uint64_t before = 0; // what the level before this one holds for a thread
  for (unsigned level = 1; const Cache *cache = machine.dataCache(level); ++level) {
    // Threads are on different cores as far as there are, so a cache of few CPUs is not shared among them.
    uint64_t sharers = std::clamp<uint64_t>(
        machine.cores ? cache->sharedBy * uint64_t(machine.cores) / std::max(1U, machine.logicalCpus) : cache->sharedBy,
        1, threads);
    uint64_t bytes = cache->bytes / sharers / 2;
    // A share that fits into the level before would measure that.
    if (bytes > before + before / 2)
      levels.push_back({fmt::format("L{}", level), bytes});
    before = cache->bytes / sharers;
  }
  constexpr uint64_t least = uint64_t(64) << 20, most = uint64_t(1) << 30;
  const Cache *last = machine.lastLevel();
  uint64_t total = std::clamp<uint64_t>(last ? last->bytes * 4 : least, least, most);
  if (machine.memoryBytes != 0)
    total = std::min(total, machine.memoryBytes / 8);
  levels.push_back({"memory", std::max<uint64_t>(total / threads, 2 * kBlock)});
  return levels;
}

} // namespace kiln::measure
