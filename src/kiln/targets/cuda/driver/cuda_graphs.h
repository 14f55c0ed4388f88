// CUDA graphs of a recording that is executed again and again.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_GRAPHS_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_GRAPHS_H

#include "kiln/targets/cuda/driver/cuda_context.h"

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace kiln::hal {

// A graph is launched by one call of the driver, but belongs to addresses. It is made when commands come with the same
// addresses for the second time; the one that was unused for longest is updated to other addresses, which is less work
// than to make a new one. Used with the queue locked and its context the thread's.
class CudaGraphs {
public:
  explicit CudaGraphs(Ref<CudaContext> context) : context(std::move(context)) {}
  CudaGraphs(const CudaGraphs &) = delete;
  CudaGraphs &operator=(const CudaGraphs &) = delete;
  ~CudaGraphs();

  // Puts into the stream what `enqueue` puts there one by one, which depends on these addresses alone.
  Status launch(CUstream stream, std::vector<uint64_t> addresses, const std::function<Status()> &enqueue);

private:
  static constexpr size_t kEntries = 4;
  struct Entry {
    std::vector<uint64_t> addresses;
    bool isForAddresses = false; // else `executable` is for others, which were there before
    CUgraphExec executable = nullptr;
    uint64_t lastUse = 0;
  };
  Status prepare(CUstream stream, Entry &entry, const std::function<Status()> &enqueue);

  Ref<CudaContext> context;
  std::array<Entry, kEntries> entries;
  uint64_t uses = 0;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_GRAPHS_H
