#include "kiln/runtime/task/parker.h"

#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kiln::task {

static_assert(sizeof(std::atomic<uint32_t>) == 4, "a futex is 32 bits");

void Parker::unpark() {
  void *address = &state;
  if (state.exchange(Token, std::memory_order_acq_rel) == Sleeping)
    // The object may be gone by now; waking an address at which nobody sleeps does nothing.
    syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

bool Parker::park(Deadline deadline) {
  uint32_t expected = Empty;
  if (!state.compare_exchange_strong(expected, Sleeping, std::memory_order_acquire)) {
    state.exchange(Empty, std::memory_order_acquire);
    return true;
  }
  timespec at{};
  if (!deadline.isInfinite()) {
    at.tv_sec = time_t(deadline.nanoseconds() / 1'000'000'000);
    at.tv_nsec = long(deadline.nanoseconds() % 1'000'000'000);
  }
  for (;;) {
    // The time is absolute, on CLOCK_MONOTONIC, which is also the clock of deadlines.
    long result = syscall(SYS_futex, &state, FUTEX_WAIT_BITSET_PRIVATE, uint32_t(Sleeping),
                          deadline.isInfinite() ? nullptr : &at, nullptr, FUTEX_BITSET_MATCH_ANY);
    bool expired = result < 0 && errno == ETIMEDOUT;
    expected = Token;
    if (state.compare_exchange_strong(expected, Empty, std::memory_order_acquire))
      return true;
    if (!expired)
      continue;
    expected = Sleeping;
    if (state.compare_exchange_strong(expected, Empty, std::memory_order_acquire))
      return false;
  }
}

} // namespace kiln::task
