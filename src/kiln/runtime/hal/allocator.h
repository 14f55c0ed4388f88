// Where a device's buffers come from. Decorators (caching_allocator.h, debug_allocator.h) wrap the device's direct one.
// All functions may be called on any thread.
#ifndef KILN_RUNTIME_HAL_ALLOCATOR_H
#define KILN_RUNTIME_HAL_ALLOCATOR_H

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/hal/buffer.h"
#include "kiln/runtime/hal/statistics.h"

#include <atomic>
#include <cstdint>

namespace kiln::hal {

enum class AllocatorKind : uint8_t {
  Direct,  // each buffer is allocated and freed
  Caching, // freed memory is kept and handed out again
  Debug,   // memory is poisoned, and writes outside of a buffer are found
  Default, // Caching; Direct in a program with sanitizers, which see then what is used after it was freed
};

class Allocator : public RefCounted {
public:
  // A buffer of at least no bytes, contents undefined, that starts at a multiple of KILN_BINDING_ALIGNMENT.
  // ResourceExhausted where there is not that much memory.
  Result<Ref<Buffer>> allocate(BufferUsage usage, uint64_t length);

  // A buffer over memory that the caller owns. Used in place where the device can and the address is a multiple of
  // KILN_BINDING_ALIGNMENT; otherwise copied and released before this returns, so that later writes on one side do not
  // show on the other. On failure `release` has been called too.
  Result<Ref<Buffer>> importHost(HostMemory memory, BufferUsage usage = BufferUsage::External);

  // What this allocator has handed out; of a wrapped one, what its wrapper holds.
  AllocatorStatistics statistics() const;

  // Of the instance of the C API whose device this allocator is of; 0 where there is none. Set before the first buffer.
  uint64_t instance() const { return instanceNumber; }
  void setInstance(uint64_t number) { instanceNumber = number; }

  // Gives memory that is kept for reuse back to the system.
  virtual void trim() {}
  // The first damage found in memory that is or was allocated, where this allocator looks for any; checks live buffers.
  virtual Status verify() { return okStatus(); }

protected:
  Allocator() = default;
  ~Allocator() override = default;

  virtual Result<Ref<Buffer>> allocateBuffer(BufferUsage usage, uint64_t length) = 0;
  // In place only: returns null, and keeps `memory` untouched, where a copy is needed.
  virtual Result<Ref<Buffer>> importBuffer(HostMemory &memory, BufferUsage usage) = 0;
  // A buffer that this allocator handed out has lost its last reference; takes it over. The default deletes it.
  virtual void reclaim(Buffer *buffer);

  // For decorators: what the wrapped allocator would do, and a buffer of it back to it.
  static Result<Ref<Buffer>> importThrough(Allocator &inner, HostMemory &memory, BufferUsage usage) {
    return inner.importBuffer(memory, usage);
  }
  // Makes a buffer that was reclaimed ready to be handed out again; `length` is at most what was first allocated.
  static void reuse(Buffer *buffer, BufferUsage usage, uint64_t length);
  // Bytes that the buffer was first allocated with.
  static uint64_t capacityOf(const Buffer *buffer) { return buffer->capacity; }
  // A buffer that came from `inner` and was reclaimed here goes home.
  static void returnTo(Allocator &inner, Buffer *buffer);
  // The same for a buffer that was handed on as it came: what `inner` counted for it is what it is now.
  static void passBack(Allocator &inner, Buffer *buffer);
  static void deleteBuffer(Buffer *buffer);

private:
  friend class Buffer;
  struct Counter {
    std::atomic<uint64_t> allocated{0}, freed{0}, peak{0};
    void add(uint64_t bytes);
    void remove(uint64_t bytes) { freed.fetch_add(bytes, std::memory_order_relaxed); }
    MemoryUsage get() const;
  };
  Counter &counterOf(const Buffer *buffer);
  // From Buffer::destroy: counts, then reclaims.
  void takeBack(Buffer *buffer);

  Counter hostLocal, deviceLocal, transient;
  uint64_t instanceNumber = 0;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_ALLOCATOR_H
