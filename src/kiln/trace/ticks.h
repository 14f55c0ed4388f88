// The cheapest clock of the host, in ticks of its own; trace/recorder.h fits them to the host's monotonic clock.
#ifndef KILN_TRACE_TICKS_H
#define KILN_TRACE_TICKS_H

#include <cstdint>

#include "kiln/base/clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace kiln::trace {

inline uint64_t readTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return monotonicNanoseconds();
#endif
}

} // namespace kiln::trace

#endif // KILN_TRACE_TICKS_H
