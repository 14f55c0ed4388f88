// Kernels that the GPU's driver has compiled and loaded.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_EXECUTABLE_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_EXECUTABLE_H

#include "kiln/runtime/hal/executable.h"
#include "kiln/targets/cuda/driver/cuda_context.h"
#include "kiln/targets/cuda/driver/cuda_tensor.h"

#include <string>
#include <vector>

namespace kiln::hal {

// The format of executables in modules.
inline constexpr std::string_view kCudaFormat = "ptx";

// What a device of this compute capability says of code for `architecture` ("sm_90a"): success where it runs it. Code
// for sm_XY runs on what is as new or newer, that for sm_XYa on nothing else.
Status checkCudaArchitecture(std::string_view architecture, int major, int minor);

struct CudaKernel {
  std::string name;
  CUfunction function = nullptr;
  uint32_t bindingCount = 0, constantCount = 0;
  uint32_t threads[3] = {1, 1, 1};
  uint32_t dynamicSharedBytes = 0;
  uint64_t scratchBytes = 0; // for each block
  std::vector<CudaTensor> tensors;
  uint32_t launchBlocks = 0;           // that the device takes in a launch
  uint32_t mostBlocks = 0;             // of a launch; 0: any number; a multiple of `clusterBlocks`
  bool startsEarly = false;            // it waits itself for the kernels before it
  std::vector<std::string> assertions; // what to say of each that fails
  uint32_t clusterBlocks = 1;          // that run together
};

class CudaExecutable final : public Executable {
public:
  // Whether a device can load it.
  static Status check(const ExecutableSource &source, const CudaProperties &device);
  // Checks it, and has the driver compile its code.
  static Result<Ref<CudaExecutable>> load(const Ref<CudaContext> &context, const ExecutableSource &source);

  const CudaContext &context() const { return *cudaContext; }
  const CudaKernel &kernel(uint32_t ordinal) const { return kernels[ordinal]; }

private:
  explicit CudaExecutable(Ref<CudaContext> context) : cudaContext(std::move(context)) {}
  ~CudaExecutable() override;
  // Of a kernel that stays on its multiprocessors: so many blocks that all of its clusters run at a time.
  Status limitClusters(CudaKernel &kernel) const;
  bool loadCubin(const void *cubin);
  Status loadCode(const char *text, std::string_view name);

  Ref<CudaContext> cudaContext;
  std::vector<CUmodule> modules;
  std::vector<CudaKernel> kernels;
  std::vector<ExecutableExport> entries; // refers to `kernels`
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_EXECUTABLE_H
