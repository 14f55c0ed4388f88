// A set of points on timelines, which stands for work: it is signalled when every point is reached. Immutable; all
// functions may be called on any thread. A null Fence pointer stands for no work.
#ifndef KILN_RUNTIME_HAL_FENCE_H
#define KILN_RUNTIME_HAL_FENCE_H

#include "kiln/base/call_limit.h"
#include "kiln/base/clock.h"
#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/hal/semaphore.h"

#include <cstdint>
#include <memory>
#include <span>

namespace kiln::hal {

struct SemaphorePoint {
  Ref<Semaphore> semaphore;
  uint64_t value = 0;
};

class Fence : public RefCounted {
public:
  // Signalled from the start.
  static Ref<Fence> signaled();
  static Ref<Fence> create(Ref<Semaphore> semaphore, uint64_t value);
  // Of several points on one timeline the greatest is kept.
  static Ref<Fence> create(std::span<const SemaphorePoint> points);
  // Signalled when all are; nulls count as signalled. One fence alone is returned itself.
  static Ref<Fence> join(std::span<Fence *const> fences);
  // Has failed with `status` from the start.
  static Ref<Fence> failed(Status status);

  std::span<const SemaphorePoint> points() const { return {pointCount > 1 ? many.get() : &single, pointCount}; }

  // True where every point is reached, or any has failed. Never waits.
  bool isSignaled() const;
  // Until it is signalled. Success, the first failure among the points, or DeadlineExceeded. On a device with workers
  // the thread works while it waits.
  Status wait(Deadline deadline = Deadline::infinite()) const;
  // The same for as long as the call has time; null: without an end. Work that was submitted for the call then ends by
  // itself; what has not ended a moment later never may, and its device is lost where the call leaves it behind.
  Status waitWithin(const CallLimit *limit) const;
  // In the same way until fewer than `count` points are not reached; the oldest, which stand first, are awaited first.
  // Gives the fence of the rest.
  Result<Ref<Fence>> waitUntilFewer(uint32_t count, const CallLimit *limit);

private:
  Fence() = default;
  SemaphorePoint single;                  // where pointCount is 1
  std::unique_ptr<SemaphorePoint[]> many; // where it is more
  uint32_t pointCount = 0;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_FENCE_H
