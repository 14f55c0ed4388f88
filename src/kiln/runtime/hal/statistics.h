// How much memory an allocator has handed out.
#ifndef KILN_RUNTIME_HAL_STATISTICS_H
#define KILN_RUNTIME_HAL_STATISTICS_H

#include <cstdint>

namespace kiln::hal {

// In bytes, of one kind of memory.
struct MemoryUsage {
  uint64_t peak = 0;      // the most that was live at one time
  uint64_t allocated = 0; // sum of all allocations
  uint64_t freed = 0;     // sum of all frees
  uint64_t live = 0;      // allocated - freed
};

// A copy of the counters at one moment. Imported memory is nobody's allocation and is not counted.
struct AllocatorStatistics {
  MemoryUsage hostLocal;   // memory that the host addresses; all memory of a CPU device
  MemoryUsage deviceLocal; // memory of the device's own
  // The part of the two above that was asked for as BufferUsage::Transient: what a program's own intermediate values
  // occupy.
  MemoryUsage transient;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_STATISTICS_H
