// Finds programs that write where they must not: memory before and after each buffer is guarded, new memory is
// poisoned, and freed memory is poisoned, kept for a while and looked at again.
#ifndef KILN_RUNTIME_HAL_DEBUG_ALLOCATOR_H
#define KILN_RUNTIME_HAL_DEBUG_ALLOCATOR_H

#include "kiln/runtime/hal/allocator.h"

#include <deque>
#include <functional>
#include <mutex>
#include <unordered_set>

namespace kiln::hal {

struct DebugAllocatorOptions {
  // Bytes on each side of a buffer that nobody may write; a multiple of KILN_BINDING_ALIGNMENT.
  uint64_t guardBytes = 256;
  // Freed memory is watched until this much younger one has been freed.
  uint64_t quarantineBytes = uint64_t(64) << 20;
  // New memory holds this byte, freed memory the other: as f32 both are large and strange numbers.
  uint8_t freshByte = 0xCB;
  uint8_t freedByte = 0xDD;
  // Told of each damage once, on the thread that finds it, which holds this allocator: it must not use it. May be
  // empty: `verify` returns the first.
  std::function<void(const Status &)> onDamage;
};

// Only for memory that the host can address.
class DebugAllocator final : public Allocator {
public:
  explicit DebugAllocator(Ref<Allocator> inner, DebugAllocatorOptions options = {})
      : inner(std::move(inner)), options(std::move(options)) {}
  ~DebugAllocator() override;

  void trim() override;
  Status verify() override;

protected:
  Result<Ref<Buffer>> allocateBuffer(BufferUsage usage, uint64_t length) override;
  Result<Ref<Buffer>> importBuffer(HostMemory &memory, BufferUsage usage) override;
  void reclaim(Buffer *buffer) override;

private:
  class GuardedBuffer;

  void checkGuards(GuardedBuffer &buffer, const char *when);
  void checkFreed(GuardedBuffer &buffer);
  void damage(const Status &status);
  void empty(uint64_t untilBytes);

  Ref<Allocator> inner;
  const DebugAllocatorOptions options;
  std::mutex mutex;
  std::unordered_set<GuardedBuffer *> live; // guarded
  std::deque<GuardedBuffer *> quarantine;   // guarded; owned
  uint64_t quarantined = 0;                 // guarded; bytes
  uint64_t serial = 0;                      // guarded; numbers the allocations, for messages
  std::mutex damageMutex;
  Status firstDamage; // guarded by damageMutex
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_DEBUG_ALLOCATOR_H
