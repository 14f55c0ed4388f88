// Assertions of kernels that fail.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_FAILURES_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_FAILURES_H

#include "kiln/targets/cuda/driver/cuda_context.h"

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace kiln::hal {

// A queue's word in device memory, which threads lower to the number of the assertion that they find false. After each
// submission that has assertions the stream copies the word to the host and raises it again.
class CudaFailures {
public:
  // What the word holds where all is well.
  static constexpr uint64_t kNone = ~uint64_t(0);

  explicit CudaFailures(Ref<CudaContext> context) : context(std::move(context)) {}
  CudaFailures(const CudaFailures &) = delete;
  CudaFailures &operator=(const CudaFailures &) = delete;
  // Nothing is in flight.
  ~CudaFailures();

  // Makes the word where it is not there yet. May be called on any thread; the other functions with the queue locked.
  Status enable();
  CUdeviceptr address() const { return word.load(std::memory_order_acquire); }

  // Raises the word when the stream has got so far.
  Status clear(CUstream stream);
  // Clears it, and gives where the host will find what was there before once the stream
  // has got so far; `read` gives the place back.
  Result<uint64_t *> collect(CUstream stream);
  uint64_t read(uint64_t *copy);

  // The number that assertion 0 of a recording's command has, and which assertion of which command a number is.
  static uint64_t numberOf(uint64_t command) { return command << 32; }
  static std::pair<uint64_t, uint64_t> decode(uint64_t number) { return {number >> 32, number & UINT32_MAX}; }

private:
  Ref<CudaContext> context;
  std::mutex making;
  std::atomic<CUdeviceptr> word{0};
  std::vector<uint64_t *> blocks; // of copies, in memory that the device writes at its own pace
  std::vector<uint64_t *> unused; // copies
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_FAILURES_H
