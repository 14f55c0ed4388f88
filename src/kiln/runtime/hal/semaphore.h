// A timeline: a number that only grows, and that host and device can wait on. All functions may be called on any
// thread.
#ifndef KILN_RUNTIME_HAL_SEMAPHORE_H
#define KILN_RUNTIME_HAL_SEMAPHORE_H

#include "kiln/base/clock.h"
#include "kiln/base/ref.h"
#include "kiln/base/status.h"

#include <cstdint>

namespace kiln::hal {

// Told once when a semaphore has reached a value or failed. Intrusive: the listener's owner keeps it alive until it has
// been called or removed.
class SemaphoreListener {
public:
  // On the thread that signals, with no lock held; must not wait. The listener may be destroyed inside.
  virtual void onReached(Status status) = 0;

protected:
  ~SemaphoreListener() = default;

private:
  friend class HostSemaphore;
  SemaphoreListener *next = nullptr;
  uint64_t value = 0;
};

class Semaphore : public RefCounted {
public:
  // The value reached, or the status it failed with.
  virtual Result<uint64_t> query() const = 0;
  // Raises the value; a value that is not greater than the present one is InvalidArgument. After a failure it is that
  // failure.
  virtual Status signal(uint64_t value) = 0;
  // Ends the timeline: every wait, now and later, gets the status. The first failure stays.
  virtual void fail(Status status) = 0;
  // Until the value is reached; DeadlineExceeded where that takes too long, and the failure where it failed.
  virtual Status wait(uint64_t value, Deadline deadline) = 0;

  // True where `value` is reached or the semaphore has failed. Never waits.
  virtual bool isReached(uint64_t value) const = 0;
  // Calls the listener when `value` is reached or the semaphore fails. Returns false, and does not call it, where that
  // is so already. A semaphore that is destroyed before it gets there calls it with Cancelled.
  virtual bool listen(uint64_t value, SemaphoreListener &listener) = 0;
  // Afterwards the listener is not called any more. Returns false where it has been called, or is being called,
  // already.
  virtual bool unlisten(SemaphoreListener &listener) = 0;

  // What was to signal it does not end: the device that was to do it, if there is one, takes nothing any more, and says
  // why.
  virtual void loseDevice(Status) {} // NOLINT(performance-unnecessary-value-param): others keep it

protected:
  Semaphore() = default;
  ~Semaphore() override = default;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_SEMAPHORE_H
