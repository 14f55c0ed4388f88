#include "kiln/targets/cuda/sim/memory.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "fmt/format.h"

namespace kiln::cudasim {

uint64_t Memory::allocate(uint64_t size) {
  std::lock_guard lock(mutex);
  size = std::max<uint64_t>(size, 1);
  if (size > kBaseInRegion || size > available() || nextRegion == kRegions)
    return 0;
  std::unique_ptr<uint8_t[]> bytes(new (std::nothrow) uint8_t[size]);
  if (!bytes)
    return 0;
  std::memset(bytes.get(), 0xff, std::min<uint64_t>(size, 64 << 20));
  const uint64_t region = nextRegion++;
  std::unique_ptr<Chunk> &chunk = owned[region / kChunk];
  if (!chunk)
    chunk = std::make_unique<Chunk>();
  Allocation &allocation = (*chunk)[region % kChunk];
  allocation.bytes = std::move(bytes);
  allocation.begin = (region << kRegionBits) + kBaseInRegion;
  allocation.size = size;
  chunks[region / kChunk].store(chunk.get(), std::memory_order_release);
  used += size;
  return allocation.begin;
}

bool Memory::free(uint64_t address) {
  std::lock_guard lock(mutex);
  auto *allocation = const_cast<Allocation *>(regionOf(address));
  if (!allocation || allocation->begin != address || allocation->isFreed)
    return false;
  allocation->isFreed = true;
  allocation->bytes = nullptr;
  used -= allocation->size;
  return true;
}

std::string Memory::explain(uint64_t address, uint64_t size) const {
  const Allocation *allocation = regionOf(address);
  if (!allocation)
    return "which is in no allocation";
  if (allocation->isFreed)
    return fmt::format("which is in freed memory: byte {} of what was an allocation of {} bytes",
                       int64_t(address - allocation->begin), allocation->size);
  if (address < allocation->begin)
    return fmt::format("which is {} bytes before an allocation of {} bytes", allocation->begin - address,
                       allocation->size);
  if (address >= allocation->begin + allocation->size)
    return fmt::format("which is {} bytes past the end of an allocation of {} bytes",
                       address - allocation->begin - allocation->size, allocation->size);
  return fmt::format("whose last {} bytes are past the end of an allocation of {} bytes",
                     address + size - allocation->begin - allocation->size, allocation->size);
}

} // namespace kiln::cudasim
