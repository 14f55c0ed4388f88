// A device that completes everything inside of `execute`.
#ifndef KILN_TARGETS_NULL_DRIVER_NULL_DEVICE_H
#define KILN_TARGETS_NULL_DRIVER_NULL_DEVICE_H

#include "kiln/runtime/hal/device.h"
#include "kiln/runtime/hal/inline_queue.h"

#include <string>

namespace kiln::hal {

class NullDevice final : public Device {
public:
  NullDevice(std::string uri, const DeviceOptions &options);

  Status checkExecutable(const ExecutableSource &source) const override;
  Result<Ref<Executable>> createExecutable(const ExecutableSource &source) override;
  Result<Ref<CommandBuffer>> createCommandBuffer(CommandBufferMode mode, uint32_t slotCount) override;
  Result<Ref<Semaphore>> createSemaphore(uint64_t initialValue) override;

protected:
  Result<Ref<Fence>> submit(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                            ExecutionTimes *times) override;

private:
  // Holds back what must wait for a fence, and runs it on the thread that signals the fence.
  Ref<InlineQueue> queue;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_NULL_DRIVER_NULL_DEVICE_H
