// A recording of fills and copies; dispatches leave no trace.
#ifndef KILN_TARGETS_NULL_DRIVER_NULL_COMMAND_BUFFER_H
#define KILN_TARGETS_NULL_DRIVER_NULL_COMMAND_BUFFER_H

#include "kiln/base/call_limit.h"
#include "kiln/runtime/hal/command_buffer.h"

#include <span>
#include <vector>

namespace kiln::hal {

class NullCommandBuffer final : public CommandBuffer {
public:
  NullCommandBuffer(Device *device, CommandBufferMode mode, uint32_t slotCount)
      : CommandBuffer(device, mode, slotCount) {}

  // One execution, with a table that has been checked. Reads the recording only: any number may run at the same time.
  Status run(std::span<const Binding> bindings, const CallLimit *limit) const;

protected:
  Status recordFill(const SlotRange &target, uint64_t pattern, uint32_t width) override;
  Status recordCopy(const SlotRange &source, const SlotRange &target) override;
  Status recordDispatch(const Dispatch &dispatch) override;
  Status recordBarrier() override;
  Status recordFinalize() override;
  Status checkExecutable(const Executable &executable) const override;

private:
  // A fill where `width` is not zero, else a copy.
  struct Transfer {
    SlotRange source;
    SlotRange target;
    uint64_t pattern = 0;
    uint32_t width = 0;
  };
  std::vector<Transfer> transfers;
  std::vector<Ref<Executable>> executables;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_NULL_DRIVER_NULL_COMMAND_BUFFER_H
