// Versions and limits of gpu_executable.fbs.
#ifndef KILN_SCHEMA_GPU_EXECUTABLE_H
#define KILN_SCHEMA_GPU_EXECUTABLE_H

#include <cstdint>

namespace kiln {

// A runtime loads executables of all versions up to its own.
inline constexpr uint32_t kGpuExecutableVersion = 6;
// Parameters that a kernel has beside its bindings, constants and tensor maps: three workgroup counts, the scratch
// memory, and two for assertions.
inline constexpr uint32_t kGpuFixedParameters = 6;
// Bindings and constants of one kernel: what every device takes as parameters, less the fixed ones.
inline constexpr uint32_t kGpuMostParameters = 4096 / 8 - kGpuFixedParameters;
// Threads that run in step, which kernels rely on.
inline constexpr uint32_t kGpuSubgroupThreads = 32;
// Blocks of a cluster: what every device that has clusters takes.
inline constexpr uint32_t kGpuMostClusterBlocks = 8;
// Of a tensor map, which takes the place of 16 parameters.
inline constexpr uint32_t kGpuTensorMapBytes = 128, kGpuMostTensorMaps = 4, kGpuMostTensorRank = 5;

} // namespace kiln

#endif // KILN_SCHEMA_GPU_EXECUTABLE_H
