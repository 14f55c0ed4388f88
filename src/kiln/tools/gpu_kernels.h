// What an executable for GPUs says of its kernels, for tools that show modules.
#ifndef KILN_TOOLS_GPU_KERNELS_H
#define KILN_TOOLS_GPU_KERNELS_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kiln {

struct GpuTensorMapInfo {
  uint32_t binding = 0, elementBytes = 0;
  std::vector<uint32_t> box; // elements that are copied at once, counted from the innermost dimension
};

struct GpuKernelInfo {
  uint32_t threads[3] = {1, 1, 1}; // of a block
  uint32_t clusterBlocks = 1, subgroupThreads = 32;
  uint32_t blocksPerMultiprocessor = 0; // at most; 0: as many as there are workgroups
  uint32_t staticSharedBytes = 0, dynamicSharedBytes = 0;
  uint64_t scratchBytes = 0; // of a block
  std::vector<GpuTensorMapInfo> tensorMaps;

  // "block 384x1x1, cluster of 2, shared memory 0 + 197,632 bytes, ..."
  std::string text() const;
};

// By export. Empty where the bytes are no such executable.
std::vector<GpuKernelInfo> gpuKernelsOf(std::span<const std::byte> executable);
// Its code as text, one after the other where there are several. Empty as above.
std::string gpuCodeOf(std::span<const std::byte> executable);

} // namespace kiln

#endif // KILN_TOOLS_GPU_KERNELS_H
