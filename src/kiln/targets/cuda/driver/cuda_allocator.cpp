#include "kiln/targets/cuda/driver/cuda_allocator.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace kiln::hal {

CudaBuffer::CudaBuffer(Ref<CudaContext> context, CUdeviceptr address, BufferUsage usage, uint64_t length)
    : Buffer({length, usage, MemoryKind::DeviceLocal, MemoryAccess::ReadWrite, nullptr}), context(std::move(context)),
      address(address) {}

CudaBuffer::~CudaBuffer() {
  CudaContext::Scope scope(*context);
  context->cuda().cuMemFree_v2(address);
}

CUdeviceptr CudaBuffer::addressOf(const CudaContext &context, const Buffer &buffer) {
  const auto *allocation = dynamic_cast<const CudaBuffer *>(buffer.allocation());
  if (!allocation || allocation->context.get() != &context)
    return 0;
  return allocation->address + buffer.allocationOffset();
}

Result<void *> CudaBuffer::mapRange(MemoryAccess access, uint64_t offset, uint64_t length) {
  void *pointer = std::malloc(std::max<uint64_t>(length, 1));
  if (!pointer)
    return resourceExhausted("cannot allocate {} bytes of host memory to map a buffer of the device", length);
  if (length == 0 || !allows(access, MemoryAccess::Read))
    return pointer;
  Status status = context->copyToHost(pointer, address + offset, length);
  if (status.ok())
    return pointer;
  std::free(pointer);
  return status;
}

// This cannot return an error. Where the copy fails, the device is lost, so that nothing is computed from what the
// memory held before.
void CudaBuffer::unmapRange(MemoryAccess access, uint64_t offset, uint64_t length, void *pointer) {
  if (length && allows(access, MemoryAccess::Write))
    if (Status status = context->copyToDevice(address + offset, pointer, length); !status.ok())
      context->loss()->set(std::move(status).withContext("what was written to a mapped buffer did not get there"));
  std::free(pointer);
}

Result<Ref<Buffer>> CudaAllocator::allocateBuffer(BufferUsage usage, uint64_t length) {
  CudaContext::Scope scope(*context);
  CUdeviceptr address = 0;
  CUresult result = context->cuda().cuMemAlloc_v2(&address, std::max<uint64_t>(length, 1));
  if (result != cuda::kSuccess) [[unlikely]]
    return context->checkAllocation(result, length, "");
  return Ref<Buffer>(makeRef<CudaBuffer>(context, address, usage, length));
}

} // namespace kiln::hal
