// One GPU, ready for use by any thread: CUDA's context of it, and what is known of the device.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_CONTEXT_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_CONTEXT_H

#include "kiln/base/ref.h"
#include "kiln/targets/cuda/driver/cuda_library.h"
#include "kiln/targets/cuda/driver/cuda_transfers.h"

#include <optional>
#include <string>

namespace kiln::hal {

struct CudaProperties {
  std::string name; // "NVIDIA H200"
  int major = 0, minor = 0;
  int multiprocessors = 0;
  int maxThreadsPerBlock = 0;
  int maxSharedBytes = 0; // of a block that asks for it
  int l2Bytes = 0;
  uint64_t memoryBytes = 0;

  static Result<CudaProperties> query(const CudaLibrary &cuda, CUdevice device);
};

// Buffers, executables and queues keep it alive. All functions may be called on any thread.
class CudaContext final : public RefCounted {
public:
  static Result<Ref<CudaContext>> create(const CudaLibrary &cuda, CUdevice device);

  const CudaLibrary &cuda() const { return library; }
  const CudaProperties &properties() const { return deviceProperties; }

  // Both wait until the copy is done.
  Status copyToDevice(CUdeviceptr target, const void *source, uint64_t length);
  Status copyToHost(void *target, CUdeviceptr source, uint64_t length);

  // For as long as it lives, CUDA's functions mean this context on this thread.
  class Scope {
  public:
    explicit Scope(const CudaContext &context) : cuda(context.library) { cuda.cuCtxPushCurrent_v2(context.context); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    ~Scope() {
      CUcontext popped;
      cuda.cuCtxPopCurrent_v2(&popped);
    }

  private:
    const CudaLibrary &cuda;
  };

private:
  CudaContext(const CudaLibrary &cuda, CUdevice device) : library(cuda), device(device) {}
  ~CudaContext() override;

  const CudaLibrary &library;
  const CUdevice device;
  CudaProperties deviceProperties;
  CUcontext context = nullptr;
  std::optional<CudaTransfers> transfers;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_CONTEXT_H
