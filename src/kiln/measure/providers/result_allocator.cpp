#include "kiln/measure/providers/result_allocator.h"

#include <utility>

namespace kiln::measure {

void ResultAllocator::place(std::span<const std::span<uint8_t>> outputs) {
  std::lock_guard lock(mutex);
  places.assign(outputs.begin(), outputs.end());
}

void ResultAllocator::place(std::span<const Ref<hal::Buffer>> outputs) {
  std::lock_guard lock(mutex);
  devicePlaces.assign(outputs.begin(), outputs.end());
}

Result<Ref<hal::Buffer>> ResultAllocator::allocateBuffer(hal::BufferUsage usage, uint64_t length) {
  std::span<uint8_t> taken;
  Ref<hal::Buffer> range;
  if (usage == hal::BufferUsage::Result && length > 0) {
    std::lock_guard lock(mutex);
    for (std::span<uint8_t> &place : places)
      if (place.size() == length) {
        taken = std::exchange(place, {});
        break;
      }
    for (Ref<hal::Buffer> &place : devicePlaces)
      if (!range && place && place->byteLength() == length)
        range = std::exchange(place, nullptr);
  }
  // A range of its own: this allocator takes back what it has handed out.
  if (range)
    return hal::Buffer::subspan(Ref<hal::Buffer>::share(range->allocation()), range->allocationOffset(), length);
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
