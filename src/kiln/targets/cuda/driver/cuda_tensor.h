// Bindings that kernels copy in boxes.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_TENSOR_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_TENSOR_H

#include "kiln/targets/cuda/driver/cuda_library.h"

#include <array>
#include <cstdint>
#include <vector>

namespace kiln::hal {

struct CudaTensor;

// The maps of one binding of a kernel, which differ by the memory's address alone. A program comes back to few
// addresses.
class CudaTensorMaps {
public:
  // The map stays until the next call.
  CUresult find(const CudaLibrary &cuda, const CudaTensor &tensor, CUdeviceptr address, CudaTensorMap *&map);

private:
  static constexpr CUdeviceptr kNone = ~CUdeviceptr(0);
  struct Entry {
    CUdeviceptr address = kNone;
    CudaTensorMap map;
  };
  std::array<Entry, 8> entries;
  size_t next = 0; // is replaced
};

// A binding as a kernel's copies see it; gpu_executable.fbs says what the fields are.
struct CudaTensor {
  uint32_t binding = 0;
  int dataType = 0;
  std::vector<uint64_t> extents, strides; // of all dimensions, and of all but the innermost
  std::vector<uint32_t> box;
  mutable CudaTensorMaps maps = {}; // guarded by the queue
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_TENSOR_H
