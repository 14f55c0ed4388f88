// One GPU, ready for use by any thread: CUDA's context of it, and what is known of the device.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_CONTEXT_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_CONTEXT_H

#include "kiln/base/ref.h"
#include "kiln/runtime/hal/device_limits.h"
#include "kiln/runtime/hal/device_loss.h"
#include "kiln/targets/cuda/driver/cuda_library.h"
#include "kiln/targets/cuda/driver/cuda_transfers.h"

#include <memory>
#include <optional>
#include <string>

namespace kiln::hal {

struct CudaProperties {
  std::string name; // "NVIDIA H200"
  int major = 0, minor = 0;
  int multiprocessors = 0;
  int maxThreadsPerBlock = 0, warpThreads = 0;
  int maxBlocks = 0;      // of a launch, in x
  int maxSharedBytes = 0; // of a block that asks for it
  int l2Bytes = 0;
  uint64_t memoryBytes = 0;

  static Result<CudaProperties> query(const CudaLibrary &cuda, CUdevice device);
  DeviceLimits limits() const;
};

// Buffers, executables and queues keep it alive. All functions may be called on any thread.
class CudaContext final : public RefCounted {
public:
  static Result<Ref<CudaContext>> create(const CudaLibrary &cuda, CUdevice device);

  const CudaLibrary &cuda() const { return library; }
  const CudaProperties &properties() const { return deviceProperties; }

  // Why the device takes no more work, where it does not. A kernel that faults leaves the context unusable, and CUDA
  // then answers everything with the kernel's error.
  const std::shared_ptr<DeviceLoss> &loss() const { return deviceLoss; }
  // As CudaLibrary::check; where the device is lost, the error says why that is so.
  Status check(CUresult result, std::string_view what) const {
    return result == cuda::kSuccess ? okStatus() : explained(library.check(result, what));
  }
  // The same for an allocation of device memory: where there is not enough, the error says how much is free. `purpose`
  // follows the number of bytes: "of scratch memory"; it may be empty.
  Status checkAllocation(CUresult result, uint64_t bytes, std::string_view purpose) const;

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
  Status explained(Status status) const;

  const CudaLibrary &library;
  const CUdevice device;
  const std::shared_ptr<DeviceLoss> deviceLoss = std::make_shared<DeviceLoss>();
  CudaProperties deviceProperties;
  CUcontext context = nullptr;
  std::optional<CudaTransfers> transfers;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_CONTEXT_H
