#include "kiln/targets/cuda/driver/cuda_device.h"

#include "kiln/runtime/hal/host_allocator.h"
#include "kiln/targets/cuda/driver/cuda_allocator.h"
#include "kiln/targets/cuda/driver/cuda_command_buffer.h"
#include "kiln/targets/cuda/driver/cuda_executable.h"

#include <array>

namespace kiln::hal {

// Memory is kept unless the options say otherwise, as allocating it takes longer than most calls; half of it at most.
static Ref<Allocator> createAllocator(const Ref<CudaContext> &context, DeviceOptions options) {
  if (options.allocator == AllocatorKind::Default)
    options.allocator = AllocatorKind::Caching;
  CachingAllocatorOptions caching;
  caching.maxKept = context->properties().memoryBytes / 2;
  return decorateAllocator(makeRef<CudaAllocator>(context), options, caching);
}

CudaDevice::CudaDevice(std::string uri, Ref<CudaContext> context, std::vector<Ref<CudaQueue>> queues,
                       const DeviceOptions &options)
    : Device(std::move(uri), createAllocator(context, options), context->loss()), cudaContext(std::move(context)),
      queues(std::move(queues)) {
  deviceLimits = cudaContext->properties().limits();
}

CudaDevice::~CudaDevice() {
  for (const Ref<CudaQueue> &queue : queues)
    queue->shutDown();
}

Result<Ref<CudaDevice>> CudaDevice::create(std::string uri, Ref<CudaContext> context, uint32_t queueCount,
                                           const DeviceOptions &options) {
  auto shared = std::make_shared<CudaQueues>();
  std::vector<Ref<CudaQueue>> queues;
  for (uint32_t i = 0; i < queueCount; ++i) {
    Result<Ref<CudaQueue>> queue = CudaQueue::create(context, shared);
    if (!queue.ok()) {
      for (const Ref<CudaQueue> &made : queues)
        made->shutDown();
      return queue.status();
    }
    queues.push_back(std::move(*queue));
  }
  return Ref<CudaDevice>::adopt(new CudaDevice(std::move(uri), std::move(context), std::move(queues), options));
}

bool CudaDevice::isAmong(uint64_t mask, const CudaQueue &queue) const {
  for (size_t bit = 0; bit < 64; ++bit)
    if (mask >> bit & 1 && queues[bit % queues.size()].get() == &queue)
      return true;
  return false;
}

CudaQueue &CudaDevice::nextQueue(uint64_t mask) {
  if (queues.size() == 1)
    return *queues.front();
  std::array<CudaQueue *, 64> named;
  size_t count = 0;
  for (size_t bit = 0; bit < named.size(); ++bit)
    if (mask >> bit & 1)
      named[count++] = queues[bit % queues.size()].get();
  return *named[nextInTurn.fetch_add(1) % count];
}

Status CudaDevice::checkExecutable(const ExecutableSource &source) const {
  return CudaExecutable::check(source, cudaContext->properties());
}

Result<Ref<Executable>> CudaDevice::createExecutable(const ExecutableSource &source) {
  KILN_ASSIGN_OR_RETURN(Ref<CudaExecutable> executable, CudaExecutable::load(cudaContext, source));
  return Ref<Executable>(std::move(executable));
}

Result<Ref<CommandBuffer>> CudaDevice::createCommandBuffer(CommandBufferMode mode, uint32_t slotCount) {
  KILN_RETURN_IF_ERROR(CommandBuffer::checkSlotCount(slotCount));
  return Ref<CommandBuffer>(makeRef<CudaCommandBuffer>(this, cudaContext, mode, slotCount));
}

Result<Ref<Semaphore>> CudaDevice::createSemaphore(uint64_t initialValue) {
  return Ref<Semaphore>(makeRef<HostSemaphore>(initialValue));
}

Result<Ref<Fence>> CudaDevice::submitTo(uint64_t mask, Fence *wait, CommandBuffer *commands,
                                        std::span<const Binding> bindings, ExecutionTimes *times) {
  return CudaSubmission::start(*this, mask, wait, *static_cast<CudaCommandBuffer *>(commands), bindings, times);
}

} // namespace kiln::hal
