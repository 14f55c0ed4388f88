// Puts one thread to sleep until another wakes it.
#ifndef KILN_RUNTIME_TASK_PARKER_H
#define KILN_RUNTIME_TASK_PARKER_H

#include "kiln/base/clock.h"

#include <atomic>
#include <cstdint>

namespace kiln::task {

// Holds at most one token. `unpark` touches the object only until the token is there: the parked thread may then
// destroy it at once.
class Parker {
public:
  Parker() = default;
  Parker(const Parker &) = delete;
  Parker &operator=(const Parker &) = delete;

  // Leaves the token, and wakes the thread if it sleeps. A system call only in that case.
  void unpark();
  // Takes the token, sleeping until there is one; false where the deadline passed without. Only one thread at a time.
  bool park(Deadline deadline = Deadline::infinite());

private:
  enum : uint32_t { Empty = 0, Token = 1, Sleeping = 2 };
  std::atomic<uint32_t> state{Empty};
};

} // namespace kiln::task

#endif // KILN_RUNTIME_TASK_PARKER_H
