#include "kiln/runtime/hal/caching_allocator.h"

#include <bit>
#include <cstring>
#include <utility>

namespace kiln::hal {

// Class 0 holds up to 64 bytes; then come four classes for each power of two: 80, 96, 112, 128, 160, 192, ...
uint32_t CachingAllocator::classOf(uint64_t length) {
  if (length <= kSmallest)
    return 0;
  uint32_t power = uint32_t(std::bit_width(length - 1)) - 1; // 2^power < length <= 2^(power + 1)
  uint64_t quarter = (uint64_t(1) << power) / 4;
  uint32_t part = uint32_t((length - (uint64_t(1) << power) + quarter - 1) / quarter); // 1 to 4
  return (power - uint32_t(std::countr_zero(kSmallest))) * 4 + part;
}

uint64_t CachingAllocator::sizeOfClass(uint32_t index) {
  if (index == 0)
    return kSmallest;
  uint64_t base = kSmallest << ((index - 1) / 4);
  return base + base / 4 * ((index - 1) % 4 + 1);
}

CachingAllocator::~CachingAllocator() {
  trim();
}

Result<Ref<Buffer>> CachingAllocator::allocateBuffer(BufferUsage usage, uint64_t length) {
  uint32_t index = classOf(length);
  Buffer *found = nullptr;
  {
    std::lock_guard lock(mutex);
    if (!free[index].empty()) {
      found = free[index].back();
      free[index].pop_back();
      kept -= capacityOf(found);
    }
  }
  if (found) {
    if (options.zeroReused && found->hostPointer())
      std::memset(found->hostPointer(), 0, length);
  } else {
    // Everything is one usage to the wrapped allocator: the same memory serves them all.
    Result<Ref<Buffer>> fresh = inner->allocate(BufferUsage::Result, sizeOfClass(index));
    if (!fresh.ok() && fresh.status().code() == StatusCode::ResourceExhausted) {
      trim();
      fresh = inner->allocate(BufferUsage::Result, length);
    }
    if (!fresh.ok())
      return fresh;
    found = fresh->leak();
  }
  reuse(found, usage, length);
  return Ref<Buffer>::adopt(found);
}

Result<Ref<Buffer>> CachingAllocator::importBuffer(HostMemory &memory, BufferUsage usage) {
  return importThrough(*inner, memory, usage);
}

void CachingAllocator::reclaim(Buffer *buffer) {
  uint64_t capacity = capacityOf(buffer);
  uint32_t index = classOf(capacity);
  // What was allocated in need, with less than its class, fits no other request of the class.
  if (capacity == sizeOfClass(index)) {
    std::lock_guard lock(mutex);
    if (kept + capacity <= options.maxKept) {
      kept += capacity;
      free[index].push_back(buffer);
      return;
    }
  }
  returnTo(*inner, buffer);
}

void CachingAllocator::trim() {
  std::array<std::vector<Buffer *>, kClasses> all;
  {
    std::lock_guard lock(mutex);
    std::swap(all, free);
    kept = 0;
  }
  for (std::vector<Buffer *> &buffers : all)
    for (Buffer *buffer : buffers)
      returnTo(*inner, buffer);
  inner->trim();
}

uint64_t CachingAllocator::keptBytes() const {
  std::lock_guard lock(mutex);
  return kept;
}

} // namespace kiln::hal
