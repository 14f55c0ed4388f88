#include "kiln/targets/cuda/driver/cuda_device.h"

#include "kiln/runtime/hal/host_allocator.h"
#include "kiln/targets/cuda/driver/cuda_allocator.h"
#include "kiln/targets/cuda/driver/cuda_command_buffer.h"
#include "kiln/targets/cuda/driver/cuda_executable.h"

namespace kiln::hal {

// Memory is kept unless the options say otherwise, as allocating it takes longer than most calls; half of it at most.
static Ref<Allocator> createAllocator(const Ref<CudaContext> &context, DeviceOptions options) {
  if (options.allocator == AllocatorKind::Default)
    options.allocator = AllocatorKind::Caching;
  CachingAllocatorOptions caching;
  caching.maxKept = context->properties().memoryBytes / 2;
  return decorateAllocator(makeRef<CudaAllocator>(context), options, caching);
}

CudaDevice::CudaDevice(std::string uri, Ref<CudaContext> context, Ref<CudaQueue> queue, const DeviceOptions &options)
    : Device(std::move(uri), createAllocator(context, options), context->loss()), cudaContext(std::move(context)),
      submissions(std::move(queue)) {
  deviceLimits = cudaContext->properties().limits();
}

Result<Ref<CudaDevice>> CudaDevice::create(std::string uri, Ref<CudaContext> context, const DeviceOptions &options) {
  KILN_ASSIGN_OR_RETURN(Ref<CudaQueue> queue, CudaQueue::create(context));
  return Ref<CudaDevice>::adopt(new CudaDevice(std::move(uri), std::move(context), std::move(queue), options));
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

Result<Ref<Fence>> CudaDevice::submit(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                                      ExecutionTimes *times) {
  return CudaSubmission::start(*this, wait, *static_cast<CudaCommandBuffer *>(commands), bindings, times);
}

} // namespace kiln::hal
