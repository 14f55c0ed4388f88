#include "kiln/base/clock.h"

#include <ctime>

namespace kiln {

uint64_t monotonicNanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

Deadline Deadline::after(uint64_t nanoseconds) {
  uint64_t now = monotonicNanoseconds();
  return Deadline(nanoseconds < UINT64_MAX - now ? now + nanoseconds : UINT64_MAX);
}

uint64_t Deadline::remaining() const {
  if (isInfinite())
    return UINT64_MAX;
  uint64_t now = monotonicNanoseconds();
  return at > now ? at - now : 0;
}

} // namespace kiln
