#include "kiln/targets/cuda/driver/cuda_context.h"

namespace kiln::hal {

Result<CudaProperties> CudaProperties::query(const CudaLibrary &cuda, CUdevice device) {
  CudaProperties properties;
  char name[256] = {};
  KILN_RETURN_IF_ERROR(cuda.check(cuda.cuDeviceGetName(name, sizeof(name) - 1, device), "ask for the device's name"));
  properties.name = name;
  size_t bytes = 0;
  KILN_RETURN_IF_ERROR(cuda.check(cuda.cuDeviceTotalMem_v2(&bytes, device), "ask for the device's memory"));
  properties.memoryBytes = bytes;
  const std::pair<int, int *> attributes[] = {
      {cuda::kMajor, &properties.major},
      {cuda::kMinor, &properties.minor},
      {cuda::kMultiprocessors, &properties.multiprocessors},
      {cuda::kMaxThreadsPerBlock, &properties.maxThreadsPerBlock},
      {cuda::kMaxBlocks, &properties.maxBlocks},
      {cuda::kWarpThreads, &properties.warpThreads},
      {cuda::kMaxSharedBytes, &properties.maxSharedBytes},
      {cuda::kL2Bytes, &properties.l2Bytes},
  };
  for (auto [attribute, value] : attributes)
    KILN_RETURN_IF_ERROR(
        cuda.check(cuda.cuDeviceGetAttribute(value, attribute, device), "ask for the device's properties"));
  return properties;
}

// A kernel goes over any number of workgroups, with as many blocks as a launch can have.
DeviceLimits CudaProperties::limits() const {
  DeviceLimits limits;
  limits.bufferAlignment = 256; // of what cuMemAlloc gives, at least
  limits.mostBufferBytes = memoryBytes;
  limits.mostThreads = uint32_t(maxThreadsPerBlock);
  limits.subgroupThreads = uint32_t(warpThreads);
  limits.mostSharedBytes = uint32_t(maxSharedBytes);
  return limits;
}

Result<Ref<CudaContext>> CudaContext::create(const CudaLibrary &cuda, CUdevice device) {
  Ref<CudaContext> result = Ref<CudaContext>::adopt(new CudaContext(cuda, device));
  KILN_ASSIGN_OR_RETURN(result->deviceProperties, CudaProperties::query(cuda, device));
  KILN_RETURN_IF_ERROR(cuda.check(cuda.cuDevicePrimaryCtxRetain(&result->context, device),
                                  fmt::format("make a context on '{}'", result->deviceProperties.name)));
  Scope scope(*result);
  KILN_RETURN_IF_ERROR(result->transfers.emplace(cuda).open());
  return result;
}

CudaContext::~CudaContext() {
  if (transfers) {
    Scope scope(*this);
    transfers.reset();
  }
  if (context)
    library.cuDevicePrimaryCtxRelease_v2(device);
}

Status CudaContext::explained(Status status) const {
  return status.ok() || !deviceLoss->isSet() ? std::move(status) : deviceLoss->status(deviceProperties.name);
}

Status CudaContext::checkAllocation(CUresult result, uint64_t bytes, std::string_view purpose) const {
  const std::string amount = fmt::format("{} bytes{}{}", bytes, purpose.empty() ? "" : " ", purpose);
  if (result != cuda::kOutOfMemory)
    return check(result, fmt::format("allocate {}", amount));
  size_t available = 0, total = 0;
  library.cuMemGetInfo_v2(&available, &total);
  return resourceExhausted("cannot allocate {} on '{}': {} of its {} bytes are free", amount, deviceProperties.name,
                           available, total);
}

Status CudaContext::copyToDevice(CUdeviceptr target, const void *source, uint64_t length) {
  Scope scope(*this);
  return explained(transfers->toDevice(target, source, length));
}

Status CudaContext::copyToHost(void *target, CUdeviceptr source, uint64_t length) {
  Scope scope(*this);
  return explained(transfers->toHost(target, source, length));
}

} // namespace kiln::hal
