// Waiting for a fence without a thread.
#ifndef KILN_RUNTIME_HAL_FENCE_LISTENER_H
#define KILN_RUNTIME_HAL_FENCE_LISTENER_H

#include "kiln/runtime/hal/fence.h"
#include "kiln/runtime/hal/semaphore.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace kiln::hal {

// Told once when every point of a fence has been reached or has failed. Must live until then.
//
// It retains neither fence nor semaphores: a semaphore that nobody is left to signal is destroyed, which fails it, so
// that no work waits for ever and keeps itself alive by waiting.
class FenceListener {
public:
  // Starts to listen. `onSignaled` is called by this call where the fence is signalled already.
  void listen(Fence &fence);

protected:
  FenceListener() = default;
  ~FenceListener() = default;

  // With the first failure, if any; on the thread that signals the last point. May destroy the listener.
  virtual void onSignaled(Status status) = 0;

private:
  class Point final : public SemaphoreListener {
  public:
    void onReached(Status status) override { owner->arrive(std::move(status)); }
    FenceListener *owner = nullptr;
  };
  void arrive(Status status);

  std::unique_ptr<Point[]> points;
  std::atomic<size_t> missing{0};
  std::mutex mutex;
  Status failure; // guarded
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_FENCE_LISTENER_H
