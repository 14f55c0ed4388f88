// The simulated device's memory: every address belongs to one allocation, is freed, or was never given.
//
// Allocations lie far apart, so that what misses one hits none, and an address is not given twice.
#ifndef KILN_TARGETS_CUDA_SIM_MEMORY_H
#define KILN_TARGETS_CUDA_SIM_MEMORY_H

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace kiln::cudasim {

// Generic addresses: 64 GiB for each allocation, the first few for the windows of other state spaces.
inline constexpr int kRegionBits = 36;
inline constexpr uint64_t kSharedWindow = uint64_t(1) << kRegionBits;
inline constexpr uint64_t kLocalWindow = uint64_t(2) << kRegionBits;
inline constexpr uint64_t kParamWindow = uint64_t(3) << kRegionBits;
inline constexpr uint64_t kFirstRegion = 16;
// Addresses of shared memory in a cluster: below 1 << this the block's own; else, above it, a block's rank plus one.
inline constexpr int kClusterRankShift = 24;
inline constexpr uint64_t kBaseInRegion = uint64_t(1) << (kRegionBits - 1);

struct Allocation {
  std::unique_ptr<uint8_t[]> bytes;
  uint64_t begin = 0, size = 0;
  bool isFreed = false;
};

class Memory {
public:
  explicit Memory(uint64_t capacity) : capacity(capacity) {}

  // 0 where there is not enough. What is new holds arbitrary bytes, all ones. Any thread may call these.
  uint64_t allocate(uint64_t size);
  bool free(uint64_t address);
  uint64_t available() const { return capacity - used.load(std::memory_order_relaxed); }
  uint64_t total() const { return capacity; }

  // The bytes at these addresses, or null where they are not all in one live allocation.
  uint8_t *find(uint64_t address, uint64_t size) const {
    const Allocation *allocation = regionOf(address);
    if (!allocation) [[unlikely]]
      return nullptr;
    const uint64_t offset = address - allocation->begin;
    if (offset + size > allocation->size || offset > allocation->size || allocation->isFreed) [[unlikely]]
      return nullptr;
    return allocation->bytes.get() + offset;
  }
  // Bytes from an address to the end of its allocation; 0 where there is none.
  uint64_t bytesFrom(uint64_t address) const {
    const Allocation *allocation = regionOf(address);
    const uint64_t offset = allocation ? address - allocation->begin : 0;
    return allocation && offset < allocation->size && !allocation->isFreed ? allocation->size - offset : 0;
  }
  const Allocation *regionOf(uint64_t address) const {
    const uint64_t region = address >> kRegionBits;
    if (region >= kRegions) [[unlikely]]
      return nullptr;
    const Chunk *chunk = chunks[region / kChunk].load(std::memory_order_acquire);
    return chunk && (*chunk)[region % kChunk].size ? &(*chunk)[region % kChunk] : nullptr;
  }
  // "16 bytes past the end of an allocation of 64 bytes": what find misses.
  std::string explain(uint64_t address, uint64_t size) const;

private:
  static constexpr uint64_t kRegions = uint64_t(1) << 24, kChunk = 1 << 12;
  using Chunk = std::array<Allocation, kChunk>;

  const uint64_t capacity;
  std::atomic<uint64_t> used{0};
  std::mutex mutex;
  uint64_t nextRegion = kFirstRegion; // guarded
  std::array<std::atomic<Chunk *>, kRegions / kChunk> chunks{};
  std::array<std::unique_ptr<Chunk>, kRegions / kChunk> owned; // guarded
};

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_MEMORY_H
