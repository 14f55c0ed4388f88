#include "kiln/runtime/hal/inline_queue.h"

#include "kiln/runtime/hal/fence_listener.h"
#include "kiln/runtime/hal/host_semaphore.h"

#include <memory>
#include <utility>

namespace kiln::hal {

class InlineQueue::Deferred final : public FenceListener {
public:
  Deferred(Ref<InlineQueue> queue, std::function<Status()> work)
      : done(makeRef<HostSemaphore>(0)), queue(std::move(queue)), work(std::move(work)) {}

  void complete() {
    if (waitStatus.ok())
      waitStatus = work();
    work = nullptr;
    if (!waitStatus.ok())
      done->fail(std::move(waitStatus));
    else if (Status status = done->signal(1); !status.ok())
      done->fail(std::move(status));
  }

  const Ref<HostSemaphore> done;

private:
  void onSignaled(Status status) override {
    waitStatus = std::move(status);
    // The queue lives through the call, which may destroy this.
    Ref<InlineQueue> keep = queue;
    keep->ready(this);
  }

  Ref<InlineQueue> queue;
  std::function<Status()> work;
  Status waitStatus;
};

Ref<Fence> InlineQueue::run(Fence *wait, std::function<Status()> work) {
  if (!wait || wait->isSignaled()) {
    Status status = wait ? wait->wait(Deadline::immediate()) : okStatus();
    if (status.ok())
      status = work();
    work = nullptr;
    return status.ok() ? Fence::signaled() : Fence::failed(std::move(status));
  }
  auto *deferred = new Deferred(Ref<InlineQueue>::share(this), std::move(work));
  Ref<Fence> fence = Fence::create(deferred->done, 1);
  deferred->listen(*wait);
  return fence;
}

void InlineQueue::ready(Deferred *work) {
  std::unique_lock lock(mutex);
  readyWork.push_back(work);
  if (draining)
    return;
  draining = true;
  while (!readyWork.empty()) {
    std::unique_ptr<Deferred> next(readyWork.front());
    readyWork.pop_front();
    lock.unlock();
    next->complete();
    next.reset();
    lock.lock();
  }
  draining = false;
}

} // namespace kiln::hal
