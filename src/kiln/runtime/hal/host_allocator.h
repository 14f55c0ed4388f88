// The allocator of a device that addresses host memory, as its options ask.
#ifndef KILN_RUNTIME_HAL_HOST_ALLOCATOR_H
#define KILN_RUNTIME_HAL_HOST_ALLOCATOR_H

#include "kiln/runtime/hal/allocator.h"
#include "kiln/runtime/hal/caching_allocator.h"
#include "kiln/runtime/hal/device.h"
#include "kiln/runtime/hal/heap_allocator.h"

namespace kiln::hal {

// A device's direct allocator, wrapped as the options ask for; `caching` is for the one that keeps memory.
Ref<Allocator> decorateAllocator(Ref<Allocator> direct, const DeviceOptions &options,
                                 const CachingAllocatorOptions &caching = {});

// A HeapAllocator, decorated as `options.allocator` says. Memory that a debugging one hands out is poisoned in any
// case.
Ref<Allocator> createHostAllocator(const DeviceOptions &options, FreshMemory fresh = FreshMemory::Undefined);

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_HOST_ALLOCATOR_H
