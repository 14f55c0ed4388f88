// What peak_kernels.cpp and warpgroup_kernels.cpp are told, which the host copies to the device byte by byte.
#ifndef KILN_MEASURE_DEVICE_PEAK_TASKS_H
#define KILN_MEASURE_DEVICE_PEAK_TASKS_H

#include <stdint.h>

namespace kiln::measure {

inline constexpr int32_t kPeakThreads = 256; // of a block

struct PeakTask {
  uint64_t rounds = 0;
  uint64_t vectors = 0; // of 16 bytes, that are read or copied in each round
};

// Operands of arithmetic: first what sums start with, which the host knows to be equal and the kernel's compiler does
// not, then numbers.
inline constexpr int32_t kStartBytes = 1024, kNumberBytes = 4096;

// Of a thread, at a time; `vectors` is a multiple of what all threads load.
inline constexpr int32_t kLoadsInFlight = 4;
// That a block reads in each round.
inline constexpr int32_t kSharedBytes = 16384;

static_assert(sizeof(PeakTask) == 16);

} // namespace kiln::measure

#endif // KILN_MEASURE_DEVICE_PEAK_TASKS_H
