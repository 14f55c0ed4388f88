#include "kiln/measure/providers/gpu_provider.h"

#include <algorithm>
#include <limits>

#include "kiln/runtime/hal/driver.h"
#include "kiln/targets/cuda/driver/cuda_allocator.h"
#include "kiln/targets/drivers.h"

namespace kiln::measure {

Status GpuProvider::start(uint32_t) {
  if (deviceUri.empty())
    return unimplemented("this provider computes on NVIDIA's GPUs, as with --device=cuda");
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Device> opened, registry.createDevice(deviceUri));
  auto *cuda = dynamic_cast<hal::CudaDevice *>(opened.get());
  if (!cuda)
    return unimplemented("this provider computes on NVIDIA's GPUs, and not on {}", deviceUri);
  halDevice = Ref<hal::CudaDevice>::share(cuda);
  hal::CudaContext::Scope scope(gpu().context());
  return openLibrary(gpu().context().cuda());
}

WorkerDevice GpuProvider::device() const {
  using Clock = WorkerDevice::Clock;
  return {deviceUri, false, gpu().clock()->isSimulated() ? Clock::Simulated : Clock::Device, gpu().cacheBytes()};
}

Result<void *> GpuProvider::addressOf(Result<Ref<hal::Buffer>> buffer) {
  KILN_RETURN_IF_ERROR(buffer.status());
  return reinterpret_cast<void *>(hal::CudaBuffer::addressOf(gpu().context(), **buffer));
}

Status GpuProvider::load(const LoadRequest &request, TensorMemory &memory) {
  KILN_ASSIGN_OR_RETURN(deviceTensors, DeviceTensors::create(gpu().allocator(), memory));
  KILN_ASSIGN_OR_RETURN(scratchBuffer, gpu().allocator().allocate(hal::BufferUsage::External, kWorkspaceBytes));
  scratch = reinterpret_cast<void *>(hal::CudaBuffer::addressOf(gpu().context(), *scratchBuffer));
  for (uint32_t set = 0; set < memory.sets(); ++set) {
    std::vector<void *> &ofSet = inputs.emplace_back();
    for (size_t i = 0; i < memory.inputs().size(); ++i) {
      KILN_ASSIGN_OR_RETURN(ofSet.emplace_back(), addressOf(deviceTensors.input(i, set)));
    }
    KILN_ASSIGN_OR_RETURN(outputs.emplace_back(), addressOf(deviceTensors.output(0, set)));
  }
  hal::CudaContext::Scope scope(gpu().context());
  KILN_RETURN_IF_ERROR(prepareProblem(request));
  // The first call loads kernels, which cannot be done while a graph is captured.
  return call(0);
}

Status GpuProvider::await(std::string_view what) {
  const hal::CudaLibrary &cuda = gpu().context().cuda();
  return cuda.check(cuda.cuStreamSynchronize(stream()), what);
}

Status GpuProvider::call(uint32_t set) {
  hal::CudaContext::Scope scope(gpu().context());
  KILN_RETURN_IF_ERROR(enqueue(set));
  return await("run a call");
}

Status GpuProvider::run(uint32_t set) {
  KILN_RETURN_IF_ERROR(upload({set, 1}, /*outputsOnly=*/false));
  KILN_RETURN_IF_ERROR(runOnDevice(set));
  return fetch({set, 1});
}

Status GpuProvider::runOnDevice(uint32_t set) {
  KILN_RETURN_IF_ERROR(prepareWeights(set));
  return call(set);
}

Result<Ref<hal::TimedWork>> GpuProvider::prepare(std::span<const uint32_t> sets) {
  auto enqueueAll = [this, all = std::vector(sets.begin(), sets.end())](hal::CudaQueue &) {
    for (uint32_t set : all)
      KILN_RETURN_IF_ERROR(enqueue(set));
    return okStatus();
  };
  KILN_ASSIGN_OR_RETURN(Ref<hal::CudaTimedWork> work, hal::CudaTimedWork::create(halDevice, enqueueAll));
  return Ref<hal::TimedWork>(std::move(work));
}

Result<double> GpuProvider::timeCalls() {
  constexpr size_t kCalls = 5;
  constexpr int kTries = 3;
  KILN_RETURN_IF_ERROR(call(0));
  KILN_ASSIGN_OR_RETURN(Ref<hal::TimedWork> work, prepare(std::vector<uint32_t>(kCalls, 0)));
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    KILN_ASSIGN_OR_RETURN(const double took, work->run());
    fastest = std::min(fastest, took);
  }
  return fastest;
}

Status GpuProvider::emptyCall() {
  const hal::CudaLibrary &cuda = gpu().context().cuda();
  hal::CudaContext::Scope scope(gpu().context());
  KILN_RETURN_IF_ERROR(
      cuda.check(cuda.cuMemsetD8Async(reinterpret_cast<hal::CUdeviceptr>(scratch), 0, 64, stream()), "fill 64 bytes"));
  return await("fill 64 bytes");
}

} // namespace kiln::measure
