// A stream of a GPU, and what waits in it: submissions complete in the order in which they were launched. Those of
// other queues that a submission comes after are waited for by the device.
//
// Whoever waits for a submission asks the device itself; a thread of the queue does so for those for whom nobody waits.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_QUEUE_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_QUEUE_H

#include "kiln/base/ref.h"
#include "kiln/runtime/hal/buffer.h"
#include "kiln/runtime/hal/command_buffer.h"
#include "kiln/runtime/hal/execution_times.h"
#include "kiln/runtime/hal/fence_listener.h"
#include "kiln/runtime/hal/host_semaphore.h"
#include "kiln/targets/cuda/driver/cuda_context.h"
#include "kiln/targets/cuda/driver/cuda_failures.h"
#include "kiln/targets/cuda/driver/cuda_stamps.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace kiln::hal {

class CudaCommandBuffer;
class CudaDevice;
class CudaQueue;

// The queues of a device. One submission at a time is launched or told of, as recordings have graphs and executables
// tensor maps that all queues use.
struct CudaQueues {
  std::mutex mutex;
  std::vector<CudaQueue *> all; // guarded
};

// The timeline of one submission.
class CudaSemaphore final : public HostSemaphore {
public:
  explicit CudaSemaphore(Ref<CudaDevice> device);
  ~CudaSemaphore() override;

  Status wait(uint64_t target, Deadline deadline) override;
  void loseDevice(Status why) override;

  // Whether what is put into a queue of `other` from now on can be made to run after what signals this.
  bool isLaunchedOn(const CudaDevice &other) const {
    return device.get() == &other && launched.load(std::memory_order_acquire);
  }
  void setLaunched() { launched.store(true, std::memory_order_release); }
  CudaQueue *queue() const { return itsQueue; }

private:
  friend class CudaSubmission;
  friend class CudaQueue;

  Ref<CudaDevice> device;
  std::atomic<bool> launched{false};
  CudaQueue *itsQueue = nullptr; // set before it is launched, to be compared only
  bool canFail = false;          // by an assertion; the same
  CUevent event = nullptr;       // guarded by the queues: that of the submission, until it is told of
  Status failure;                // the same: why it failed although the device works
};

// One execution of a command buffer; retains what it uses.
class CudaSubmission final : public FenceListener {
public:
  ~CudaSubmission();

  // Launches it in one of the queues of a mask when `wait`, which may be null, is signalled, or at once where the
  // device keeps the order by itself. `times` may be null, too.
  static Ref<Fence> start(CudaDevice &device, uint64_t queues, Fence *wait, CudaCommandBuffer &commands,
                          std::span<const Binding> bindings, ExecutionTimes *times);

private:
  friend class CudaQueue;
  CudaSubmission(CudaDevice &device, CudaCommandBuffer &commands, std::span<const Binding> bindings);
  void onSignaled(Status status) override;
  // Drops what is retained, and then signals.
  void complete(Status status);

  Ref<CudaSemaphore> done;
  Ref<CudaDevice> device;
  Ref<CudaCommandBuffer> commands;
  std::vector<Ref<Buffer>> retained;
  std::vector<Binding> table;
  // What it was launched behind: of other queues, and what it fails with.
  std::vector<Ref<CudaSemaphore>> after;
  CUevent event = nullptr;     // the queue's
  uint64_t *failure = nullptr; // the queue's, where the recording can fail
  Ref<ExecutionTimes> times;
  std::span<uint64_t> stamps; // the queue's, where there are times
};

class CudaQueue final : public RefCounted {
public:
  static Result<Ref<CudaQueue>> create(Ref<CudaContext> context, std::shared_ptr<CudaQueues> queues);

  CUstream stream() const { return cudaStream; }
  // Puts a submission into the stream; where that fails it completes with the error.
  void launch(std::unique_ptr<CudaSubmission> submission);
  // Completes what the device has ended, in all of its queues. Never waits.
  void reap();
  // Nothing is submitted any more; called by the device's destructor, on any thread.
  void shutDown();

  CudaFailures &failures() { return failedAssertions; }
  CudaStamps &stamps() { return timestamps; }
  // For whoever puts other work into the stream.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(queues->mutex); }

  // Of `blocks` blocks those that get scratch memory at the same time.
  static uint64_t scratchBlocks(uint64_t bytesOfBlock, uint64_t blocks);
  // At least so much of it, which all submissions share. The queue is locked.
  Result<CUdeviceptr> reserveScratch(uint64_t bytes);
  // Where it is; 0 where there is none. The queue is locked.
  CUdeviceptr scratchAddress() const { return scratch; }

private:
  using Ended = std::vector<std::pair<std::unique_ptr<CudaSubmission>, Status>>;

  CudaQueue(Ref<CudaContext> context, std::shared_ptr<CudaQueues> queues)
      : context(context), queues(std::move(queues)), failedAssertions(context), timestamps(std::move(context)) {}
  ~CudaQueue() override;
  void watch();
  Status enqueue(CudaSubmission &submission);
  // Moves what the device has ended to `ended`; whether there was any. What comes after others is told of after them.
  bool takeEnded(Ended &ended);
  Status outcomeOf(const CudaSubmission &submission, CUresult result);
  // The error of a submission that the device has failed at, which loses the device.
  Status failureOf(const CudaSubmission &submission, CUresult result);
  Result<CUevent> takeEvent();

  Ref<CudaContext> context;
  const std::shared_ptr<CudaQueues> queues;
  CUstream cudaStream = nullptr;
  std::condition_variable changed;
  std::deque<std::unique_ptr<CudaSubmission>> pending; // guarded
  std::vector<CUevent> freeEvents;                     // guarded; destroyed with the queue only
  CUdeviceptr scratch = 0;                             // guarded
  uint64_t scratchBytes = 0;                           // guarded
  CudaFailures failedAssertions;                       // guarded
  CudaStamps timestamps;                               // guarded, where it says so
  bool stopping = false;                               // guarded
  std::thread watcher;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_QUEUE_H
