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
  static Result<Ref<CudaDevice>> create(std::string uri, Ref<CudaContext> context, const DeviceOptions &options);

  CudaQueue &queue() const { return *submissions; }
  const CudaContext &context() const { return *cudaContext; }
  uint64_t cacheBytes() const override { return uint64_t(cudaContext->properties().l2Bytes); }
  uint32_t queueCount() const override { return 1; }
  DeviceClock *clock() override { return &deviceClock; }
  Result<ClockSample> sampleClock() override { return submissions->stamps().sample(); }

  Status checkExecutable(const ExecutableSource &source) const override;
  Result<Ref<Executable>> createExecutable(const ExecutableSource &source) override;
  Result<Ref<CommandBuffer>> createCommandBuffer(CommandBufferMode mode, uint32_t slotCount) override;
  Result<Ref<Semaphore>> createSemaphore(uint64_t initialValue) override;

protected:
  // Submissions retain the device, so that none is in flight.
  ~CudaDevice() override { submissions->shutDown(); }
  Result<Ref<Fence>> submit(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                            ExecutionTimes *times) override;

private:
  CudaDevice(std::string uri, Ref<CudaContext> context, Ref<CudaQueue> queue, const DeviceOptions &options);

  Ref<CudaContext> cudaContext;
  Ref<CudaQueue> submissions;
  CudaClock deviceClock{*this};
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_DEVICE_H
