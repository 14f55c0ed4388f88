// A recording for a GPU: commands that are put into a stream one after the other, which keeps every order.
#ifndef KILN_TARGETS_CUDA_DRIVER_CUDA_COMMAND_BUFFER_H
#define KILN_TARGETS_CUDA_DRIVER_CUDA_COMMAND_BUFFER_H

#include "kiln/runtime/hal/command_buffer.h"
#include "kiln/runtime/hal/execution_times.h"
#include "kiln/targets/cuda/driver/cuda_executable.h"
#include "kiln/targets/cuda/driver/cuda_graphs.h"

#include <span>
#include <string>
#include <vector>

namespace kiln::hal {

class CudaQueue;

// After finalize immutable but for its graphs, and so shared by all executions.
class CudaCommandBuffer final : public CommandBuffer {
public:
  CudaCommandBuffer(Device *device, Ref<CudaContext> context, CommandBufferMode mode, uint32_t slotCount)
      : CommandBuffer(device, mode, slotCount), context(context), graphs(context), timedGraphs(std::move(context)) {}

  // Puts the commands into the queue's stream, for a table that has been checked, as a graph where that is worth it.
  // The queue is locked, and its context the thread's.
  Status enqueue(CudaQueue &queue, std::span<const Binding> bindings);
  // The same with readings of the device's clock before, between and after, as `readTimes` takes them.
  Result<std::span<uint64_t>> enqueueTimed(CudaQueue &queue, std::span<const Binding> bindings, TimesDetail detail);
  void readTimes(std::span<const uint64_t> stamps, ExecutionTimes &times) const;
  // The same as `enqueue`, never as a graph, which may be part of one.
  Status enqueueAlone(CudaQueue &queue, std::span<const Binding> bindings) const;
  // "dispatch 'a' with 4 x 1 x 1 workgroups", or "one of the dispatches 'a' with 4 x 1 x 1 workgroups, 'b' with ...":
  // for errors of the device, which do not say where they arose.
  std::string describe() const;
  // What profilers call a submission of it: "a", or "a, b, c, d and 3 others", by the names of dispatches. Empty where
  // there is no library to tell them.
  const std::string &rangeName() const { return profilerName; }
  // Whether a kernel of it has assertions.
  bool canFail() const { return hasAssertions; }
  // What an assertion says that has failed; `failure` is what its thread has written (CudaFailures).
  Status describeFailure(uint64_t failure) const;

protected:
  Status recordFill(const SlotRange &target, uint64_t pattern, uint32_t width) override;
  Status recordCopy(const SlotRange &source, const SlotRange &target) override;
  Status recordDispatch(const Dispatch &dispatch) override;
  Status recordBarrier() override { return okStatus(); }
  Status recordFinalize() override;
  Status checkExecutable(const Executable &executable) const override;
  bool canAddress(const Buffer &buffer) const override;

private:
  struct Command {
    enum class Kind : uint8_t { Dispatch, Fill, Copy };
    Kind kind;
    uint32_t firstRange; // a copy has source and target, a fill its target
    uint64_t pattern = 0;
    uint32_t patternWidth = 0;
    const CudaKernel *kernel = nullptr;
    uint64_t workgroupCount[3] = {0, 0, 0};
    uint32_t firstConstant = 0;
  };
  static uint64_t blocksOf(const Command &command);
  // Of a dispatch: "'a' with 4 x 1 x 1 workgroups".
  static std::string describe(const Command &command);
  // Texts of dispatches in their order, each text once.
  std::vector<std::string> describeDispatches(std::string (*describe)(const Command &)) const;
  // The address of each range, and, last, that of the scratch memory that all dispatches share.
  Result<std::vector<uint64_t>> resolve(CudaQueue &queue, std::span<const Binding> bindings) const;
  Status enqueueResolved(CudaQueue &queue, std::vector<uint64_t> addresses, bool timed);
  Status enqueueEach(CudaQueue &queue, std::span<const uint64_t> addresses, bool timed = false) const;
  CUresult fill(CUstream stream, CUdeviceptr target, uint64_t length, uint64_t pattern, uint32_t width) const;
  Status launch(CudaQueue &queue, const Command &command, std::span<const uint64_t> addresses) const;

  Ref<CudaContext> context;
  std::vector<Command> commands;
  std::vector<SlotRange> ranges;
  std::vector<uint64_t> constants;
  std::vector<Ref<Executable>> executables;
  bool hasAssertions = false;
  std::string profilerName;
  CudaGraphs graphs, timedGraphs; // those with readings of the clock
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_CUDA_COMMAND_BUFFER_H
