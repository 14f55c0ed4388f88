// NVIDIA's driver library, loaded at run time, so that one binary runs with and without it. Nothing of CUDA's headers
// is needed: what is used of its interface, which is stable, is declared here.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_LIBRARY_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_LIBRARY_H

#include "kiln/base/status.h"
#include "kiln/targets/cuda/driver/nvtx_ranges.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kiln::hal {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphNode = struct CUgraphNode_st *;
using CUgraphExec = struct CUgraphExec_st *;

// CUgraphExecUpdateResultInfo: why a graph could not be updated.
struct CudaGraphUpdate {
  int result = 0;
  CUgraphNode node = nullptr, fromNode = nullptr;
};

// CUtensorMap: what a copy of boxes of a tensor reads.
struct alignas(64) CudaTensorMap {
  uint64_t words[16];
};

// CUlaunchAttribute and CUlaunchConfig: how a kernel is launched.
struct CudaLaunchAttribute {
  int id = 0, padding = 0;
  int value[16] = {};
};
struct CudaLaunch {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned sharedBytes = 0;
  CUstream stream = nullptr;
  CudaLaunchAttribute *attributes = nullptr;
  unsigned attributeCount = 0;
};
static_assert(sizeof(CudaLaunchAttribute) == 72 && sizeof(CudaLaunch) == 56);

// The numbers of CUDA that are used, under names of their own.
namespace cuda {
inline constexpr CUresult kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100, kInvalidPtx = 218, kUnsupportedPtx = 222,
                          kNotReady = 600;
inline constexpr int kMaxThreadsPerBlock = 1, kMaxBlocks = 5, kWarpThreads = 10, kMultiprocessors = 16, kL2Bytes = 38,
                     kMajor = 75, kMinor = 76, kMaxSharedBytes = 97, kPciBus = 33, kPciDevice = 34, kPciDomain = 50;
inline constexpr int kFunctionDynamicSharedBytes = 8;
inline constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6, kJitLines = 13;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr int kCaptureOfThread = 1; // what other threads do has no part in it
// Of a launch that may begin while kernels before it still run; the kernel waits for them itself.
inline constexpr int kLaunchStartsEarly = 6;
inline constexpr int kLaunchClusters = 4; // blocks in x, y and z
inline constexpr int kSwizzle128Bytes = 3, kPromoteTo256Bytes = 3;
inline constexpr unsigned kEventBlockingSync = 1, kEventDisableTiming = 2;
inline constexpr unsigned kEventRecordExternal = 1; // as a node of a graph that is captured
} // namespace cuda

// A table of functions, each a member of its name.
struct CudaFunctions {
#define KILN_CUDA_FUNCTION(name, parameters) CUresult(*name) parameters = nullptr;
#include "kiln/targets/cuda/driver/cuda_functions.def"
#undef KILN_CUDA_FUNCTION
  // Of CUDA 12.4 and later; null before.
  CUresult (*cuFuncGetParamInfo)(CUfunction function, size_t parameter, size_t *offset, size_t *bytes) = nullptr;
};

// NVIDIA's library, or what stands for it. Never unloaded.
class CudaLibrary : public CudaFunctions {
public:
  // Loads and initializes NVIDIA's, once in a process. Unavailable where there is no library or no device, with what to
  // do.
  static Result<const CudaLibrary *> load();
  // A simulated GPU's functions.
  CudaLibrary(const CudaFunctions &functions, int version, NvtxRanges ranges = {})
      : CudaFunctions(functions), driverVersion(version), simulated(true), profilerRanges(ranges) {}

  bool isSimulated() const { return simulated; }

  // Success, or an error with CUDA's name and text for it; `what` is what could not be done: "allocate 64 bytes".
  Status check(CUresult result, std::string_view what) const;
  // The highest version of CUDA that the driver knows: 12080 for 12.8.
  int version() const { return driverVersion; }
  // For telling profilers what is submitted.
  const NvtxRanges &ranges() const { return profilerRanges; }

private:
  CudaLibrary() = default;
  Status open();

  int driverVersion = 0;
  bool simulated = false;
  NvtxRanges profilerRanges;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_LIBRARY_H
