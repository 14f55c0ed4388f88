// Timestamps of a GPU around what is put into its stream.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_CLOCK_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_CLOCK_H

#include "kiln/runtime/hal/device_clock.h"
#include "kiln/targets/cuda/driver/cuda_context.h"

#include <functional>

namespace kiln::hal {

class CudaDevice;
class CudaQueue;

class CudaClock final : public DeviceClock {
public:
  explicit CudaClock(CudaDevice &device) : device(device) {}
  bool isSimulated() const override;
  Result<Ref<TimedWork>> prepare(std::vector<Submission> submissions) override;

private:
  CudaDevice &device;
};

class CudaTimedWork final : public TimedWork {
public:
  // Puts work into the queue's stream, the same each time; the context is the thread's.
  using Enqueue = std::function<Status(CudaQueue &queue)>;
  // Whatever `enqueue` uses outlives this. It is called once now, to capture a graph; where it puts something into the
  // stream that cannot be captured, it is called again for each run.
  static Result<Ref<CudaTimedWork>> create(Ref<CudaDevice> device, Enqueue enqueue);

  bool isGraph() const override { return executable != nullptr; }
  Result<double> run() override;

private:
  CudaTimedWork(Ref<CudaDevice> device, Enqueue enqueue) : device(std::move(device)), enqueue(std::move(enqueue)) {}
  ~CudaTimedWork() override;
  Status capture();
  Status launch();

  Ref<CudaDevice> device;
  const Enqueue enqueue;
  CUevent started = nullptr, ended = nullptr;
  CUgraphExec executable = nullptr;
  CUdeviceptr scratch = 0; // of the queue when the graph was captured
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_CLOCK_H
