#include "kiln/runtime/hal/host_semaphore.h"

#include "kiln/runtime/task/parker.h"

#include <utility>

namespace kiln::hal {

HostSemaphore::~HostSemaphore() {
  // Nobody can signal any more.
  if (listeners)
    fail(cancelled("a semaphore was destroyed before it was signalled"));
}

Status HostSemaphore::outcome() const {
  if (value.load(std::memory_order_acquire) != kFailed) [[likely]]
    return okStatus();
  std::lock_guard lock(mutex);
  return failure;
}

Result<uint64_t> HostSemaphore::query() const {
  uint64_t now = value.load(std::memory_order_acquire);
  if (now != kFailed)
    return now;
  return outcome();
}

Status HostSemaphore::signal(uint64_t newValue) {
  if (newValue == kFailed)
    return invalidArgument("a semaphore cannot be signalled to {}: the value is reserved", newValue);
  uint64_t now = value.load(std::memory_order_relaxed);
  do {
    if (now == kFailed)
      return outcome();
    if (newValue <= now)
      return invalidArgument("a semaphore that stands at {} cannot be signalled to {}", now, newValue);
  } while (!value.compare_exchange_weak(now, newValue, std::memory_order_seq_cst, std::memory_order_relaxed));
  // Either this sees the listener, or the listener sees the value: both are sequentially consistent.
  if (hasListeners.load(std::memory_order_seq_cst))
    tellListeners();
  return okStatus();
}

void HostSemaphore::fail(Status status) {
  {
    std::lock_guard lock(mutex);
    if (value.load(std::memory_order_relaxed) == kFailed)
      return;
    failure = status.ok() ? unknownError("a semaphore failed without a reason") : std::move(status);
    value.exchange(kFailed, std::memory_order_seq_cst);
  }
  if (hasListeners.load(std::memory_order_seq_cst))
    tellListeners();
}

void HostSemaphore::tellListeners() {
  SemaphoreListener *reached = nullptr;
  {
    std::lock_guard lock(mutex);
    uint64_t now = value.load(std::memory_order_relaxed);
    SemaphoreListener **tail = &reached;
    for (SemaphoreListener **link = &listeners; *link;) {
      SemaphoreListener *listener = *link;
      if (listener->value > now) {
        link = &listener->next;
        continue;
      }
      *link = listener->next;
      listener->next = nullptr;
      *tail = listener;
      tail = &listener->next;
    }
    hasListeners.store(listeners != nullptr, std::memory_order_seq_cst);
  }
  if (!reached)
    return;
  Status status = outcome();
  while (reached) {
    // The listener may be gone when the call returns.
    SemaphoreListener *listener = std::exchange(reached, reached->next);
    listener->onReached(status);
  }
}

bool HostSemaphore::listen(uint64_t target, SemaphoreListener &listener) {
  std::lock_guard lock(mutex);
  listener.value = target;
  listener.next = listeners;
  listeners = &listener;
  hasListeners.store(true, std::memory_order_seq_cst);
  if (value.load(std::memory_order_seq_cst) < target)
    return true;
  listeners = listener.next;
  hasListeners.store(listeners != nullptr, std::memory_order_seq_cst);
  return false;
}

bool HostSemaphore::unlisten(SemaphoreListener &listener) {
  std::lock_guard lock(mutex);
  for (SemaphoreListener **link = &listeners; *link; link = &(*link)->next) {
    if (*link != &listener)
      continue;
    *link = listener.next;
    hasListeners.store(listeners != nullptr, std::memory_order_seq_cst);
    return true;
  }
  return false;
}

namespace {

class WakeUp final : public SemaphoreListener {
public:
  void onReached(Status) override { parker.unpark(); }
  task::Parker parker;
};

} // namespace

Status HostSemaphore::wait(uint64_t target, Deadline deadline) {
  if (isReached(target))
    return outcome();
  if (deadline.isImmediate())
    return Status(StatusCode::DeadlineExceeded, "the work has not completed yet");
  WakeUp wakeUp;
  if (!listen(target, wakeUp))
    return outcome();
  if (!wakeUp.parker.park(deadline)) {
    if (unlisten(wakeUp))
      return Status(StatusCode::DeadlineExceeded, "the work did not complete in time");
    // It was reached at the last moment, and the listener is in use until it has unparked.
    wakeUp.parker.park(Deadline::infinite());
  }
  return outcome();
}

} // namespace kiln::hal
