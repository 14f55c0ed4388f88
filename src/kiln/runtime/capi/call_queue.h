// Calls that run one after another on a thread of their own. Internal to the C API.
#ifndef KILN_RUNTIME_CAPI_CALL_QUEUE_H
#define KILN_RUNTIME_CAPI_CALL_QUEUE_H

#include <memory>
#include <thread>

#include "kiln/base/status.h"

namespace kiln::capi {

// A call of a compiled program blocks its thread while a device works, so that calls that return at once need another
// thread. With one for each session, calls that wait for nothing but fences that they were submitted with cannot
// deadlock, since these fences are older than the call; native functions that wait for others can. The thread starts
// with the first call, and sleeps while there is none.
class CallQueue {
public:
  class Call {
  public:
    virtual ~Call() = default;
    // On the queue's thread. May destroy the queue.
    virtual void run() noexcept = 0;
  };

  CallQueue();
  // No call may be left but one that is running, and destroys the queue.
  ~CallQueue();
  CallQueue(const CallQueue &) = delete;
  CallQueue &operator=(const CallQueue &) = delete;

  // Starts the thread unless it runs. Fails where there is none to be had.
  Status start();
  // Needs a successful start. Throws std::bad_alloc, and has taken nothing then.
  void push(std::unique_ptr<Call> call);
  bool isOwnThread() const;

private:
  struct State;
  const std::shared_ptr<State> state; // shared with the thread, which may outlive the queue by a moment
};

} // namespace kiln::capi

#endif // KILN_RUNTIME_CAPI_CALL_QUEUE_H
