// What the choice of a CPU configuration depends on, for families that offer them.
#ifndef KILN_MEASURE_CPU_SHAPE_H
#define KILN_MEASURE_CPU_SHAPE_H

#include <cstdint>

namespace kiln::measure {

// Any value gives legal configurations; the right one gives the best first.
struct CpuShape {
  int64_t vectorBits = 256;
  int64_t vectorRegisters = 16;
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 1 << 20;
  int64_t workers = 2;

  // 32-bit elements in a vector.
  int64_t lanes() const { return vectorBits < 64 ? 1 : vectorBits / 32; }

  // Of the CPU that this runs on.
  static CpuShape host();
};

} // namespace kiln::measure

#endif // KILN_MEASURE_CPU_SHAPE_H
