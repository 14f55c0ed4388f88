#include "kiln/targets/cuda/driver/cuda_failures.h"

namespace kiln::hal {

CudaFailures::~CudaFailures() {
  const CudaLibrary &cuda = context->cuda();
  CudaContext::Scope scope(*context);
  for (uint64_t *block : blocks)
    cuda.cuMemFreeHost(block);
  if (address())
    cuda.cuMemFree_v2(address());
}

Status CudaFailures::enable() {
  std::lock_guard lock(making);
  if (address())
    return okStatus();
  const CudaLibrary &cuda = context->cuda();
  CudaContext::Scope scope(*context);
  CUdeviceptr made = 0;
  KILN_RETURN_IF_ERROR(
      context->checkAllocation(cuda.cuMemAlloc_v2(&made, sizeof(kNone)), sizeof(kNone), "for assertions that fail"));
  if (Status status = context->copyToDevice(made, &kNone, sizeof(kNone)); !status.ok()) {
    cuda.cuMemFree_v2(made);
    return status;
  }
  word.store(made, std::memory_order_release);
  return okStatus();
}

Status CudaFailures::clear(CUstream stream) {
  CUresult result =
      context->cuda().cuMemsetD32Async(address(), uint32_t(kNone), sizeof(kNone) / sizeof(uint32_t), stream);
  return context->check(result, "clear failed assertions");
}

Result<uint64_t *> CudaFailures::collect(CUstream stream) {
  constexpr size_t kCopies = 64;
  const CudaLibrary &cuda = context->cuda();
  if (unused.empty()) {
    void *memory = nullptr;
    KILN_RETURN_IF_ERROR(
        context->check(cuda.cuMemAllocHost_v2(&memory, kCopies * sizeof(uint64_t)),
                       fmt::format("allocate {} bytes of the host's memory that the device can write, for "
                                   "assertions that fail",
                                   kCopies * sizeof(uint64_t))));
    blocks.push_back(static_cast<uint64_t *>(memory));
    for (size_t i = 0; i < kCopies; ++i)
      unused.push_back(blocks.back() + i);
  }
  uint64_t *copy = unused.back();
  KILN_RETURN_IF_ERROR(
      context->check(cuda.cuMemcpyDtoHAsync_v2(copy, address(), sizeof(*copy), stream), "ask for failed assertions"));
  // Where clearing fails the stream may still write the copy, which is not used again.
  unused.pop_back();
  KILN_RETURN_IF_ERROR(clear(stream));
  return copy;
}

uint64_t CudaFailures::read(uint64_t *copy) {
  unused.push_back(copy);
  return *copy;
}

} // namespace kiln::hal
