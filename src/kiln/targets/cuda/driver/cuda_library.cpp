#include "kiln/targets/cuda/driver/cuda_library.h"

#include <dlfcn.h>

#include "kiln/base/exhaustion.h"

namespace kiln::hal {

Result<const CudaLibrary *> CudaLibrary::load() {
  static CudaLibrary library;
  static const Status status = library.open();
  if (!status.ok())
    return status;
  return &library;
}

Status CudaLibrary::open() {
  constexpr const char *kName = "libcuda.so.1";
  void *handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    if (const char *advice = exhaustionAdvice(std::string_view(reason ? reason : "")); *advice)
      return resourceExhausted("NVIDIA's driver library cannot be loaded: {}{}", reason, advice);
    return unavailable("NVIDIA's driver library cannot be loaded: {}. Install NVIDIA's driver, or choose a device of "
                       "another driver; --list_drivers lists them",
                       reason ? reason : kName);
  }
#define KILN_CUDA_FUNCTION(function, parameters)                                                                       \
  function = reinterpret_cast<decltype(function)>(dlsym(handle, #function));                                           \
  if (!function)                                                                                                       \
    return unavailable("{} has no function {}: NVIDIA's driver is too old; install one for CUDA 12", kName, #function);
#include "kiln/targets/cuda/driver/cuda_functions.def"
#undef KILN_CUDA_FUNCTION
  cuFuncGetParamInfo = reinterpret_cast<decltype(cuFuncGetParamInfo)>(dlsym(handle, "cuFuncGetParamInfo"));
  CUresult result = cuInit(0);
  if (result == cuda::kNoDevice)
    return unavailable("NVIDIA's driver is installed, and finds no device; nvidia-smi shows what it sees");
  if (result != cuda::kSuccess)
    return unavailable("{}; nvidia-smi shows what it sees", check(result, "initialize NVIDIA's driver").message());
  profilerRanges = NvtxRanges::ofProfiler();
  return check(cuDriverGetVersion(&driverVersion), "ask NVIDIA's driver for its version");
}

Status CudaLibrary::check(CUresult result, std::string_view what) const {
  if (result == cuda::kSuccess) [[likely]]
    return okStatus();
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != cuda::kSuccess || !name)
    name = "unknown error";
  if (cuGetErrorString(result, &text) != cuda::kSuccess || !text)
    text = "the driver has no text for it";
  std::string message = fmt::format("cannot {}: {} ({}: {})", what, text, name, result);
  return Status(result == cuda::kOutOfMemory ? StatusCode::ResourceExhausted : StatusCode::Internal,
                std::move(message));
}

} // namespace kiln::hal
