#include "kiln/targets/cpu/driver/task_device.h"

#include "kiln/runtime/task/spin.h"
#include "kiln/targets/cpu/driver/task_submission.h"

#include <algorithm>
#include <atomic>
#include <sched.h>
#include <utility>

namespace kiln::hal {

TaskDevice::TaskDevice(std::string uri, const DeviceOptions &options, std::shared_ptr<task::Scheduler> scheduler)
    : CpuDevice(std::move(uri), options), workers(std::move(scheduler)) {}

TaskDevice::~TaskDevice() {
  workers->shutDown();
}

Result<Ref<Semaphore>> TaskDevice::createSemaphore(uint64_t initialValue) {
  return Ref<Semaphore>(makeRef<TaskSemaphore>(Ref<TaskDevice>::share(this), initialValue));
}

Result<Ref<Fence>> TaskDevice::submit(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                                      ExecutionTimes *times) {
  return TaskSubmission::start(*this, wait, *static_cast<CpuCommandBuffer *>(commands), bindings, times);
}

namespace {

class SemaphoreCondition final : public task::WaitCondition, public SemaphoreListener {
public:
  SemaphoreCondition(Semaphore &semaphore, uint64_t target) : semaphore(semaphore), target(target) {}

  bool isMet() const override { return semaphore.isReached(target); }

  bool arm(task::Parker &parkerOfWaiter) override {
    parker = &parkerOfWaiter;
    return semaphore.listen(target, *this);
  }

  void disarm() override {
    if (semaphore.unlisten(*this))
      return;
    // The call is under way: it ends in a moment, unless its thread is interrupted in the middle.
    for (uint32_t i = 0; !called.load(std::memory_order_acquire); ++i) {
      task::cpuRelax();
      if (i % 64 == 63)
        sched_yield();
    }
  }

  void onReached(Status) override {
    parker->unpark();
    // The last touch: the waiter may be gone after it.
    called.store(true, std::memory_order_release);
  }

private:
  Semaphore &semaphore;
  const uint64_t target;
  task::Parker *parker = nullptr;
  std::atomic<bool> called{false};
};

} // namespace

Status TaskSemaphore::wait(uint64_t target, Deadline deadline) {
  if (isReached(target))
    return outcome();
  SemaphoreCondition condition(*this, target);
  // Who has to come back in time runs no workgroups, of which one may never end.
  task::Scheduler &scheduler = device->scheduler();
  const CallLimit *limit = CallLimit::current();
  const bool leavesStuckWork = limit && limit->leavesStuckWork();
  for (;;) {
    // A device that is lost meanwhile may never come to what waits in its queue.
    constexpr uint64_t kAskAgain = 200'000'000;
    const Deadline turn = Deadline::after(std::min(deadline.remaining(), kAskAgain));
    if (leavesStuckWork ? scheduler.wait(condition, turn) : scheduler.help(condition, turn))
      return outcome();
    KILN_RETURN_IF_ERROR(device->checkNotLost());
    if (!deadline.isInfinite() && deadline.remaining() == 0)
      return Status(StatusCode::DeadlineExceeded, "the work did not complete in time");
  }
}

} // namespace kiln::hal
