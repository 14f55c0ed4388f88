// Queues of a discrete device: each has a thread, which runs what was put into it in order, after a while.
#ifndef KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_QUEUE_H
#define KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_QUEUE_H

#include "kiln/base/call_limit.h"
#include "kiln/base/random.h"
#include "kiln/runtime/hal/execution_times.h"
#include "kiln/runtime/hal/fence_listener.h"
#include "kiln/runtime/hal/host_semaphore.h"
#include "kiln/runtime/task/job.h"
#include "kiln/targets/cpu/driver/cpu_command_buffer.h"
#include "kiln/targets/discrete/driver/discrete_memory.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace kiln::hal {

class DiscreteDevice;

class DiscreteCommandBuffer final : public CpuCommandBuffer {
public:
  DiscreteCommandBuffer(Device *device, std::shared_ptr<DiscreteMemory> memory, CommandBufferMode mode,
                        uint32_t slotCount)
      : CpuCommandBuffer(device, mode, slotCount), memory(std::move(memory)) {}

protected:
  bool canAddress(const Buffer &buffer) const override { return DiscreteBuffer::find(*memory, buffer) != nullptr; }

private:
  const std::shared_ptr<DiscreteMemory> memory;
};

// One execution of a command buffer; retains what it uses.
class DiscreteSubmission final : public FenceListener {
public:
  // Puts it into one of the queues when `wait`, which may be null, is signalled. `times` may be null, too.
  static Ref<Fence> start(DiscreteDevice &device, Fence *wait, DiscreteCommandBuffer &commands,
                          std::span<const Binding> bindings, uint64_t queues, ExecutionTimes *times);

private:
  friend class DiscreteQueue;
  DiscreteSubmission(DiscreteDevice &device, DiscreteCommandBuffer &commands, std::span<const Binding> bindings);
  ~DiscreteSubmission();
  void onSignaled(Status status) override;
  Status run(Random &random, task::Worker &worker);
  Status runCommands(Random &random, task::Worker &worker);
  // Drops what is retained, then signals, and is gone.
  void complete(Status status);

  const Ref<HostSemaphore> done;
  Ref<DiscreteDevice> device;
  const uint64_t number; // of those of the device
  Ref<DiscreteCommandBuffer> commands;
  const Ref<CallLimit> limit; // of the call that submitted it; null where it has none
  std::vector<Ref<Buffer>> retained;
  std::vector<Binding> table; // of what the device sees of the buffers
  uint64_t queues = 0;        // a mask
  Ref<ExecutionTimes> times;
};

class DiscreteQueue final : public RefCounted {
public:
  DiscreteQueue(const DiscreteSettings &settings, uint32_t index);

  void put(DiscreteSubmission *submission);
  // Submissions up to this number may start.
  void startUntil(uint64_t number);
  // Nothing is put into it any more; called by the device's destructor, on any thread.
  void shutDown();

private:
  ~DiscreteQueue() override = default;
  void work();
  void delay();
  // The first that may start; the end of `waiting` where there is none.
  std::deque<DiscreteSubmission *>::iterator next();

  const uint64_t delayMicros;
  Random random; // of the thread
  task::Worker worker{0};
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<DiscreteSubmission *> waiting; // guarded; owned
  uint64_t lastToStart;                     // guarded
  bool stopping = false;                    // guarded
  std::thread thread;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_QUEUE_H
