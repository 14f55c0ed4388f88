#include "kiln/targets/cuda/driver/cuda_stamps.h"

#include "kiln/base/clock.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace kiln::hal {

static constexpr const char *kReadClock = R"(.version 6.3
.target sm_75
.address_size 64
.visible .entry read_clock(.param .u64 place)
{
	.reg .b64 %place, %time;
	ld.param.u64 %place, [place];
	mov.u64 %time, %globaltimer;
	st.global.u64 [%place], %time;
	ret;
}
)";

CudaStamps::~CudaStamps() {
  const CudaLibrary &cuda = context->cuda();
  CudaContext::Scope scope(*context);
  for (void *block : blocks)
    cuda.cuMemFreeHost(block);
  for (CUdeviceptr memory : {places, samplingPlace})
    if (memory)
      cuda.cuMemFree_v2(memory);
  if (sampling)
    cuda.cuStreamDestroy_v2(sampling);
  if (module)
    cuda.cuModuleUnload(module);
}

Status CudaStamps::load() {
  if (kernel)
    return okStatus();
  const CudaLibrary &cuda = context->cuda();
  if (!module)
    KILN_RETURN_IF_ERROR(context->check(cuda.cuModuleLoadDataEx(&module, kReadClock, 0, nullptr, nullptr),
                                        "compile the kernel that reads the device's clock"));
  return context->check(cuda.cuModuleGetFunction(&kernel, module, "read_clock"),
                        "load the kernel that reads the device's clock");
}

Status CudaStamps::launch(CUstream stream, CUdeviceptr place) {
  void *parameters[] = {&place};
  CudaLaunch how;
  how.stream = stream;
  return context->check(context->cuda().cuLaunchKernelEx(&how, kernel, parameters, nullptr),
                        "launch the kernel that reads the device's clock");
}

Status CudaStamps::reserve(CUstream stream, size_t count) {
  {
    std::lock_guard lock(mutex);
    KILN_RETURN_IF_ERROR(load());
  }
  if (count <= room)
    return okStatus();
  const CudaLibrary &cuda = context->cuda();
  KILN_RETURN_IF_ERROR(context->check(cuda.cuStreamSynchronize(stream), "await the dispatches before"));
  if (places)
    cuda.cuMemFree_v2(std::exchange(places, 0));
  room = 0;
  const size_t bytes = std::bit_ceil(std::max<size_t>(count, 512)) * sizeof(uint64_t);
  KILN_RETURN_IF_ERROR(context->checkAllocation(cuda.cuMemAlloc_v2(&places, bytes), bytes, "for timestamps"));
  room = bytes / sizeof(uint64_t);
  return okStatus();
}

Status CudaStamps::read(CUstream stream, size_t place) {
  return launch(stream, places + place * sizeof(uint64_t));
}

Result<std::span<uint64_t>> CudaStamps::collect(CUstream stream, size_t count) {
  const CudaLibrary &cuda = context->cuda();
  auto copy = std::ranges::find_if(unused, [&](std::span<uint64_t> each) { return each.size() >= count; });
  if (copy == unused.end()) {
    const size_t bytes = std::bit_ceil(count) * sizeof(uint64_t);
    void *memory = nullptr;
    KILN_RETURN_IF_ERROR(context->check(
        cuda.cuMemAllocHost_v2(&memory, bytes),
        fmt::format("allocate {} bytes of the host's memory that the device can write, for timestamps", bytes)));
    blocks.push_back(memory);
    copy = unused.insert(unused.end(), {static_cast<uint64_t *>(memory), bytes / sizeof(uint64_t)});
  }
  KILN_RETURN_IF_ERROR(context->check(cuda.cuMemcpyDtoHAsync_v2(copy->data(), places, count * sizeof(uint64_t), stream),
                                      "ask for timestamps"));
  std::span<uint64_t> taken = *copy;
  unused.erase(copy);
  return taken;
}

Result<ClockSample> CudaStamps::sample() {
  const CudaLibrary &cuda = context->cuda();
  CudaContext::Scope scope(*context);
  std::lock_guard lock(mutex);
  KILN_RETURN_IF_ERROR(load());
  if (!sampling)
    KILN_RETURN_IF_ERROR(
        context->check(cuda.cuStreamCreate(&sampling, cuda::kStreamNonBlocking), "make a stream for timestamps"));
  if (!samplingPlace)
    KILN_RETURN_IF_ERROR(context->checkAllocation(cuda.cuMemAlloc_v2(&samplingPlace, sizeof(uint64_t)),
                                                  sizeof(uint64_t), "for timestamps"));
  ClockSample sample;
  sample.before = monotonicNanoseconds();
  KILN_RETURN_IF_ERROR(launch(sampling, samplingPlace));
  KILN_RETURN_IF_ERROR(context->check(cuda.cuStreamSynchronize(sampling), "read the device's clock"));
  sample.after = monotonicNanoseconds();
  KILN_RETURN_IF_ERROR(context->copyToHost(&sample.ticks, samplingPlace, sizeof(uint64_t)));
  return sample;
}

} // namespace kiln::hal
