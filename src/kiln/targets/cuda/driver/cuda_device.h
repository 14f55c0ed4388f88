// The device cuda://N: command buffers run on one GPU.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_DEVICE_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_DEVICE_H

#include "kiln/runtime/hal/device.h"
#include "kiln/targets/cuda/driver/cuda_clock.h"
#include "kiln/targets/cuda/driver/cuda_queue.h"

#include <string>

namespace kiln::hal {

class CudaDevice final : public Device {
public:
  static Result<Ref<CudaDevice>> create(std::string uri, Ref<CudaContext> context, uint32_t queueCount,
                                        const DeviceOptions &options);

  // The first one, for what needs some stream.
  CudaQueue &queue() const { return *queues.front(); }
  std::span<const Ref<CudaQueue>> allQueues() const { return queues; }
  // Whether a mask of queues has this one of them, and one of those that it has, each in its turn.
  bool isAmong(uint64_t mask, const CudaQueue &queue) const;
  CudaQueue &nextQueue(uint64_t mask);
  const CudaContext &context() const { return *cudaContext; }
  uint64_t cacheBytes() const override { return uint64_t(cudaContext->properties().l2Bytes); }
  uint32_t queueCount() const override { return uint32_t(queues.size()); }
  DeviceClock *clock() override { return &deviceClock; }
  bool hasHostClock() const override { return false; }
  Result<ClockSample> sampleClock() override { return queue().stamps().sample(); }

  Status checkExecutable(const ExecutableSource &source) const override;
  Result<Ref<Executable>> createExecutable(const ExecutableSource &source) override;
  Result<Ref<CommandBuffer>> createCommandBuffer(CommandBufferMode mode, uint32_t slotCount) override;
  Result<Ref<Semaphore>> createSemaphore(uint64_t initialValue) override;

protected:
  // Submissions retain the device, so that none is in flight.
  ~CudaDevice() override;
  Result<Ref<Fence>> submit(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                            ExecutionTimes *times) override {
    return submitTo(kAnyQueue, wait, commands, bindings, times);
  }
  Result<Ref<Fence>> submitTo(uint64_t mask, Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                              ExecutionTimes *times) override;

private:
  CudaDevice(std::string uri, Ref<CudaContext> context, std::vector<Ref<CudaQueue>> queues,
             const DeviceOptions &options);

  Ref<CudaContext> cudaContext;
  const std::vector<Ref<CudaQueue>> queues;
  std::atomic<uint32_t> nextInTurn{0};
  CudaClock deviceClock{*this};
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_DEVICE_H
