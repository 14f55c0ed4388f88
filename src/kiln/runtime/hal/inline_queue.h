// For devices without threads of their own: work that must wait runs on the thread that makes it ready.
#ifndef KILN_RUNTIME_HAL_INLINE_QUEUE_H
#define KILN_RUNTIME_HAL_INLINE_QUEUE_H

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/hal/fence.h"

#include <deque>
#include <functional>
#include <mutex>

namespace kiln::hal {

class InlineQueue : public RefCounted {
public:
  // Runs `work` when `wait` (which may be null) is signalled: at once, on this thread, where it is so already. Returns
  // the fence of its completion, with the failure of `wait` or of the work.
  //
  // `work` is destroyed before the fence is signalled, and with it what it retains. Where several pieces of work become
  // ready inside one another, they run one after the other, on the thread that runs the first: long chains need no
  // stack.
  Ref<Fence> run(Fence *wait, std::function<Status()> work);

private:
  class Deferred;
  void ready(Deferred *work);

  std::mutex mutex;
  std::deque<Deferred *> readyWork; // guarded; owned
  bool draining = false;            // guarded
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_INLINE_QUEUE_H
