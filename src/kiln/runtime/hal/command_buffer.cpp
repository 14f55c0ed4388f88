#include "kiln/runtime/hal/command_buffer.h"

#include "kiln/runtime/hal/device.h"
#include "kiln/schema/executable_abi.h"

#include <algorithm>

namespace kiln::hal {

CommandBuffer::CommandBuffer(Device *device, CommandBufferMode mode, uint32_t slotCount)
    : owner(Ref<Device>::share(device)), recordMode(mode), slots(slotCount) {}

CommandBuffer::~CommandBuffer() = default;

Status CommandBuffer::checkSlotCount(uint64_t slotCount) {
  if (slotCount > kMaxSlots)
    return outOfRange("a command buffer with {} binding slots was asked for; at most {} are possible", slotCount,
                      kMaxSlots);
  return okStatus();
}

Status CommandBuffer::checkRecording() const {
  switch (state) {
  case State::Recording: return okStatus();
  case State::Finalized: return failedPrecondition("the command buffer is finalized; nothing can be recorded any more");
  case State::Failed: return failedPrecondition("an earlier command of this recording failed; record anew");
  }
  return okStatus();
}

Status CommandBuffer::finish(Status status) {
  if (!status.ok() && state == State::Recording)
    state = State::Failed;
  return status;
}

Status CommandBuffer::useSlot(const char *what, const SlotRange &range) {
  if (range.slot >= slots.size())
    return outOfRange("{} uses binding slot {}; the command buffer has {}", what, range.slot, slots.size());
  uint64_t end;
  if (__builtin_add_overflow(range.offset, range.length, &end))
    return outOfRange("{} of {} bytes at offset {} has no end within 64 bits", what, range.length, range.offset);
  Slot &slot = slots[range.slot];
  slot.used = true;
  slot.requiredLength = std::max(slot.requiredLength, end);
  return okStatus();
}

static bool overlap(uint64_t a, uint64_t b, uint64_t length) {
  return (a > b ? a - b : b - a) < length;
}

Status CommandBuffer::fill(const SlotRange &target, uint64_t pattern, uint32_t width) {
  return finish(fillChecked(target, pattern, width));
}

Status CommandBuffer::fillChecked(const SlotRange &target, uint64_t pattern, uint32_t width) {
  KILN_RETURN_IF_ERROR(checkRecording());
  if (width != 1 && width != 2 && width != 4 && width != 8)
    return invalidArgument("a fill pattern is 1, 2, 4 or 8 bytes wide, not {}", width);
  if (target.length % width != 0)
    return invalidArgument("a fill of {} bytes is no multiple of its pattern of {} bytes", target.length, width);
  KILN_RETURN_IF_ERROR(useSlot("a fill", target));
  slots[target.slot].written = true;
  return target.length ? recordFill(target, pattern, width) : okStatus();
}

Status CommandBuffer::copy(const SlotRange &source, uint32_t targetSlot, uint64_t targetOffset) {
  return finish(copyChecked(source, {targetSlot, targetOffset, source.length}));
}

Status CommandBuffer::copyChecked(const SlotRange &source, const SlotRange &target) {
  KILN_RETURN_IF_ERROR(checkRecording());
  KILN_RETURN_IF_ERROR(useSlot("the source of a copy", source));
  KILN_RETURN_IF_ERROR(useSlot("the target of a copy", target));
  slots[target.slot].written = true;
  if (source.length == 0)
    return okStatus();
  if (source.slot != target.slot)
    copies.push_back({source, target});
  else if (overlap(source.offset, target.offset, source.length))
    return invalidArgument("a copy of {} bytes from offset {} to offset {} of one buffer overlaps itself",
                           source.length, source.offset, target.offset);
  return recordCopy(source, target);
}

Status CommandBuffer::dispatch(const Dispatch &dispatch) {
  return finish(dispatchChecked(dispatch));
}

Status CommandBuffer::dispatchChecked(const Dispatch &dispatch) {
  KILN_RETURN_IF_ERROR(checkRecording());
  if (!dispatch.executable)
    return invalidArgument("a dispatch needs an executable");
  KILN_RETURN_IF_ERROR(checkExecutable(*dispatch.executable));
  std::span<const ExecutableExport> exports = dispatch.executable->exports();
  if (dispatch.exportOrdinal >= exports.size())
    return outOfRange("a dispatch asks for export {} of an executable that has {}", dispatch.exportOrdinal,
                      exports.size());
  const ExecutableExport &entry = exports[dispatch.exportOrdinal];
  if (dispatch.constants.size() != entry.constantCount)
    return invalidArgument("dispatch '{}' takes {} constants; {} were given", entry.name, entry.constantCount,
                           dispatch.constants.size());
  if (dispatch.bindings.size() != entry.bindingCount)
    return invalidArgument("dispatch '{}' takes {} bindings; {} were given", entry.name, entry.bindingCount,
                           dispatch.bindings.size());
  const DeviceLimits &limits = owner->limits();
  const uint64_t *count = dispatch.workgroupCount;
  uint64_t total = 1;
  for (int i = 0; i < 3; ++i)
    if (count[i] > limits.mostWorkgroups[i] || __builtin_mul_overflow(total, count[i], &total) ||
        total > limits.mostWorkgroupsInAll)
      return outOfRange("dispatch '{}' has too many workgroups: {} x {} x {}", entry.name, count[0], count[1],
                        count[2]);
  for (size_t i = 0; i < dispatch.bindings.size(); ++i) {
    const SlotRange &range = dispatch.bindings[i];
    Status status = useSlot("a binding", range);
    if (status.ok() && range.offset % limits.bindingAlignment != 0)
      status =
          invalidArgument("it starts at offset {}, which is no multiple of {}", range.offset, limits.bindingAlignment);
    if (!status.ok())
      return std::move(status).withContext(fmt::format("binding {} of dispatch '{}'", i, entry.name));
    slots[range.slot].aligned = true;
    slots[range.slot].written |= i < entry.access.size() && allows(entry.access[i], MemoryAccess::Write);
  }
  if (!count[0] || !count[1] || !count[2])
    return okStatus();
  dispatchTable.push_back(&entry);
  return recordDispatch(dispatch);
}

Status CommandBuffer::barrier() {
  KILN_RETURN_IF_ERROR(checkRecording());
  return finish(recordBarrier());
}

Status CommandBuffer::finalize() {
  KILN_RETURN_IF_ERROR(checkRecording());
  KILN_RETURN_IF_ERROR(finish(recordFinalize()));
  state = State::Finalized;
  return okStatus();
}

Status CommandBuffer::beginExecution() {
  if (state != State::Finalized)
    return failedPrecondition("the command buffer is not finalized, and cannot be executed");
  if (recordMode == CommandBufferMode::OneShot && executed.exchange(true, std::memory_order_relaxed))
    return failedPrecondition("the command buffer was recorded for one execution, and has been executed");
  return okStatus();
}

Status CommandBuffer::checkBindings(std::span<const Binding> bindings) const {
  if (bindings.size() != slots.size())
    return invalidArgument("the command buffer has {} binding slots; the table has {}", slots.size(), bindings.size());
  const uint64_t alignment = owner->limits().bindingAlignment;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const Slot &slot = slots[i];
    const Binding &binding = bindings[i];
    if (!slot.used)
      continue;
    if (!binding.buffer)
      return invalidArgument("binding slot {} is used, and its buffer is null", i);
    if (!canAddress(*binding.buffer))
      return invalidArgument("binding slot {} is memory of another device, which device '{}' cannot address", i,
                             owner->uri());
    uint64_t available = binding.buffer->byteLength();
    if (binding.offset > available || binding.length > available - binding.offset)
      return outOfRange("binding slot {} is {} bytes at offset {} of a buffer of {} bytes", i, binding.length,
                        binding.offset, available);
    if (binding.length < slot.requiredLength)
      return outOfRange("binding slot {} has {} bytes; the commands use {}", i, binding.length, slot.requiredLength);
    if (slot.aligned && (binding.buffer->allocationOffset() + binding.offset) % alignment != 0)
      return invalidArgument(
          "binding slot {} starts at byte {} of its allocation; a binding starts at a multiple of {}", i,
          binding.buffer->allocationOffset() + binding.offset, alignment);
    if (slot.written && !allows(binding.buffer->access(), MemoryAccess::Write))
      return permissionDenied("binding slot {} is written, and its buffer is read-only", i);
  }
  for (const CopyRange &copy : copies) {
    const Binding &source = bindings[copy.source.slot], &target = bindings[copy.target.slot];
    if (source.buffer->allocation() == target.buffer->allocation() &&
        overlap(source.buffer->allocationOffset() + source.offset + copy.source.offset,
                target.buffer->allocationOffset() + target.offset + copy.target.offset, copy.source.length))
      return invalidArgument("a copy of {} bytes from binding slot {} to {} overlaps itself: both are the same memory",
                             copy.source.length, copy.source.slot, copy.target.slot);
  }
  return okStatus();
}

} // namespace kiln::hal
