// A processor that executes command buffers. All functions may be called on any thread.
//
// Dropping the last reference to a device is allowed at any time: submitted work retains what it needs and completes.
#ifndef KILN_RUNTIME_HAL_DEVICE_H
#define KILN_RUNTIME_HAL_DEVICE_H

#include "kiln/base/clock_fit.h"
#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/hal/allocator.h"
#include "kiln/runtime/hal/command_buffer.h"
#include "kiln/runtime/hal/device_clock.h"
#include "kiln/runtime/hal/device_limits.h"
#include "kiln/runtime/hal/device_loss.h"
#include "kiln/runtime/hal/executable.h"
#include "kiln/runtime/hal/execution_times.h"
#include "kiln/runtime/hal/fence.h"
#include "kiln/runtime/hal/ordered_memory.h"
#include "kiln/runtime/hal/semaphore.h"
#include "kiln/runtime/hal/traced_submission.h"
#include "kiln/runtime/task/options.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace kiln::hal {

// What a device is created with; a driver reads what concerns it.
struct DeviceOptions {
  AllocatorKind allocator = AllocatorKind::Default;
  // Given the allocator of that kind, makes the one that the device uses. May be empty.
  std::function<Ref<Allocator>(Ref<Allocator>)> wrapAllocator;
  // Workers of devices that run on the CPU.
  task::SchedulerOptions task;
  // A folder, created where it is missing, in which the code that CPU devices load stays as files, so that perf can
  // still name kernels when the process has ended. The newest few hundred are kept. Empty, or not writable: code is
  // loaded from memory, where debuggers see its names and perf shows addresses.
  std::string executableFolder;
  // Told, on any thread, of damage that the debug allocator finds when a buffer is freed; Allocator::verify reports it
  // too.
  std::function<void(const Status &)> onMemoryDamage;
};

class Device : public RefCounted {
public:
  static constexpr uint64_t kAnyQueue = ~uint64_t(0);

  // The URI it was created from: "local-task", "cuda://0".
  std::string_view uri() const { return deviceUri; }
  Allocator &allocator() const { return *deviceAllocator; }
  // How many workgroups can run at the same time on workers of this process; 1 where the calling thread does all.
  virtual uint32_t workerCount() const { return 1; }
  // How many queues it has in which work goes on without the host; 0 where threads of this process do it, so that
  // nothing is gained by submitting more before waiting for what was submitted.
  virtual uint32_t queueCount() const { return 0; }

  const DeviceLimits &limits() const { return deviceLimits; }
  // Of the cache that all of the device shares; 0 where it does not tell.
  virtual uint64_t cacheBytes() const { return 0; }

  // Success where the device can load it; otherwise why not. Reads no native code.
  virtual Status checkExecutable(const ExecutableSource &source) const = 0;
  virtual Result<Ref<Executable>> createExecutable(const ExecutableSource &source) = 0;

  // Open for recording.
  virtual Result<Ref<CommandBuffer>> createCommandBuffer(CommandBufferMode mode, uint32_t slotCount) = 0;
  virtual Result<Ref<Semaphore>> createSemaphore(uint64_t initialValue) = 0;

  // Runs a finalized command buffer of this device after `wait` (null: at once). The error is of the call; what goes
  // wrong later, also a failure of `wait`, arrives at the fence. Retains everything it uses until completion.
  // Where it has queues, one of those whose bits are set in `queues` runs it: bit i is queue i, modulo their number.
  // What is in one queue runs in the order in which it became ready. `times`, which may be null, gets the times of this
  // one.
  Result<Ref<Fence>> execute(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                             uint64_t queues = kAnyQueue, ExecutionTimes *times = nullptr);

  // A buffer for work that waits for `wait`, which may be memory that was released behind the same fence. Where there
  // is no other memory, the host waits for the fence.
  Result<Ref<Buffer>> allocateOrdered(Fence *wait, BufferUsage usage, uint64_t length);
  // Nothing uses the buffer after `after`. Keeps it for others until that is signalled.
  void releaseOrdered(Fence *after, Buffer &buffer);

  // A tick of the clock that ExecutionTimes are of, which never runs backwards, and when that was. May wait for the
  // device. By default the clock is the host's.
  virtual Result<ClockSample> sampleClock();
  virtual bool hasHostClock() const { return true; }
  // From now on whoever has the watch can ask for the times of all that is executed. Nobody executes meanwhile.
  void watch(std::shared_ptr<ExecutionWatch> watch) { executionWatch = std::move(watch); }

  // Puts timestamps of the device's own clock around submissions; null where it has none. Lives as long as the device.
  virtual DeviceClock *clock() { return nullptr; }
  // What `execute` is given is also added to `target` from now on; null ends that. Nobody else executes meanwhile.
  void keepSubmissions(std::vector<Submission> *target) { kept = target; }

  // From now on `execute` fails, and says why. What it was given before may be in use for ever.
  void lose(Status why) { loss->set(std::move(why)); }
  // Why it takes no more work; success while it does.
  Status checkNotLost() const { return loss->isSet() ? loss->status(uri()) : okStatus(); }

protected:
  // `loss` is shared with what else finds out that the device does not work, such as its buffers.
  Device(std::string uri, Ref<Allocator> allocator, std::shared_ptr<DeviceLoss> loss = std::make_shared<DeviceLoss>());
  ~Device() override = default;

  DeviceLimits deviceLimits; // set by the subclass, before anybody uses the device

  // With checked arguments. `times`, which may be null, has room for the dispatches that it is to tell of.
  virtual Result<Ref<Fence>> submit(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                                    ExecutionTimes *times) = 0;
  // The same for a device with several queues; some bit is set.
  virtual Result<Ref<Fence>> submitTo(uint64_t queues, Fence *wait, CommandBuffer *commands,
                                      std::span<const Binding> bindings, ExecutionTimes *times) {
    return submit(wait, commands, bindings, times);
  }

private:
  std::string deviceUri;
  Ref<Allocator> deviceAllocator;
  std::shared_ptr<DeviceLoss> loss;
  std::vector<Submission> *kept = nullptr;
  const Ref<OrderedMemory> ordered = makeRef<OrderedMemory>();
  std::shared_ptr<ExecutionWatch> executionWatch;
  std::mutex traceMutex;
  std::shared_ptr<DeviceTrace> trace; // guarded; null until it is recorded
  DeviceTrace &deviceTrace();
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_DEVICE_H
