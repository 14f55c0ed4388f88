// Buffers in host memory from malloc: the direct allocator of devices that address host memory.
#ifndef KILN_RUNTIME_HAL_HEAP_ALLOCATOR_H
#define KILN_RUNTIME_HAL_HEAP_ALLOCATOR_H

#include "kiln/runtime/hal/allocator.h"

namespace kiln::hal {

// What memory that is new holds.
enum class FreshMemory : uint8_t { Undefined, Zeros };

class HeapAllocator final : public Allocator {
public:
  explicit HeapAllocator(FreshMemory fresh = FreshMemory::Undefined) : fresh(fresh) {}

protected:
  Result<Ref<Buffer>> allocateBuffer(BufferUsage usage, uint64_t length) override;
  Result<Ref<Buffer>> importBuffer(HostMemory &memory, BufferUsage usage) override;

private:
  const FreshMemory fresh;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_HEAP_ALLOCATOR_H
