#include "kiln/runtime/hal/fence_listener.h"

namespace kiln::hal {

void FenceListener::listen(Fence &fence) {
  std::span<const SemaphorePoint> targets = fence.points();
  points = std::make_unique<Point[]>(targets.size());
  // One more, for this loop: nothing completes before all are listened to.
  missing.store(targets.size() + 1, std::memory_order_relaxed);
  for (size_t i = 0; i < targets.size(); ++i) {
    points[i].owner = this;
    if (targets[i].semaphore->listen(targets[i].value, points[i]))
      continue;
    Result<uint64_t> value = targets[i].semaphore->query();
    arrive(value.ok() ? okStatus() : std::move(value).status());
  }
  arrive(okStatus());
}

void FenceListener::arrive(Status status) {
  if (!status.ok()) {
    std::lock_guard lock(mutex);
    if (failure.ok())
      failure = std::move(status);
  }
  if (missing.fetch_sub(1, std::memory_order_acq_rel) == 1)
    onSignaled(std::move(failure));
}

} // namespace kiln::hal
