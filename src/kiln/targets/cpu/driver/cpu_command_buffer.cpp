#include "kiln/targets/cpu/driver/cpu_command_buffer.h"

#include "kiln/runtime/hal/host_transfer.h"
#include "kiln/trace/zone.h"

#include <algorithm>

namespace kiln::hal {

// Large enough that starting a unit is cheap beside it, small enough that several threads share a transfer. A multiple
// of every pattern's width.
static constexpr uint64_t kTransferUnit = 256 * 1024;

uint32_t traceNameOf(const CpuCommand &command, const ExecutionTimes *times) {
  static trace::Name fill("fill"), copy("copy");
  if (!times || times->traceNames.empty())
    return 0;
  return command.kind == CpuCommand::Kind::Dispatch ? times->traceNames[command.place]
         : command.kind == CpuCommand::Kind::Fill   ? fill.number()
                                                    : copy.number();
}

uint32_t CpuCommandBuffer::addRange(const SlotRange &range) {
  ranges.push_back(range);
  lengths.push_back(range.length);
  return uint32_t(ranges.size() - 1);
}

Status CpuCommandBuffer::addCommand(const CpuCommand &command) {
  auto index = uint32_t(commandTable.size());
  if (!waveOpen)
    waveTable.push_back({index, index, 0});
  waveOpen = true;
  waveTable.back().end = index + 1;
  if (__builtin_add_overflow(waveTable.back().units, command.units, &waveTable.back().units))
    return outOfRange("the commands between two barriers have more workgroups than 64 bits can count");
  commandTable.push_back(command);
  return okStatus();
}

static uint64_t transferUnits(uint64_t length) {
  return (length + kTransferUnit - 1) / kTransferUnit;
}

Status CpuCommandBuffer::recordFill(const SlotRange &target, uint64_t pattern, uint32_t width) {
  CpuCommand command{CpuCommand::Kind::Fill, addRange(target), transferUnits(target.length)};
  command.length = target.length;
  command.pattern = pattern;
  command.patternWidth = width;
  return addCommand(command);
}

Status CpuCommandBuffer::recordCopy(const SlotRange &source, const SlotRange &target) {
  CpuCommand command{CpuCommand::Kind::Copy, addRange(source), transferUnits(target.length)};
  addRange(target);
  command.length = target.length;
  return addCommand(command);
}

Status CpuCommandBuffer::recordDispatch(const Dispatch &dispatch) {
  const auto &executable = static_cast<const CpuExecutable &>(*dispatch.executable);
  CpuCommand command{CpuCommand::Kind::Dispatch, uint32_t(ranges.size()), 1};
  command.executable = &executable;
  command.exportOrdinal = dispatch.exportOrdinal;
  command.place = uint32_t(dispatches().size() - 1);
  for (int i = 0; i < 3; ++i) {
    command.workgroupCount[i] = uint32_t(dispatch.workgroupCount[i]);
    command.units *= dispatch.workgroupCount[i];
  }
  for (const SlotRange &range : dispatch.bindings)
    addRange(range);
  command.firstConstant = uint32_t(constants.size());
  constants.insert(constants.end(), dispatch.constants.begin(), dispatch.constants.end());
  maxLocalMemory = std::max(maxLocalMemory, executable.dispatch(dispatch.exportOrdinal).local_memory_bytes);
  if (executables.empty() || executables.back().get() != dispatch.executable)
    executables.push_back(Ref<Executable>::share(dispatch.executable));
  return addCommand(command);
}

Status CpuCommandBuffer::recordBarrier() {
  waveOpen = false;
  return okStatus();
}

Status CpuCommandBuffer::recordFinalize() {
  return okStatus();
}

Status CpuCommandBuffer::checkExecutable(const Executable &executable) const {
  if (!dynamic_cast<const CpuExecutable *>(&executable))
    return invalidArgument("the executable was not made by a device that runs on the CPU");
  return okStatus();
}

void CpuCommandBuffer::resolve(std::span<const Binding> bindings, void **addresses) const {
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Binding &binding = bindings[ranges[i].slot];
    addresses[i] = static_cast<std::byte *>(binding.buffer->hostPointer()) + binding.offset + ranges[i].offset;
  }
}

Status CpuCommandBuffer::run(const CpuCommand &command, void *const *addresses, uint64_t begin, uint64_t end,
                             uint32_t worker, void *localMemory, const CallLimit *limit) const {
  if (command.kind == CpuCommand::Kind::Dispatch)
    return runDispatch(command, addresses, begin, end, worker, localMemory, limit);
  uint64_t first = begin * kTransferUnit;
  uint64_t length = std::min(end * kTransferUnit, command.length) - first;
  auto *const *operands = reinterpret_cast<std::byte *const *>(addresses + command.firstBinding);
  if (command.kind == CpuCommand::Kind::Fill)
    return fillHostMemory(operands[0] + first, length, command.pattern, command.patternWidth, limit);
  return copyHostMemory(operands[1] + first, operands[0] + first, length, limit);
}

static Status failureOf(const CpuCommand &command, int32_t code, const kiln_workgroup_state_t &workgroup) {
  const char *name = command.executable->dispatch(command.exportOrdinal).name;
  const uint32_t *id = workgroup.workgroup_id;
  if (const char *message = command.executable->message(command.exportOrdinal, code))
    return failedPrecondition("{} (in dispatch '{}', workgroup ({}, {}, {}))", message, name, id[0], id[1], id[2]);
  return Status(StatusCode::Unknown, fmt::format("dispatch '{}' failed with code {} in workgroup ({}, {}, {})", name,
                                                 code, id[0], id[1], id[2]));
}

Status CpuCommandBuffer::runDispatch(const CpuCommand &command, void *const *addresses, uint64_t begin, uint64_t end,
                                     uint32_t worker, void *localMemory, const CallLimit *limit) const {
  const uint32_t *count = command.workgroupCount;
  kiln_dispatch_state_t dispatch;
  dispatch.bindings = addresses + command.firstBinding;
  dispatch.binding_lengths = lengths.data() + command.firstBinding;
  dispatch.constants = constants.data() + command.firstConstant;
  std::copy_n(count, 3, dispatch.workgroup_count);
  dispatch.size = sizeof(dispatch);

  kiln_workgroup_state_t workgroup;
  uint64_t rest = begin / count[0];
  workgroup.workgroup_id[0] = uint32_t(begin % count[0]);
  workgroup.workgroup_id[1] = uint32_t(rest % count[1]);
  workgroup.workgroup_id[2] = uint32_t(rest / count[1]);
  workgroup.worker = worker;
  workgroup.local_memory = localMemory;
  workgroup.size = sizeof(workgroup);
  workgroup.reserved = 0;
  workgroup.markers = nullptr;
  kiln_dispatch_fn_t function = command.executable->dispatch(command.exportOrdinal).function;
  for (uint64_t i = begin; i < end; ++i) {
    if (limit && limit->isOver()) [[unlikely]]
      return limit->status();
    if (int32_t code = function(&dispatch, &workgroup)) [[unlikely]]
      return failureOf(command, code, workgroup);
    if (++workgroup.workgroup_id[0] == count[0]) {
      workgroup.workgroup_id[0] = 0;
      if (++workgroup.workgroup_id[1] == count[1]) {
        workgroup.workgroup_id[1] = 0;
        ++workgroup.workgroup_id[2];
      }
    }
  }
  return okStatus();
}

} // namespace kiln::hal
