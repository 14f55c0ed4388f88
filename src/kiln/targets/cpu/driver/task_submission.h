// One execution of a command buffer on the scheduler.
#ifndef KILN_TARGETS_CPU_DRIVER_TASK_SUBMISSION_H
#define KILN_TARGETS_CPU_DRIVER_TASK_SUBMISSION_H

#include "kiln/runtime/hal/fence_listener.h"
#include "kiln/runtime/task/scheduler.h"
#include "kiln/targets/cpu/driver/cpu_command_buffer.h"
#include "kiln/targets/cpu/driver/task_device.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

namespace kiln::hal {

// A job of as many steps as the command buffer has waves. In a step every command has a counter from which workers
// claim stretches of its units; workers start at different commands, so that independent dispatches overlap. Whoever
// finishes the last unit of a wave opens the next one.
//
// Owns itself, from `start` until `retire`, in one block of memory with its arrays.
class TaskSubmission final : public task::Job, public FenceListener {
public:
  // Returns the fence of the completion. What a failure later on leaves undone stays undone: the waves after it are
  // skipped.
  static Result<Ref<Fence>> start(TaskDevice &device, Fence *wait, CpuCommandBuffer &commands,
                                  std::span<const Binding> bindings, ExecutionTimes *times);

  Progress work(task::Worker &worker) override;
  void complete() override;
  void retire() override;

private:
  // Apart from each other, because different workers write them.
  struct alignas(64) Counter {
    std::atomic<uint64_t> next{0};
  };

  // Of work that several workers do.
  struct WorkTimes {
    std::atomic<uint64_t> begin{UINT64_MAX}, end{0};
    // That a worker has been at it from then until now.
    void note(uint64_t began);
    TickRange range() const;
  };

  TaskSubmission(TaskDevice &device, CpuCommandBuffer &commands, std::span<const Binding> bindings,
                 ExecutionTimes *times);
  ~TaskSubmission();
  static void operator delete(void *block);

  void onSignaled(Status status) override;
  void enqueue(task::Scheduler &target);
  bool claim(const CpuCommand &command, Counter &counter, uint64_t &begin, uint64_t &end) const;
  uint64_t runWave(const CpuWave &wave, task::Worker &worker);
  void runUnits(const CpuCommand &command, uint64_t begin, uint64_t end, task::Worker &worker);
  // False where there is no wave left.
  bool openNextWave(uint32_t finished);
  void fail(Status status);
  void fillTimes();

  task::Scheduler &scheduler;
  const Ref<CpuCommandBuffer> commands;
  const Ref<CallLimit> limit; // of the call that submitted it; null where it has none
  Ref<TaskSemaphore> done;
  // In this block: a counter for each command, the addresses of all bindings, the buffers, which are retained.
  Counter *counters;
  void **addresses;
  Ref<Buffer> *buffers;
  size_t bufferCount;
  const Ref<ExecutionTimes> times;              // null where nobody asks
  std::unique_ptr<WorkTimes[]> timesOfDispatch; // null where nobody asks

  alignas(64) std::atomic<uint32_t> wave{0}; // the one that is open
  std::atomic<uint64_t> unfinished{0};       // units of that wave
  std::atomic<bool> nothingClaimed{false};   // of a submission that has nothing to run
  std::atomic<bool> failed{false};
  WorkTimes timesOfAll;
  std::mutex mutex;
  Status failure; // guarded
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CPU_DRIVER_TASK_SUBMISSION_H
