#include "kiln/targets/null/driver/null_device.h"

#include "kiln/base/clock.h"
#include "kiln/runtime/hal/host_allocator.h"
#include "kiln/runtime/hal/host_semaphore.h"
#include "kiln/targets/null/driver/null_command_buffer.h"
#include "kiln/targets/null/driver/null_executable.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kiln::hal {

// Results that no kernel writes are zeros, the same in each run, rather than what the memory held before. A real driver
// leaves fresh memory undefined.
NullDevice::NullDevice(std::string uri, const DeviceOptions &options)
    : Device(std::move(uri), createHostAllocator(options, FreshMemory::Zeros)), queue(makeRef<InlineQueue>()) {}

// A real driver accepts its own formats, and compares what the code needs with what the device has.
Status NullDevice::checkExecutable(const ExecutableSource &source) const {
  return okStatus();
}

Result<Ref<Executable>> NullDevice::createExecutable(const ExecutableSource &source) {
  return Ref<Executable>(makeRef<NullExecutable>(source));
}

Result<Ref<CommandBuffer>> NullDevice::createCommandBuffer(CommandBufferMode mode, uint32_t slotCount) {
  KILN_RETURN_IF_ERROR(CommandBuffer::checkSlotCount(slotCount));
  return Ref<CommandBuffer>(makeRef<NullCommandBuffer>(this, mode, slotCount));
}

Result<Ref<Semaphore>> NullDevice::createSemaphore(uint64_t initialValue) {
  return Ref<Semaphore>(makeRef<HostSemaphore>(initialValue));
}

// The table is borrowed for this call. A submission that may outlive it retains the command buffer and every buffer,
// and drops them before its fence is signalled, so that whoever has awaited the fence sees the memory free.
//
// Dispatches take no time here. A real driver fills `times` from its device's clock, before the fence is signalled.
Result<Ref<Fence>> NullDevice::submit(Fence *wait, CommandBuffer *base, std::span<const Binding> bindings,
                                      ExecutionTimes *times) {
  Ref<NullCommandBuffer> commands = Ref<NullCommandBuffer>::share(static_cast<NullCommandBuffer *>(base));
  std::vector<Ref<Buffer>> retained;
  for (const Binding &binding : bindings)
    retained.push_back(Ref<Buffer>::share(binding.buffer));
  std::vector<Binding> table(bindings.begin(), bindings.end());
  return queue->run(wait,
                    [commands = std::move(commands), retained = std::move(retained), table = std::move(table),
                     limit = Ref<CallLimit>::share(CallLimit::current()), times = Ref<ExecutionTimes>::share(times)] {
                      const uint64_t begin = times ? monotonicNanoseconds() : 0;
                      KILN_RETURN_IF_ERROR(commands->run(table, limit.get()));
                      if (times) {
                        std::ranges::fill(times->dispatches, TickRange{begin, begin});
                        times->submission = {begin, monotonicNanoseconds()};
                      }
                      return okStatus();
                    });
}

} // namespace kiln::hal
