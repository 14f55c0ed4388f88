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

// A failed copy leaves the context unusable, so that every later call tells of it.
void CudaBuffer::unmapRange(MemoryAccess access, uint64_t offset, uint64_t length, void *pointer) {
  if (length && allows(access, MemoryAccess::Write))
    (void)context->copyToDevice(address + offset, pointer, length);
  std::free(pointer);
}

Result<Ref<Buffer>> CudaAllocator::allocateBuffer(BufferUsage usage, uint64_t length) {
  const CudaLibrary &cuda = context->cuda();
  CudaContext::Scope scope(*context);
  CUdeviceptr address = 0;
  CUresult result = cuda.cuMemAlloc_v2(&address, std::max<uint64_t>(length, 1));
  if (result == cuda::kOutOfMemory) {
    size_t available = 0, total = 0;
    cuda.cuMemGetInfo_v2(&available, &total);
    return resourceExhausted("cannot allocate {} bytes on '{}': {} of its {} bytes are free", length,
                             context->properties().name, available, total);
  }
  KILN_RETURN_IF_ERROR(cuda.check(result, fmt::format("allocate {} bytes on the device", length)));
  return Ref<Buffer>(makeRef<CudaBuffer>(context, address, usage, length));
}

} // namespace kiln::hal
