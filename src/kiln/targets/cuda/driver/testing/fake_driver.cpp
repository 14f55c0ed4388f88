#include "kiln/targets/cuda/driver/testing/fake_driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

static bool fails(const char *what) {
  const char *failure = std::getenv("FAKE_CUDA");
  return failure && std::strcmp(failure, what) == 0;
}

CUresult cuInit(unsigned) {
  if (fails("cache"))
    for (const char *name : {"CUDA_CACHE_PATH", "CUDA_CACHE_DISABLE"})
      if (const char *value = std::getenv(name))
        std::fprintf(stderr, "%s=%s\n", name, value);
  return fails("no-device") ? 100 : fails("mismatch") ? 803 : 0;
}

// A driver from before CUDA 12 has no function of some name; here it is this one.
#ifndef FAKE_CUDA_OLD
CUresult cuDriverGetVersion(int *version) {
  *version = 12040;
  return 0;
}
#endif

CUresult cuGetErrorName(CUresult error, const char **text) {
  *text = error == 700   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
                         : "CUDA_ERROR";
  return 0;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = error == 700   ? "an illegal memory access was encountered"
          : error == 803 ? "system has unsupported display driver / cuda driver combination"
                         : "some error";
  return 0;
}

CUresult cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}

CUresult cuDeviceGet(CUdevice *device, int) {
  *device = 0;
  return 0;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  std::strncpy(name, "Fake GPU", length);
  return 0;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  const bool isPlace = attribute == 33 || attribute == 34 || attribute == 50; // of the GPU of fake_nvml.cpp
  *value = attribute == 75   ? 9
           : attribute == 76 ? 0
           : attribute == 16 ? 4
           : attribute == 1  ? 1024
           : attribute == 10 ? 32
           : isPlace         ? (attribute == 33 ? 0x19 : 0)
                             : 1 << 20;
  return 0;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  *bytes = size_t(1) << 30;
  return 0;
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
  *available = 4096;
  *total = size_t(1) << 30;
  return 0;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  if (fails("memory"))
    return 2;
  *address = reinterpret_cast<CUdeviceptr>(std::calloc(bytes, 1));
  return *address ? 0 : 2;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  std::free(reinterpret_cast<void *>(address));
  return 0;
}

CUresult cuMemAllocHost_v2(void **memory, size_t bytes) {
  // The first, which is small, is the device's for what its kernels assert.
  if (fails("pinned") && bytes > 65536)
    return 2;
  *memory = std::malloc(bytes);
  return 0;
}

CUresult cuMemFreeHost(void *memory) {
  std::free(memory);
  return 0;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes, CUstream) {
  std::memcpy(reinterpret_cast<void *>(target), source, bytes);
  return 0;
}

CUresult cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes, CUstream) {
  std::memcpy(target, reinterpret_cast<const void *>(source), bytes);
  return 0;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream) {
  std::memcpy(reinterpret_cast<void *>(target), reinterpret_cast<const void *>(source), bytes);
  return 0;
}

// A kernel that reads where it may not is told of by whatever is asked next.
static bool hasFaulted = false;

CUresult cuLaunchKernelEx(const CudaLaunch *, CUfunction, void **, void **) {
  hasFaulted |= fails("fault");
  return 0;
}

CUresult cuEventQuery(CUevent) {
  return hasFaulted ? 700 : 0;
}

CUresult cuEventSynchronize(CUevent) {
  return hasFaulted ? 700 : 0;
}

CUresult cuStreamSynchronize(CUstream) {
  return hasFaulted ? 700 : 0;
}

CUresult cuModuleLoadDataEx(CUmodule *, const void *image, unsigned options, int *names, void **values) {
  const bool isMachineCode = std::memcmp(image,
                                         "\x7f"
                                         "ELF",
                                         4) == 0;
  if (isMachineCode)
    return fails("new-machine-code") ? 209 : 0;
  if (fails("new-code"))
    return 222;
  if (!fails("bad-code"))
    return 0;
  for (unsigned i = 0; i < options; ++i)
    if (names[i] == 5)
      std::strcpy(static_cast<char *>(values[i]), "ptxas application ptx input, line 9; error   : Unknown symbol\n");
  return 218;
}
