#include "kiln/runtime/hal/host_allocator.h"

#include "kiln/runtime/hal/caching_allocator.h"
#include "kiln/runtime/hal/debug_allocator.h"

namespace kiln::hal {

static Ref<Allocator> createOfKind(const DeviceOptions &options, FreshMemory fresh) {
  Ref<Allocator> heap = makeRef<HeapAllocator>(fresh);
  switch (options.allocator) {
  case AllocatorKind::Direct: break;
  case AllocatorKind::Caching: {
    CachingAllocatorOptions caching;
    caching.zeroReused = fresh == FreshMemory::Zeros;
    return makeRef<CachingAllocator>(std::move(heap), caching);
  }
  case AllocatorKind::Debug: {
    DebugAllocatorOptions debug;
    debug.onDamage = options.onMemoryDamage;
    return makeRef<DebugAllocator>(std::move(heap), std::move(debug));
  }
  }
  return heap;
}

Ref<Allocator> createHostAllocator(const DeviceOptions &options, FreshMemory fresh) {
  Ref<Allocator> allocator = createOfKind(options, fresh);
  return options.wrapAllocator ? options.wrapAllocator(std::move(allocator)) : allocator;
}

} // namespace kiln::hal
