// A recording for devices that run on host threads: waves of commands, each command a number of equal units that any
// thread may run in any order.
#ifndef KILN_TARGETS_CPU_DRIVER_CPU_COMMAND_BUFFER_H
#define KILN_TARGETS_CPU_DRIVER_CPU_COMMAND_BUFFER_H

#include "kiln/base/call_limit.h"
#include "kiln/runtime/hal/command_buffer.h"
#include "kiln/runtime/hal/execution_times.h"
#include "kiln/schema/executable_abi.h"
#include "kiln/targets/cpu/driver/cpu_executable.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kiln::hal {

// The units of a dispatch are its workgroups, those of a fill or copy are stretches of its bytes.
struct CpuCommand {
  enum class Kind : uint8_t { Dispatch, Fill, Copy };
  Kind kind;
  uint32_t firstBinding; // index of its first address; a copy has source and target, a fill its target
  uint64_t units;        // at least 1
  const CpuExecutable *executable = nullptr;
  uint32_t exportOrdinal = 0;
  uint32_t workgroupCount[3] = {0, 0, 0};
  uint32_t firstConstant = 0;
  uint32_t place = 0;  // of a dispatch in CommandBuffer::dispatches()
  uint64_t length = 0; // of a fill or copy
  uint64_t pattern = 0;
  uint32_t patternWidth = 0;
};

// What a thread that runs the command is at (trace/zone.h), of a submission that is recorded; else 0. `times` may be
// null.
uint32_t traceNameOf(const CpuCommand &command, const ExecutionTimes *times);

// Commands [begin, end), which may run at the same time.
struct CpuWave {
  uint32_t begin;
  uint32_t end;
  uint64_t units; // sum over the commands
};

// After finalize immutable, and so shared by all executions.
class CpuCommandBuffer : public CommandBuffer {
public:
  CpuCommandBuffer(Device *device, CommandBufferMode mode, uint32_t slotCount)
      : CommandBuffer(device, mode, slotCount) {}

  std::span<const CpuWave> waves() const { return waveTable; }
  std::span<const CpuCommand> commands() const { return commandTable; }
  // How many addresses `resolve` writes.
  size_t addressCount() const { return ranges.size(); }
  // What the hungriest dispatch needs for each workgroup that runs.
  uint32_t localMemoryBytes() const { return maxLocalMemory; }

  // The address of each range that a command uses, for one binding table, which has been checked.
  void resolve(std::span<const Binding> bindings, void **addresses) const;

  // Runs the units [begin, end) of a command on one thread, for as long as the call has time; null: without an end.
  // `localMemory` has localMemoryBytes().
  Status run(const CpuCommand &command, void *const *addresses, uint64_t begin, uint64_t end, uint32_t worker,
             void *localMemory, const CallLimit *limit) const;

protected:
  Status recordFill(const SlotRange &target, uint64_t pattern, uint32_t width) override;
  Status recordCopy(const SlotRange &source, const SlotRange &target) override;
  Status recordDispatch(const Dispatch &dispatch) override;
  Status recordBarrier() override;
  Status recordFinalize() override;
  Status checkExecutable(const Executable &executable) const override;

private:
  uint32_t addRange(const SlotRange &range);
  Status addCommand(const CpuCommand &command);
  Status runDispatch(const CpuCommand &command, void *const *addresses, uint64_t begin, uint64_t end, uint32_t worker,
                     void *localMemory, const CallLimit *limit) const;

  std::vector<CpuWave> waveTable;
  std::vector<CpuCommand> commandTable;
  std::vector<SlotRange> ranges;
  std::vector<uint64_t> lengths; // of the ranges, as dispatches take them
  std::vector<uint64_t> constants;
  std::vector<Ref<Executable>> executables;
  uint32_t maxLocalMemory = 0;
  bool waveOpen = false;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CPU_DRIVER_CPU_COMMAND_BUFFER_H
