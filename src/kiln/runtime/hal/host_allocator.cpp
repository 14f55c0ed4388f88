#include "kiln/runtime/hal/host_allocator.h"

#include "kiln/runtime/hal/caching_allocator.h"
#include "kiln/runtime/hal/debug_allocator.h"

namespace kiln::hal {

static Ref<Allocator> decorate(Ref<Allocator> direct, const DeviceOptions &options, bool zeroReused) {
  switch (options.allocator) {
  case AllocatorKind::Direct: break;
  case AllocatorKind::Caching: {
    CachingAllocatorOptions caching;
    caching.zeroReused = zeroReused;
    return makeRef<CachingAllocator>(std::move(direct), caching);
  }
  case AllocatorKind::Debug: {
    DebugAllocatorOptions debug;
    debug.onDamage = options.onMemoryDamage;
    return makeRef<DebugAllocator>(std::move(direct), std::move(debug));
  }
  }
  return direct;
}

Ref<Allocator> decorateAllocator(Ref<Allocator> direct, const DeviceOptions &options, bool zeroReused) {
  Ref<Allocator> allocator = decorate(std::move(direct), options, zeroReused);
  return options.wrapAllocator ? options.wrapAllocator(std::move(allocator)) : allocator;
}

Ref<Allocator> createHostAllocator(const DeviceOptions &options, FreshMemory fresh) {
  return decorateAllocator(makeRef<HeapAllocator>(fresh), options, fresh == FreshMemory::Zeros);
}

} // namespace kiln::hal
