#include "kiln/measure/providers/result_allocator.h"

#include <utility>

namespace kiln::measure {

void ResultAllocator::place(std::span<const std::span<uint8_t>> outputs) {
  std::lock_guard lock(mutex);
  places.assign(outputs.begin(), outputs.end());
}

Result<Ref<hal::Buffer>> ResultAllocator::allocateBuffer(hal::BufferUsage usage, uint64_t length) {
  std::span<uint8_t> taken;
  if (usage == hal::BufferUsage::Result && length > 0) {
    std::lock_guard lock(mutex);
    for (std::span<uint8_t> &place : places)
      if (place.size() == length) {
        taken = std::exchange(place, {});
        break;
      }
  }
  if (taken.empty())
    return inner->allocate(usage, length);
  hal::HostMemory memory;
  memory.data = taken.data();
  memory.length = taken.size();
  memory.access = hal::MemoryAccess::ReadWrite;
  return importThrough(*inner, memory, hal::BufferUsage::External);
}

void ResultAllocator::reclaim(hal::Buffer *buffer) {
  // Nothing but what was placed is allocated as External here.
  if (buffer->usage() == hal::BufferUsage::External)
    deleteBuffer(buffer);
  else
    passBack(*inner, buffer);
}

} // namespace kiln::measure
