// The device local-sync: everything runs inside of `execute`, on the thread that calls it.
#ifndef KILN_TARGETS_CPU_DRIVER_SYNC_DEVICE_H
#define KILN_TARGETS_CPU_DRIVER_SYNC_DEVICE_H

#include "kiln/runtime/hal/inline_queue.h"
#include "kiln/runtime/task/job.h"
#include "kiln/targets/cpu/driver/cpu_device.h"

#include <mutex>

namespace kiln::hal {

class CpuCommandBuffer;

// Work that must wait for a fence runs on the thread that signals the fence. The device is one queue: what several
// threads execute at once runs one after the other.
class SyncDevice final : public CpuDevice {
public:
  SyncDevice(std::string uri, const DeviceOptions &options);

  Result<Ref<Semaphore>> createSemaphore(uint64_t initialValue) override;

protected:
  Result<Ref<Fence>> submit(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                            ExecutionTimes *times) override;

private:
  // `times` and `limit` may be null.
  Status run(const CpuCommandBuffer &commands, std::span<const Binding> bindings, ExecutionTimes *times,
             const CallLimit *limit);

  Ref<InlineQueue> queue;
  Ref<Fence> done; // signalled: what every successful execution returns
  std::timed_mutex mutex;
  task::Worker worker{0}; // guarded
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CPU_DRIVER_SYNC_DEVICE_H
