// A device that runs the CPU's executables with a GPU's manners, so that what is written for GPUs is tested without
// one.
#ifndef KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_DEVICE_H
#define KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_DEVICE_H

#include "kiln/runtime/hal/device.h"
#include "kiln/targets/discrete/driver/discrete_clock.h"
#include "kiln/targets/discrete/driver/discrete_queue.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace kiln::hal {

class DiscreteDevice final : public Device {
public:
  DiscreteDevice(std::string uri, std::shared_ptr<DiscreteMemory> memory, const DeviceOptions &options);

  Status checkExecutable(const ExecutableSource &source) const override;
  Result<Ref<Executable>> createExecutable(const ExecutableSource &source) override;
  Result<Ref<CommandBuffer>> createCommandBuffer(CommandBufferMode mode, uint32_t slotCount) override;
  Result<Ref<Semaphore>> createSemaphore(uint64_t initialValue) override;

  uint64_t cacheBytes() const override { return 1 << 20; }
  uint32_t queueCount() const override { return static_cast<uint32_t>(queues.size()); }
  DeviceClock *clock() override { return &deviceClock; }
  bool hasHostClock() const override { return false; }
  Result<ClockSample> sampleClock() override { return DiscreteClock::sample(); }

  DiscreteMemory &memory() const { return *deviceMemory; }
  // Of those that the mask names, as Device::execute says; they take turns.
  DiscreteQueue &nextQueue(uint64_t mask);
  // Of one that starts: what the settings have ready for it.
  Status countSubmission();
  // Gives each submission a number, from 1.
  uint64_t handOver() { return handedOver.fetch_add(1) + 1; }
  void noteEnd() { ended.fetch_add(1); }
  // What was handed over may start.
  void start();

protected:
  Result<Ref<Fence>> submit(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                            ExecutionTimes *times) override {
    return submitTo(kAnyQueue, wait, commands, bindings, times);
  }
  Result<Ref<Fence>> submitTo(uint64_t mask, Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                              ExecutionTimes *times) override;

private:
  ~DiscreteDevice() override;

  const std::shared_ptr<DiscreteMemory> deviceMemory;
  const std::string executableFolder;
  std::vector<Ref<DiscreteQueue>> queues;
  std::atomic<uint64_t> nextOfQueues{0}, submissions{0}, handedOver{0}, ended{0};
  DiscreteClock deviceClock{*this};
};

} // namespace kiln::hal

#endif // KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_DEVICE_H
