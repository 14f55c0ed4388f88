// Copies between the memory of the host and of a GPU, each awaited.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_TRANSFERS_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_TRANSFERS_H

#include "kiln/targets/cuda/driver/cuda_library.h"

#include <array>
#include <mutex>

namespace kiln::hal {

// Long copies go in pieces through a ring of pinned memory: while the device copies one, the host copies the next.
// What is mapped from files or shared needs no pinning, and nothing of the copy's length is allocated. All functions
// expect the context to be current, and may be called on any thread.
class CudaTransfers {
public:
  explicit CudaTransfers(const CudaLibrary &cuda) : cuda(cuda) {}
  ~CudaTransfers();
  CudaTransfers(const CudaTransfers &) = delete;
  CudaTransfers &operator=(const CudaTransfers &) = delete;

  Status open();
  Status toDevice(CUdeviceptr target, const void *source, uint64_t length);
  Status toHost(void *target, CUdeviceptr source, uint64_t length);

private:
  struct Piece {
    void *memory = nullptr;
    CUevent copied = nullptr; // by the device
  };
  static constexpr size_t kPieces = 4;

  bool makeRing();
  CUresult throughRingToDevice(CUdeviceptr target, const std::byte *source, uint64_t length);
  CUresult throughRingToHost(std::byte *target, CUdeviceptr source, uint64_t length);

  const CudaLibrary &cuda;
  CUstream stream = nullptr; // does not wait for the work of queues
  std::mutex ringMutex;
  std::array<Piece, kPieces> ring;
  bool hasRing = false, triedRing = false;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_TRANSFERS_H
