// For sources that clang compiles for GPUs: what their kernels share. Without the standard library, which has no
// headers for GPUs.
#ifndef KILN_MEASURE_DEVICE_KERNEL_PARTS_H
#define KILN_MEASURE_DEVICE_KERNEL_PARTS_H

#include "kiln/measure/device/peak_tasks.h"

#define KILN_KERNEL extern "C" [[clang::nvptx_kernel]] void
// Workgroup counts and scratch memory, which no kernel needs here.
#define KILN_OTHER_PARAMETERS uint64_t, uint64_t, uint64_t, uint64_t
#define KILN_GLOBAL __attribute__((address_space(1)))
#define KILN_SHARED __attribute__((address_space(3)))

namespace kiln::measure {

inline uint64_t threadIndex() {
  return __nvvm_read_ptx_sreg_tid_x();
}
inline uint64_t threadOfAll() {
  return uint64_t(__nvvm_read_ptx_sreg_ctaid_x()) * kPeakThreads + threadIndex();
}
inline uint64_t threadCount() {
  return uint64_t(__nvvm_read_ptx_sreg_nctaid_x()) * kPeakThreads;
}

// A number of the operands that differs between neighbours.
template <typename T> T numberOf(const T *operands, uint64_t place) {
  return operands[kStartBytes / sizeof(T) + place % (kNumberBytes / sizeof(T))];
}

} // namespace kiln::measure

#endif // KILN_MEASURE_DEVICE_KERNEL_PARTS_H
