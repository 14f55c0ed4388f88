#include "kiln/targets/cuda/driver/cuda_tensor.h"

#include "kiln/schema/gpu_executable.h"

#include <algorithm>

namespace kiln::hal {

CUresult CudaTensorMaps::find(const CudaLibrary &cuda, const CudaTensor &tensor, CUdeviceptr address,
                              CudaTensorMap *&map) {
  auto *found = std::ranges::find(entries, address, &Entry::address);
  if (found == entries.end()) {
    static constexpr std::array<uint32_t, kGpuMostTensorRank> kAdjacent{1, 1, 1, 1, 1};
    found = &entries[next];
    found->address = kNone; // where making it fails
    CUresult result =
        cuda.cuTensorMapEncodeTiled(&found->map, tensor.dataType, unsigned(tensor.extents.size()), address,
                                    tensor.extents.data(), tensor.strides.data(), tensor.box.data(), kAdjacent.data(),
                                    /*interleave=*/0, cuda::kSwizzle128Bytes, cuda::kPromoteTo256Bytes, /*outside=*/0);
    if (result != cuda::kSuccess)
      return result;
    found->address = address;
    next = (next + 1) % entries.size();
  }
  map = &found->map;
  return cuda::kSuccess;
}

} // namespace kiln::hal
