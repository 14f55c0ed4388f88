// When the work for a call is to end before it is done: at a deadline, or when somebody cancels it.
//
//   Ref<CallLimit> limit = makeRef<CallLimit>(Deadline::after(1'000'000'000));
//   CallLimit::Scope scope(*limit);
//   Status status = session->call(...);            // DEADLINE_EXCEEDED after a second
//
// Whoever works for a call, on any thread, asks now and then whether it is over: the VM where a program branches or
// calls, a device before each workgroup and each 16 MiB of a fill or copy. What is under way then is left undone.
#ifndef KILN_BASE_CALL_LIMIT_H
#define KILN_BASE_CALL_LIMIT_H

#include <atomic>

#include "kiln/base/clock.h"
#include "kiln/base/ref.h"
#include "kiln/base/status.h"

namespace kiln {

class CallLimit final : public RefCounted {
public:
  // What the caller does about a workgroup that goes on although the call is over: leaves it behind, which its device
  // does not survive, or waits for it. Who never leaves may do a device's work while it waits for it, so that its calls
  // take no longer than those without a limit.
  enum class Stuck { Leave, Await };
  explicit CallLimit(Deadline deadline = Deadline::infinite(), Stuck stuck = Stuck::Leave)
      : end(deadline), stuck(stuck) {}

  // From any thread, and from a signal handler.
  void cancel() { isCancelled.store(true, std::memory_order_relaxed); }
  Deadline deadline() const { return end; }
  bool leavesStuckWork() const { return stuck == Stuck::Leave; }

  // A load, and a reading of the clock where there is a deadline.
  bool isOver() const {
    return isCancelled.load(std::memory_order_relaxed) || (!end.isInfinite() && end.remaining() == 0);
  }
  // Why it is over.
  Status status() const;

  // Of the call that this thread works for; null where that has no limit.
  static CallLimit *current() { return ofThread; }

  // For as long as it lives, this thread works for a call with this limit, and with no other.
  class Scope {
  public:
    explicit Scope(CallLimit &limit) : outer(std::exchange(ofThread, &limit)) {}
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    ~Scope() { ofThread = outer; }

  private:
    CallLimit *outer;
  };

private:
  static thread_local constinit CallLimit *ofThread;

  const Deadline end;
  const Stuck stuck;
  std::atomic<bool> isCancelled{false};
};

} // namespace kiln

#endif // KILN_BASE_CALL_LIMIT_H
