#include "kiln/runtime/hal/allocator.h"

#include "kiln/schema/executable_abi.h"

#include <cstdint>

namespace kiln::hal {

void Allocator::Counter::add(uint64_t bytes) {
  uint64_t live = allocated.fetch_add(bytes, std::memory_order_relaxed) + bytes - freed.load(std::memory_order_relaxed);
  uint64_t old = peak.load(std::memory_order_relaxed);
  while (live > old && !peak.compare_exchange_weak(old, live, std::memory_order_relaxed)) {
  }
}

MemoryUsage Allocator::Counter::get() const {
  MemoryUsage usage;
  // What is freed was allocated before: read in this order, live cannot come out negative.
  usage.freed = freed.load(std::memory_order_acquire);
  usage.allocated = allocated.load(std::memory_order_acquire);
  usage.peak = peak.load(std::memory_order_relaxed);
  usage.live = usage.allocated - usage.freed;
  return usage;
}

Allocator::Counter &Allocator::counterOf(const Buffer *buffer) {
  return buffer->kind == MemoryKind::HostLocal ? hostLocal : deviceLocal;
}

AllocatorStatistics Allocator::statistics() const {
  return {hostLocal.get(), deviceLocal.get(), transient.get()};
}

Result<Ref<Buffer>> Allocator::allocate(BufferUsage usage, uint64_t length) {
  // No object is larger than PTRDIFF_MAX; the slack lets implementations add headers without overflow.
  if (length > uint64_t(PTRDIFF_MAX) - 4096)
    return resourceExhausted("cannot allocate {} bytes: no machine has so much memory", length);
  KILN_ASSIGN_OR_RETURN(Ref<Buffer> buffer, allocateBuffer(usage, length));
  counterOf(buffer.get()).add(length);
  if (usage == BufferUsage::Transient)
    transient.add(length);
  buffer->owner = Ref<Allocator>::share(this);
  return buffer;
}

void Allocator::takeBack(Buffer *buffer) {
  counterOf(buffer).remove(buffer->length);
  if (buffer->bufferUsage == BufferUsage::Transient)
    transient.remove(buffer->length);
  reclaim(buffer);
}

Result<Ref<Buffer>> Allocator::importHost(HostMemory memory, BufferUsage usage) {
  bool aligned = reinterpret_cast<uintptr_t>(memory.data) % KILN_BINDING_ALIGNMENT == 0;
  if (aligned && memory.data) {
    Result<Ref<Buffer>> imported = importBuffer(memory, usage);
    if (!imported.ok() && memory.release)
      memory.release();
    if (!imported.ok() || *imported)
      return imported;
  }
  Result<Ref<Buffer>> copy = allocate(usage, memory.length);
  Status status = copy.ok() ? okStatus() : copy.status();
  if (status.ok() && memory.length)
    status = (*copy)->write(0, {static_cast<const std::byte *>(memory.data), memory.length});
  if (status.ok() && memory.checkReadable && anyPagesLost())
    status = memory.checkReadable();
  if (memory.release)
    memory.release();
  KILN_RETURN_IF_ERROR(std::move(status));
  (*copy)->allowedAccess = memory.access;
  return copy;
}

void Allocator::reclaim(Buffer *buffer) {
  deleteBuffer(buffer);
}

void Allocator::reuse(Buffer *buffer, BufferUsage usage, uint64_t length) {
  buffer->revive();
  buffer->bufferUsage = usage;
  buffer->length = length;
  buffer->allowedAccess = MemoryAccess::ReadWrite;
}

void Allocator::returnTo(Allocator &inner, Buffer *buffer) {
  // `inner` takes back what it counted.
  reuse(buffer, BufferUsage::Result, buffer->capacity);
  inner.takeBack(buffer);
}

void Allocator::passBack(Allocator &inner, Buffer *buffer) {
  buffer->revive();
  inner.takeBack(buffer);
}

void Allocator::deleteBuffer(Buffer *buffer) {
  delete buffer;
}

} // namespace kiln::hal
