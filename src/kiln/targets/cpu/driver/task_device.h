// The device local-task: command buffers run on the workers of a scheduler.
#ifndef KILN_TARGETS_CPU_DRIVER_TASK_DEVICE_H
#define KILN_TARGETS_CPU_DRIVER_TASK_DEVICE_H

#include "kiln/runtime/hal/host_semaphore.h"
#include "kiln/runtime/task/scheduler.h"
#include "kiln/targets/cpu/driver/cpu_device.h"

#include <memory>

namespace kiln::hal {

class TaskDevice final : public CpuDevice {
public:
  TaskDevice(std::string uri, const DeviceOptions &options, std::shared_ptr<task::Scheduler> scheduler);

  task::Scheduler &scheduler() const { return *workers; }
  uint32_t workerCount() const override { return workers->workerCount(); }
  Result<Ref<Semaphore>> createSemaphore(uint64_t initialValue) override;

protected:
  // Submissions retain the device, so that none is in flight; may run on a worker.
  ~TaskDevice() override;
  Result<Ref<Fence>> submit(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                            ExecutionTimes *times) override;

private:
  std::shared_ptr<task::Scheduler> workers;
};

// A timeline whose waiters lend themselves to the device's scheduler.
class TaskSemaphore final : public HostSemaphore {
public:
  TaskSemaphore(Ref<TaskDevice> device, uint64_t initialValue)
      : HostSemaphore(initialValue), device(std::move(device)) {}

  Status wait(uint64_t target, Deadline deadline) override;
  void loseDevice(Status why) override { device->lose(std::move(why)); }

private:
  Ref<TaskDevice> device;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CPU_DRIVER_TASK_DEVICE_H
