#include "kiln/targets/cuda/driver/cuda_queue.h"

#include "kiln/runtime/task/spin.h"
#include "kiln/targets/cuda/driver/cuda_allocator.h"
#include "kiln/targets/cuda/driver/cuda_command_buffer.h"
#include "kiln/targets/cuda/driver/cuda_device.h"

#include <algorithm>
#include <utility>

#include <thread>

namespace kiln::hal {

//===--- CudaSemaphore --------------------------------------------------------------------------------------------===//

CudaSemaphore::CudaSemaphore(Ref<CudaDevice> device) : HostSemaphore(0), device(std::move(device)) {}

CudaSemaphore::~CudaSemaphore() = default;

// Short work is awaited by asking the device over and over, which notices its end within a microsecond; to be woken
// takes a tenth of a millisecond. After a while others may use the processor in between.
Status CudaSemaphore::wait(uint64_t target, Deadline deadline) {
  constexpr uint64_t kAlone = 200'000; // nanoseconds
  // Processors that simulate a GPU are left alone sooner.
  const uint64_t patience = device->context().cuda().isSimulated() ? kAlone : 5'000'000;
  const uint64_t begin = monotonicNanoseconds();
  for (uint64_t waited = 0; waited < patience && !isReached(target) && !deadline.isImmediate() && deadline.remaining();
       waited = monotonicNanoseconds() - begin) {
    device->queue().reap();
    if (waited < kAlone)
      task::cpuRelax();
    else
      std::this_thread::yield();
  }
  return HostSemaphore::wait(target, deadline);
}

void CudaSemaphore::loseDevice(Status why) {
  device->lose(std::move(why));
}

//===--- CudaSubmission -------------------------------------------------------------------------------------------===//

CudaSubmission::CudaSubmission(CudaDevice &owner, CudaCommandBuffer &base, std::span<const Binding> bindings)
    : done(makeRef<CudaSemaphore>(Ref<CudaDevice>::share(&owner))), device(Ref<CudaDevice>::share(&owner)),
      commands(Ref<CudaCommandBuffer>::share(&base)), table(bindings.begin(), bindings.end()) {
  for (const Binding &binding : bindings)
    retained.push_back(Ref<Buffer>::share(binding.buffer));
}

CudaSubmission::~CudaSubmission() = default;

// Whether what `wait` stands for has been done, or is ahead in the device's own queue.
static bool isOrdered(const CudaDevice &device, const Fence *wait) {
  if (!wait)
    return true;
  return std::ranges::all_of(wait->points(), [&](const SemaphorePoint &point) {
    const auto *ours = dynamic_cast<const CudaSemaphore *>(point.semaphore.get());
    return (ours && ours->isLaunchedOn(device)) ||
           (point.semaphore->isReached(point.value) && point.semaphore->query().ok());
  });
}

// Of the queues that a mask allows, that of work which it comes after, so that nothing is waited for, or the next in
// turn.
static CudaQueue &chooseQueue(CudaDevice &device, uint64_t mask, const Fence *wait) {
  if (wait && device.queueCount() > 1)
    for (const SemaphorePoint &point : wait->points())
      if (const auto *before = dynamic_cast<const CudaSemaphore *>(point.semaphore.get()))
        if (before->isLaunchedOn(device) && device.isAmong(mask, *before->queue()))
          return *before->queue();
  return device.nextQueue(mask);
}

Ref<Fence> CudaSubmission::start(CudaDevice &device, uint64_t queues, Fence *wait, CudaCommandBuffer &commands,
                                 std::span<const Binding> bindings, ExecutionTimes *times) {
  std::unique_ptr<CudaSubmission> submission(new CudaSubmission(device, commands, bindings));
  submission->times = Ref<ExecutionTimes>::share(times);
  Ref<Fence> fence = Fence::create(submission->done, 1);
  CudaQueue &queue = chooseQueue(device, queues, wait);
  submission->done->itsQueue = &queue;
  submission->done->canFail = commands.canFail();
  if (isOrdered(device, wait)) {
    if (wait)
      for (const SemaphorePoint &point : wait->points()) {
        auto *before = dynamic_cast<CudaSemaphore *>(point.semaphore.get());
        if (!before || !before->isLaunchedOn(device) || (before->queue() == &queue && !before->canFail))
          continue;
        submission->after.push_back(Ref<CudaSemaphore>::share(before));
        submission->done->canFail |= before->canFail;
      }
    queue.launch(std::move(submission));
  } else
    submission.release()->listen(*wait);
  return fence;
}

void CudaSubmission::onSignaled(Status status) {
  std::unique_ptr<CudaSubmission> self(this);
  if (!status.ok())
    return complete(std::move(status));
  Ref<CudaQueue> queue = Ref<CudaQueue>::share(done->itsQueue);
  queue->launch(std::move(self));
}

void CudaSubmission::complete(Status status) {
  commands = nullptr;
  retained.clear();
  after.clear();
  if (status.ok())
    status = done->signal(1);
  if (!status.ok())
    done->fail(std::move(status));
}

//===--- CudaQueue ------------------------------------------------------------------------------------------------===//

Result<Ref<CudaQueue>> CudaQueue::create(Ref<CudaContext> context, std::shared_ptr<CudaQueues> queues) {
  Ref<CudaQueue> queue = Ref<CudaQueue>::adopt(new CudaQueue(std::move(context), std::move(queues)));
  const CudaLibrary &cuda = queue->context->cuda();
  CudaContext::Scope scope(*queue->context);
  KILN_RETURN_IF_ERROR(queue->context->check(cuda.cuStreamCreate(&queue->cudaStream, cuda::kStreamNonBlocking),
                                             "make a stream for dispatches"));
  queue->watcher = std::thread([raw = queue.get()] { raw->watch(); });
  std::lock_guard lock(queue->queues->mutex);
  queue->queues->all.push_back(queue.get());
  return queue;
}

CudaQueue::~CudaQueue() {
  {
    std::lock_guard lock(queues->mutex);
    std::erase(queues->all, this);
  }
  const CudaLibrary &cuda = context->cuda();
  CudaContext::Scope scope(*context);
  for (CUevent event : freeEvents)
    cuda.cuEventDestroy_v2(event);
  if (scratch)
    cuda.cuMemFree_v2(scratch);
  if (cudaStream)
    cuda.cuStreamDestroy_v2(cudaStream);
}

void CudaQueue::shutDown() {
  {
    std::lock_guard lock(queues->mutex);
    stopping = true;
  }
  changed.notify_all();
  if (!watcher.joinable())
    return;
  if (watcher.get_id() != std::this_thread::get_id()) {
    watcher.join();
    return;
  }
  // The watcher itself has dropped the device: it goes on for a moment, with a reference of its own.
  retain();
  watcher.detach();
}

// Waits for the submission that is ahead of all others.
void CudaQueue::watch() {
  CudaContext::Scope scope(*context);
  std::unique_lock lock(queues->mutex);
  const std::thread::id self = std::this_thread::get_id();
  while (true) {
    changed.wait(lock, [&] { return stopping || !pending.empty(); });
    if (pending.empty())
      break;
    CUevent event = pending.front()->event;
    lock.unlock();
    // Where others have completed it meanwhile, the event may stand for a later submission, and the wait is longer.
    context->cuda().cuEventSynchronize(event);
    reap();
    lock.lock();
  }
  bool isDetached = watcher.get_id() != self;
  lock.unlock();
  if (isDetached)
    release();
}

Result<CUevent> CudaQueue::takeEvent() {
  if (!freeEvents.empty()) {
    CUevent event = freeEvents.back();
    freeEvents.pop_back();
    return event;
  }
  CUevent event = nullptr;
  const CudaLibrary &cuda = context->cuda();
  KILN_RETURN_IF_ERROR(context->check(cuda.cuEventCreate(&event, cuda::kEventBlockingSync | cuda::kEventDisableTiming),
                                      "make an event"));
  return event;
}

void CudaQueue::launch(std::unique_ptr<CudaSubmission> submission) {
  CudaContext::Scope scope(*context);
  std::unique_lock lock(queues->mutex);
  NvtxRange range(context->cuda().ranges(), submission->commands->rangeName());
  Result<CUevent> event = takeEvent();
  Status status = event.ok() ? enqueue(*submission) : event.status();
  // The event comes after what was launched before an error, which still uses the buffers.
  if (event.ok()) {
    submission->event = *event;
    CUresult result = context->cuda().cuEventRecord(*event, cudaStream);
    // An event is refused where a kernel has failed already, which is then the error of what was launched.
    if (status.ok() && result != cuda::kSuccess)
      status = failureOf(*submission, result);
  }
  if (!status.ok()) {
    if (submission->commands->canFail())
      (void)failedAssertions.clear(cudaStream);
    (void)context->cuda().cuStreamSynchronize(cudaStream);
    if (submission->failure)
      failedAssertions.read(submission->failure);
    if (!submission->stamps.empty())
      timestamps.giveBack(submission->stamps);
    if (event.ok())
      freeEvents.push_back(*event);
    lock.unlock();
    submission->complete(std::move(status));
    return;
  }
  submission->done->event = *event;
  submission->done->setLaunched();
  pending.push_back(std::move(submission));
  lock.unlock();
  changed.notify_one();
}

Status CudaQueue::enqueue(CudaSubmission &submission) {
  CudaCommandBuffer &commands = *submission.commands;
  // What has been told of has no event any more.
  for (const Ref<CudaSemaphore> &before : submission.after)
    if (before->event && before->itsQueue != this)
      KILN_RETURN_IF_ERROR(context->check(context->cuda().cuStreamWaitEvent(cudaStream, before->event, 0),
                                          "wait for what another queue does"));
  if (!submission.times) {
    KILN_RETURN_IF_ERROR(commands.enqueue(*this, submission.table));
  } else {
    KILN_ASSIGN_OR_RETURN(submission.stamps, commands.enqueueTimed(*this, submission.table, submission.times->detail));
  }
  if (commands.canFail()) {
    KILN_ASSIGN_OR_RETURN(submission.failure, failedAssertions.collect(cudaStream));
  }
  return okStatus();
}

bool CudaQueue::takeEnded(Ended &ended) {
  const size_t before = ended.size();
  while (!pending.empty()) {
    CudaSubmission &front = *pending.front();
    auto isUntold = [&](const Ref<CudaSemaphore> &each) { return each->event && each->itsQueue != this; };
    if (std::ranges::any_of(front.after, isUntold))
      break;
    CUresult result = context->cuda().cuEventQuery(front.event);
    if (result == cuda::kNotReady)
      break;
    freeEvents.push_back(front.event);
    front.done->event = nullptr;
    Status status = outcomeOf(front, result);
    if (!front.stamps.empty()) {
      if (status.ok())
        front.commands->readTimes(front.stamps, *front.times);
      timestamps.giveBack(front.stamps);
    }
    ended.emplace_back(std::move(pending.front()), std::move(status));
    pending.pop_front();
  }
  return ended.size() > before;
}

void CudaQueue::reap() {
  Ended ended;
  {
    CudaContext::Scope scope(*context);
    std::lock_guard lock(queues->mutex);
    for (bool goesOn = true; goesOn;) {
      goesOn = false;
      for (CudaQueue *queue : queues->all)
        goesOn |= queue->takeEnded(ended);
      goesOn &= queues->all.size() > 1;
    }
  }
  // Completing a submission may drop the last reference to the device, and with it the one to this queue.
  Ref<CudaQueue> keep = ended.empty() ? nullptr : Ref<CudaQueue>::share(this);
  for (auto &[submission, status] : ended) {
    submission->complete(std::move(status));
    submission.reset();
  }
}

Status CudaQueue::failureOf(const CudaSubmission &submission, CUresult result) {
  Status status = context->check(result, fmt::format("run {}", submission.commands->describe()));
  submission.device->lose(status);
  return status;
}

// The queues are locked, so that what was launched behind this submission sees how it ended.
Status CudaQueue::outcomeOf(const CudaSubmission &submission, CUresult result) {
  const uint64_t failure = submission.failure ? failedAssertions.read(submission.failure) : CudaFailures::kNone;
  if (result != cuda::kSuccess)
    return failureOf(submission, result);
  Status &status = submission.done->failure;
  for (const Ref<CudaSemaphore> &before : submission.after)
    if (status.ok())
      status = before->failure;
  if (status.ok() && failure != CudaFailures::kNone)
    status = submission.commands->describeFailure(failure);
  return status;
}

uint64_t CudaQueue::scratchBlocks(uint64_t bytesOfBlock, uint64_t blocks) {
  // Enough for every multiprocessor to have several blocks, where these are small.
  constexpr uint64_t kMost = uint64_t(256) << 20;
  return std::clamp<uint64_t>(kMost / bytesOfBlock, 1, blocks);
}

Result<CUdeviceptr> CudaQueue::reserveScratch(uint64_t bytes) {
  if (bytes <= scratchBytes)
    return scratch;
  const CudaLibrary &cuda = context->cuda();
  KILN_RETURN_IF_ERROR(context->check(cuda.cuStreamSynchronize(cudaStream), "await the dispatches before"));
  if (scratch)
    cuda.cuMemFree_v2(std::exchange(scratch, 0));
  scratchBytes = 0;
  KILN_RETURN_IF_ERROR(context->checkAllocation(cuda.cuMemAlloc_v2(&scratch, bytes), bytes,
                                                "of scratch memory, which dispatches share,"));
  scratchBytes = bytes;
  return scratch;
}

} // namespace kiln::hal
