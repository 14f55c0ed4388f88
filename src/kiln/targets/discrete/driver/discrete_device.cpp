#include "kiln/targets/discrete/driver/discrete_device.h"

#include "kiln/runtime/hal/host_allocator.h"
#include "kiln/targets/cpu/driver/cpu_executable.h"

#include <array>

namespace kiln::hal {

// As on GPUs, memory is kept unless the options say otherwise, and half of it at most.
static Ref<Allocator> createAllocator(const std::shared_ptr<DiscreteMemory> &memory, DeviceOptions options) {
  if (options.allocator == AllocatorKind::Default)
    options.allocator = AllocatorKind::Caching;
  CachingAllocatorOptions caching;
  caching.maxKept = memory->bytes / 2;
  options.wrapAllocator = [memory, outer = std::move(options.wrapAllocator)](Ref<Allocator> inner) {
    Ref<Allocator> requests = makeRef<DiscreteRequests>(std::move(inner), memory);
    return outer ? outer(std::move(requests)) : requests;
  };
  return decorateAllocator(makeRef<DiscreteAllocator>(memory), options, caching);
}

DiscreteDevice::DiscreteDevice(std::string uri, std::shared_ptr<DiscreteMemory> memory, const DeviceOptions &options)
    : Device(std::move(uri), createAllocator(memory, options)), deviceMemory(std::move(memory)),
      executableFolder(options.executableFolder) {
  deviceLimits = deviceMemory->limits;
  const DiscreteSettings &settings = deviceMemory->settings;
  for (uint32_t i = 0; i < settings.queues; ++i)
    queues.push_back(makeRef<DiscreteQueue>(settings, i));
}

DiscreteDevice::~DiscreteDevice() {
  for (const Ref<DiscreteQueue> &queue : queues)
    queue->shutDown();
}

Status DiscreteDevice::checkExecutable(const ExecutableSource &source) const {
  return CpuExecutable::check(source);
}

Result<Ref<Executable>> DiscreteDevice::createExecutable(const ExecutableSource &source) {
  KILN_ASSIGN_OR_RETURN(Ref<CpuExecutable> executable, CpuExecutable::load(source, executableFolder));
  return Ref<Executable>(std::move(executable));
}

Result<Ref<CommandBuffer>> DiscreteDevice::createCommandBuffer(CommandBufferMode mode, uint32_t slotCount) {
  KILN_RETURN_IF_ERROR(CommandBuffer::checkSlotCount(slotCount));
  return Ref<CommandBuffer>(makeRef<DiscreteCommandBuffer>(this, deviceMemory, mode, slotCount));
}

Result<Ref<Semaphore>> DiscreteDevice::createSemaphore(uint64_t initialValue) {
  return Ref<Semaphore>(makeRef<HostSemaphore>(initialValue));
}

DiscreteQueue &DiscreteDevice::nextQueue(uint64_t mask) {
  std::array<DiscreteQueue *, 64> named;
  size_t count = 0;
  for (size_t bit = 0; bit < named.size(); ++bit)
    if (mask >> bit & 1)
      named[count++] = queues[bit % queues.size()].get();
  return *named[nextOfQueues.fetch_add(1) % count];
}

Result<Ref<Fence>> DiscreteDevice::submitTo(uint64_t mask, Fence *wait, CommandBuffer *commands,
                                            std::span<const Binding> bindings, ExecutionTimes *times) {
  const uint64_t most = deviceMemory->settings.mostInFlight, over = ended.load(), inFlight = handedOver.load() - over;
  if (most && inFlight >= most) {
    start();
    return resourceExhausted("{} submissions are in flight on device '{}', whose URI allows no more", inFlight, uri());
  }
  return DiscreteSubmission::start(*this, wait, *static_cast<DiscreteCommandBuffer *>(commands), bindings, mask, times);
}

void DiscreteDevice::start() {
  if (deviceMemory->settings.hold)
    for (const Ref<DiscreteQueue> &queue : queues)
      queue->startUntil(handedOver.load());
}

Status DiscreteDevice::countSubmission() {
  const DiscreteSettings &settings = deviceMemory->settings;
  const uint64_t number = submissions.fetch_add(1) + 1;
  if (settings.loseAt && number >= settings.loseAt) {
    Status why(StatusCode::Unavailable,
               fmt::format("device '{}' was lost at submission {}, as its URI asks", uri(), settings.loseAt));
    lose(why);
    return why;
  }
  if (number == settings.failSubmission)
    return Status(StatusCode::Unavailable,
                  fmt::format("submission {} failed on device '{}', as its URI asks", number, uri()));
  return okStatus();
}

} // namespace kiln::hal
