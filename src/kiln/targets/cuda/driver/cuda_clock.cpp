#include "kiln/targets/cuda/driver/cuda_clock.h"

#include "kiln/targets/cuda/driver/cuda_command_buffer.h"
#include "kiln/targets/cuda/driver/cuda_device.h"

#include <memory>
#include <mutex>
#include <utility>

namespace kiln::hal {

bool CudaClock::isSimulated() const {
  return device.context().cuda().isSimulated();
}

Result<Ref<TimedWork>> CudaClock::prepare(std::vector<Submission> submissions) {
  auto all = std::make_shared<std::vector<Submission>>(std::move(submissions));
  auto enqueue = [all](CudaQueue &queue) {
    for (const Submission &submission : *all)
      KILN_RETURN_IF_ERROR(
          static_cast<CudaCommandBuffer &>(*submission.commands).enqueueAlone(queue, submission.bindings));
    return okStatus();
  };
  KILN_ASSIGN_OR_RETURN(Ref<CudaTimedWork> work, CudaTimedWork::create(Ref<CudaDevice>::share(&device), enqueue));
  return Ref<TimedWork>(std::move(work));
}

Result<Ref<CudaTimedWork>> CudaTimedWork::create(Ref<CudaDevice> device, Enqueue enqueue) {
  Ref<CudaTimedWork> work = Ref<CudaTimedWork>::adopt(new CudaTimedWork(std::move(device), std::move(enqueue)));
  const CudaContext &context = work->device->context();
  const CudaLibrary &cuda = context.cuda();
  CudaContext::Scope scope(context);
  KILN_RETURN_IF_ERROR(context.check(cuda.cuEventCreate(&work->started, 0), "make an event"));
  KILN_RETURN_IF_ERROR(context.check(cuda.cuEventCreate(&work->ended, 0), "make an event"));
  std::unique_lock lock = work->device->queue().lock();
  KILN_RETURN_IF_ERROR(work->capture());
  return work;
}

CudaTimedWork::~CudaTimedWork() {
  const CudaLibrary &cuda = device->context().cuda();
  CudaContext::Scope scope(device->context());
  if (executable)
    cuda.cuGraphExecDestroy(executable);
  for (CUevent event : {started, ended})
    if (event)
      cuda.cuEventDestroy_v2(event);
}

// The timestamps are nodes of the graph, so that launching it is no part of the time. An error of `enqueue` is told
// when its work, which is not captured then, runs.
Status CudaTimedWork::capture() {
  const CudaContext &context = device->context();
  const CudaLibrary &cuda = context.cuda();
  CudaQueue &queue = device->queue();
  if (executable)
    cuda.cuGraphExecDestroy(std::exchange(executable, nullptr));
  scratch = queue.scratchAddress();
  KILN_RETURN_IF_ERROR(
      context.check(cuda.cuStreamBeginCapture_v2(queue.stream(), cuda::kCaptureOfThread), "begin to capture a graph"));
  const bool isCaptured =
      cuda.cuEventRecordWithFlags(started, queue.stream(), cuda::kEventRecordExternal) == cuda::kSuccess &&
      enqueue(queue).ok() &&
      cuda.cuEventRecordWithFlags(ended, queue.stream(), cuda::kEventRecordExternal) == cuda::kSuccess;
  CUgraph graph = nullptr;
  if (cuda.cuStreamEndCapture(queue.stream(), &graph) != cuda::kSuccess || !graph)
    return okStatus();
  if (isCaptured && cuda.cuGraphInstantiateWithFlags(&executable, graph, 0) != cuda::kSuccess)
    executable = nullptr;
  cuda.cuGraphDestroy(graph);
  return executable ? context.check(cuda.cuGraphUpload(executable, queue.stream()), "upload a graph") : okStatus();
}

Status CudaTimedWork::launch() {
  CudaQueue &queue = device->queue();
  // Scratch memory moves where somebody needs more of it: that ends a capture, too.
  if (scratch != queue.scratchAddress())
    KILN_RETURN_IF_ERROR(capture());
  const CudaContext &context = device->context();
  const CudaLibrary &cuda = context.cuda();
  if (executable)
    return context.check(cuda.cuGraphLaunch(executable, queue.stream()), "launch a graph");
  KILN_RETURN_IF_ERROR(context.check(cuda.cuEventRecord(started, queue.stream()), "record an event"));
  KILN_RETURN_IF_ERROR(enqueue(queue));
  return context.check(cuda.cuEventRecord(ended, queue.stream()), "record an event");
}

Result<double> CudaTimedWork::run() {
  const CudaContext &context = device->context();
  const CudaLibrary &cuda = context.cuda();
  CudaContext::Scope scope(context);
  CudaQueue &queue = device->queue();
  uint64_t *failure = nullptr;
  {
    std::unique_lock lock = queue.lock();
    KILN_RETURN_IF_ERROR(launch());
    if (queue.failures().address()) {
      KILN_ASSIGN_OR_RETURN(failure, queue.failures().collect(queue.stream()));
    }
  }
  if (CUresult result = cuda.cuStreamSynchronize(queue.stream()); result != cuda::kSuccess) {
    Status status = context.check(result, "run what is timed");
    device->lose(status);
    return status;
  }
  if (failure) {
    std::unique_lock lock = queue.lock();
    if (queue.failures().read(failure) != CudaFailures::kNone)
      return failedPrecondition("an assertion failed in what is timed");
  }
  float milliseconds = 0;
  KILN_RETURN_IF_ERROR(
      context.check(cuda.cuEventElapsedTime(&milliseconds, started, ended), "ask for the time between two events"));
  return double(milliseconds) * 1e6;
}

} // namespace kiln::hal
