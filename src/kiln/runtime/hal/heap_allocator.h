// Buffers in host memory from malloc: the direct allocator of devices that address host memory.
#ifndef KILN_RUNTIME_HAL_HEAP_ALLOCATOR_H
#define KILN_RUNTIME_HAL_HEAP_ALLOCATOR_H

#include "kiln/runtime/hal/allocator.h"

namespace kiln::hal {

class HeapAllocator final : public Allocator {
protected:
  Result<Ref<Buffer>> allocateBuffer(BufferUsage usage, uint64_t length) override;
  Result<Ref<Buffer>> importBuffer(HostMemory &memory, BufferUsage usage) override;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_HEAP_ALLOCATOR_H
