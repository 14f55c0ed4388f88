// Readings of a GPU's clock between the commands of a stream.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_STAMPS_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_STAMPS_H

#include "kiln/base/clock_fit.h"
#include "kiln/targets/cuda/driver/cuda_context.h"

#include <mutex>
#include <span>
#include <vector>

namespace kiln::hal {

// A kernel of one thread writes %globaltimer, in nanoseconds, to a place in device memory: that can be part of a graph,
// all readings are of one clock, and none has to be awaited. Behind the commands the stream copies all readings to the
// host, so that submissions in flight share the places, and replays keep times of their own.
class CudaStamps {
public:
  explicit CudaStamps(Ref<CudaContext> context) : context(std::move(context)) {}
  CudaStamps(const CudaStamps &) = delete;
  CudaStamps &operator=(const CudaStamps &) = delete;
  // Nothing is in flight.
  ~CudaStamps();

  // Makes room for so many readings; what is in the stream is awaited where there was less. These functions are called
  // with the stream's queue locked and the context the thread's.
  Status reserve(CUstream stream, size_t count);
  // Of the first reading; others follow. It changes with `reserve` alone.
  CUdeviceptr address() const { return places; }
  // Puts a reading into the stream.
  Status read(CUstream stream, size_t place);
  // Gives where the host will find the first readings once the stream has got so far.
  Result<std::span<uint64_t>> collect(CUstream stream, size_t count);
  void giveBack(std::span<uint64_t> copy) { unused.push_back(copy); }

  // By a stream of its own. May be called on any thread, the queue need not be locked.
  Result<ClockSample> sample();

private:
  Status load();
  Status launch(CUstream stream, CUdeviceptr place);

  const Ref<CudaContext> context;
  CUdeviceptr places = 0;
  size_t room = 0;
  std::vector<void *> blocks;              // of copies, in memory that the device writes at its own pace
  std::vector<std::span<uint64_t>> unused; // copies

  std::mutex mutex;
  CUmodule module = nullptr;     // guarded until it is there
  CUfunction kernel = nullptr;   // the same
  CUstream sampling = nullptr;   // guarded
  CUdeviceptr samplingPlace = 0; // guarded
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_STAMPS_H
