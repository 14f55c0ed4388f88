// Buffers in the memory of a GPU, which the host sees through copies.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_ALLOCATOR_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_ALLOCATOR_H

#include "kiln/runtime/hal/allocator.h"
#include "kiln/targets/cuda/driver/cuda_context.h"

namespace kiln::hal {

class CudaBuffer final : public Buffer {
public:
  CudaBuffer(Ref<CudaContext> context, CUdeviceptr address, BufferUsage usage, uint64_t length);

  // The device address where a buffer starts, which may be a span of one of these; 0 for memory of another context.
  static CUdeviceptr addressOf(const CudaContext &context, const Buffer &buffer);

protected:
  ~CudaBuffer() override;
  // A mapping is a copy in host memory, written back when it ends, if it was for writing.
  Result<void *> mapRange(MemoryAccess access, uint64_t offset, uint64_t length) override;
  void unmapRange(MemoryAccess access, uint64_t offset, uint64_t length, void *pointer) override;
  Status readRange(uint64_t offset, std::span<std::byte> target) override {
    return context->copyToHost(target.data(), address + offset, target.size());
  }
  Status writeRange(uint64_t offset, std::span<const std::byte> source) override {
    return context->copyToDevice(address + offset, source.data(), source.size());
  }

private:
  Ref<CudaContext> context;
  const CUdeviceptr address;
};

class CudaAllocator final : public Allocator {
public:
  explicit CudaAllocator(Ref<CudaContext> context) : context(std::move(context)) {}

protected:
  Result<Ref<Buffer>> allocateBuffer(BufferUsage usage, uint64_t length) override;
  // Host memory is always copied.
  Result<Ref<Buffer>> importBuffer(HostMemory &, BufferUsage) override { return Ref<Buffer>(); }

private:
  Ref<CudaContext> context;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_ALLOCATOR_H
