#include "kiln/targets/null/driver/null_command_buffer.h"

#include "kiln/runtime/hal/host_transfer.h"
#include "kiln/targets/null/driver/null_executable.h"

namespace kiln::hal {

Status NullCommandBuffer::recordFill(const SlotRange &target, uint64_t pattern, uint32_t width) {
  transfers.push_back({{}, target, pattern, width});
  return okStatus();
}

Status NullCommandBuffer::recordCopy(const SlotRange &source, const SlotRange &target) {
  transfers.push_back({source, target, 0, 0});
  return okStatus();
}

// A real driver records the call too, and copies constants and bindings.
Status NullCommandBuffer::recordDispatch(const Dispatch &dispatch) {
  if (executables.empty() || executables.back().get() != dispatch.executable)
    executables.push_back(Ref<Executable>::share(dispatch.executable));
  return okStatus();
}

// Commands run one after the other here, so that every order is kept. A real driver records a dependency.
Status NullCommandBuffer::recordBarrier() {
  return okStatus();
}

// A real driver does all work here that replaying would otherwise repeat.
Status NullCommandBuffer::recordFinalize() {
  return okStatus();
}

// What another driver made must not be taken for this one's.
Status NullCommandBuffer::checkExecutable(const Executable &executable) const {
  if (!dynamic_cast<const NullExecutable *>(&executable))
    return invalidArgument("the executable was not made by a device of the null driver");
  return okStatus();
}

static std::byte *addressOf(std::span<const Binding> bindings, const SlotRange &range) {
  const Binding &binding = bindings[range.slot];
  return static_cast<std::byte *>(binding.buffer->hostPointer()) + binding.offset + range.offset;
}

Status NullCommandBuffer::run(std::span<const Binding> bindings, const CallLimit *limit) const {
  for (const Transfer &transfer : transfers) {
    std::byte *target = addressOf(bindings, transfer.target);
    uint64_t length = transfer.target.length;
    KILN_RETURN_IF_ERROR(transfer.width ? fillHostMemory(target, length, transfer.pattern, transfer.width, limit)
                                        : copyHostMemory(target, addressOf(bindings, transfer.source), length, limit));
  }
  return okStatus();
}

} // namespace kiln::hal
