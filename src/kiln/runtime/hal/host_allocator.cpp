#include "kiln/runtime/hal/host_allocator.h"

#include "kiln/base/sanitized.h"
#include "kiln/runtime/hal/debug_allocator.h"

namespace kiln::hal {

static Ref<Allocator> decorate(Ref<Allocator> direct, const DeviceOptions &options,
                               const CachingAllocatorOptions &caching) {
  switch (options.allocator) {
  case AllocatorKind::Direct: break;
  case AllocatorKind::Default:
    if (kSanitized)
      break;
    [[fallthrough]];
  case AllocatorKind::Caching: return makeRef<CachingAllocator>(std::move(direct), caching);
  case AllocatorKind::Debug: {
    DebugAllocatorOptions debug;
    debug.onDamage = options.onMemoryDamage;
    return makeRef<DebugAllocator>(std::move(direct), std::move(debug));
  }
  }
  return direct;
}

Ref<Allocator> decorateAllocator(Ref<Allocator> direct, const DeviceOptions &options,
                                 const CachingAllocatorOptions &caching) {
  Ref<Allocator> allocator = decorate(std::move(direct), options, caching);
  return options.wrapAllocator ? options.wrapAllocator(std::move(allocator)) : allocator;
}

Ref<Allocator> createHostAllocator(const DeviceOptions &options, FreshMemory fresh) {
  CachingAllocatorOptions caching;
  caching.zeroReused = fresh == FreshMemory::Zeros;
  return decorateAllocator(makeRef<HeapAllocator>(fresh), options, caching);
}

} // namespace kiln::hal
