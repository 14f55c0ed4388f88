#include "kiln/targets/cuda/driver/cuda_command_buffer.h"

#include "kiln/schema/gpu_executable.h"
#include "kiln/targets/cuda/driver/cuda_allocator.h"
#include "kiln/targets/cuda/driver/cuda_device.h"
#include "kiln/targets/cuda/driver/cuda_queue.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kiln::hal {

Status CudaCommandBuffer::recordFill(const SlotRange &target, uint64_t pattern, uint32_t width) {
  Command command{Command::Kind::Fill, uint32_t(ranges.size())};
  command.pattern = pattern;
  command.patternWidth = width;
  ranges.push_back(target);
  commands.push_back(command);
  return okStatus();
}

Status CudaCommandBuffer::recordCopy(const SlotRange &source, const SlotRange &target) {
  commands.push_back({Command::Kind::Copy, uint32_t(ranges.size())});
  ranges.insert(ranges.end(), {source, target});
  return okStatus();
}

Status CudaCommandBuffer::recordDispatch(const Dispatch &dispatch) {
  const auto &executable = static_cast<const CudaExecutable &>(*dispatch.executable);
  Command command{Command::Kind::Dispatch, uint32_t(ranges.size())};
  command.kernel = &executable.kernel(dispatch.exportOrdinal);
  std::copy_n(dispatch.workgroupCount, 3, command.workgroupCount);
  command.firstConstant = uint32_t(constants.size());
  if (!command.kernel->assertions.empty()) {
    for (const Ref<CudaQueue> &queue : static_cast<CudaDevice *>(device())->allQueues())
      KILN_RETURN_IF_ERROR(queue->failures().enable());
    hasAssertions = true;
  }
  ranges.insert(ranges.end(), dispatch.bindings.begin(), dispatch.bindings.end());
  constants.insert(constants.end(), dispatch.constants.begin(), dispatch.constants.end());
  if (executables.empty() || executables.back().get() != dispatch.executable)
    executables.push_back(Ref<Executable>::share(dispatch.executable));
  commands.push_back(command);
  return okStatus();
}

Status CudaCommandBuffer::checkExecutable(const Executable &executable) const {
  const auto *ours = dynamic_cast<const CudaExecutable *>(&executable);
  if (!ours || &ours->context() != context.get())
    return invalidArgument("the executable was not made by device '{}'", device()->uri());
  return okStatus();
}

bool CudaCommandBuffer::canAddress(const Buffer &buffer) const {
  return CudaBuffer::addressOf(*context, buffer) != 0;
}

uint64_t CudaCommandBuffer::blocksOf(const Command &command) {
  const uint64_t *count = command.workgroupCount;
  uint64_t blocks = std::min<uint64_t>(count[0] * count[1] * count[2], command.kernel->launchBlocks);
  if (command.kernel->mostBlocks)
    blocks = std::min<uint64_t>(blocks, command.kernel->mostBlocks);
  return command.kernel->scratchBytes ? CudaQueue::scratchBlocks(command.kernel->scratchBytes, blocks) : blocks;
}

Result<std::vector<uint64_t>> CudaCommandBuffer::resolve(CudaQueue &queue, std::span<const Binding> bindings) const {
  std::vector<uint64_t> addresses;
  addresses.reserve(ranges.size() + 1);
  for (const SlotRange &range : ranges) {
    const Binding &binding = bindings[range.slot];
    addresses.push_back(CudaBuffer::addressOf(*context, *binding.buffer) + binding.offset + range.offset);
  }
  uint64_t bytes = 0;
  for (const Command &command : commands)
    if (command.kind == Command::Kind::Dispatch && command.kernel->scratchBytes)
      bytes = std::max(bytes, command.kernel->scratchBytes * blocksOf(command));
  addresses.push_back(0);
  if (bytes) {
    KILN_ASSIGN_OR_RETURN(addresses.back(), queue.reserveScratch(bytes));
  }
  return addresses;
}

// CUDA fills with one, two or four bytes at aligned addresses. Anything else is columns of an array whose rows are the
// pattern.
CUresult CudaCommandBuffer::fill(CUstream stream, CUdeviceptr target, uint64_t length, uint64_t pattern,
                                 uint32_t width) const {
  const CudaLibrary &cuda = context->cuda();
  const bool aligned = target % width == 0;
  if (width == 1)
    return cuda.cuMemsetD8Async(target, uint8_t(pattern), length, stream);
  if (width == 2 && aligned)
    return cuda.cuMemsetD16Async(target, uint16_t(pattern), length / 2, stream);
  if (width == 4 && aligned)
    return cuda.cuMemsetD32Async(target, uint32_t(pattern), length / 4, stream);
  CUresult result = cuda::kSuccess;
  if (target % 4 == 0) {
    for (uint32_t byte = 0; byte < width && result == cuda::kSuccess; byte += 4)
      result = cuda.cuMemsetD2D32Async(target + byte, width, uint32_t(pattern >> 8 * byte), 1, length / width, stream);
    return result;
  }
  for (uint32_t byte = 0; byte < width && result == cuda::kSuccess; ++byte)
    result = cuda.cuMemsetD2D8Async(target + byte, width, uint8_t(pattern >> 8 * byte), 1, length / width, stream);
  return result;
}

Status CudaCommandBuffer::launch(CudaQueue &queue, const Command &command, std::span<const uint64_t> addresses) const {
  const CudaKernel &kernel = *command.kernel;
  const uint64_t *count = command.workgroupCount;

  std::array<uint64_t, kGpuMostParameters + kGpuFixedParameters> values{};
  std::array<void *, kGpuMostParameters + kGpuFixedParameters + kGpuMostTensorMaps> parameters{};
  size_t used = 0;
  for (uint32_t i = 0; i < kernel.bindingCount; ++i)
    values[used++] = addresses[command.firstRange + i];
  for (uint32_t i = 0; i < kernel.constantCount; ++i)
    values[used++] = constants[command.firstConstant + i];
  for (int i = 0; i < 3; ++i)
    values[used++] = count[i];
  values[used++] = kernel.scratchBytes ? addresses.back() : 0;
  for (size_t i = 0; i < used; ++i)
    parameters[i] = &values[i];
  const CudaLibrary &cuda = context->cuda();
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    const CudaTensor &tensor = kernel.tensors[i];
    CudaTensorMap *map = nullptr;
    KILN_RETURN_IF_ERROR(context->check(
        tensor.maps.find(cuda, tensor, values[tensor.binding], map),
        fmt::format("describe binding {} of dispatch '{}' for its copies", tensor.binding, kernel.name)));
    parameters[used + i] = map;
  }
  if (!kernel.assertions.empty()) {
    size_t next = used + kernel.tensors.size();
    values[used] = queue.failures().address();
    values[used + 1] = CudaFailures::numberOf(size_t(&command - commands.data()));
    parameters[next] = &values[used];
    parameters[next + 1] = &values[used + 1];
  }
  // Blocks that start early share multiprocessors with those that still run, and are spread unevenly over them: what
  // would take longer for it waits until all is free. With many blocks, those that come later even it out. A block that
  // has a multiprocessor to itself cannot be beside another.
  constexpr unsigned kFewBlocks = 32, kManyForEach = 8;
  const CudaProperties &properties = context->properties();
  const bool isAlone = kernel.dynamicSharedBytes > uint32_t(properties.maxSharedBytes) / 2;
  const auto blocks = unsigned(blocksOf(command));
  const bool isEven = blocks <= kFewBlocks || blocks >= kManyForEach * unsigned(properties.multiprocessors);
  CudaLaunchAttribute early{cuda::kLaunchStartsEarly, 0, {1}};
  CudaLaunch how{{blocks, 1, 1},
                 {kernel.threads[0], kernel.threads[1], kernel.threads[2]},
                 kernel.dynamicSharedBytes,
                 queue.stream(),
                 &early,
                 kernel.startsEarly && (isAlone || isEven) ? 1u : 0u};
  CUresult result = cuda.cuLaunchKernelEx(&how, kernel.function, parameters.data(), nullptr);
  if (result == cuda::kSuccess) [[likely]]
    return okStatus();
  return context->check(result, "launch dispatch " + describe(command));
}

Status CudaCommandBuffer::enqueue(CudaQueue &queue, std::span<const Binding> bindings) {
  KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> addresses, resolve(queue, bindings));
  return enqueueResolved(queue, std::move(addresses), false);
}

Status CudaCommandBuffer::enqueueResolved(CudaQueue &queue, std::vector<uint64_t> addresses, bool timed) {
  if (mode() != CommandBufferMode::Replay || commands.size() < 2)
    return enqueueEach(queue, addresses, timed);
  // What differs from queue to queue is part of what a graph is for.
  const size_t own = addresses.size();
  if (timed)
    addresses.push_back(queue.stamps().address());
  if (hasAssertions)
    addresses.push_back(queue.failures().address());
  std::span<const uint64_t> all = addresses; // whose memory moves into the graphs
  return (timed ? timedGraphs : graphs).launch(queue.stream(), std::move(addresses), [&] {
    return enqueueEach(queue, all.first(own), timed);
  });
}

Result<std::span<uint64_t>> CudaCommandBuffer::enqueueTimed(CudaQueue &queue, std::span<const Binding> bindings,
                                                            TimesDetail detail) {
  const bool timed = detail == TimesDetail::Dispatches;
  const size_t count = (timed ? commands.size() : 1) + 1;
  CudaStamps &stamps = queue.stamps();
  KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> addresses, resolve(queue, bindings));
  KILN_RETURN_IF_ERROR(stamps.reserve(queue.stream(), count));
  KILN_RETURN_IF_ERROR(stamps.read(queue.stream(), 0));
  KILN_RETURN_IF_ERROR(enqueueResolved(queue, std::move(addresses), timed));
  if (!timed)
    KILN_RETURN_IF_ERROR(stamps.read(queue.stream(), 1));
  return stamps.collect(queue.stream(), count);
}

// With dispatches there is a reading behind each command, else one behind them all.
void CudaCommandBuffer::readTimes(std::span<const uint64_t> stamps, ExecutionTimes &times) const {
  size_t dispatch = 0;
  if (times.detail == TimesDetail::Dispatches)
    for (size_t i = 0; i < commands.size(); ++i)
      if (commands[i].kind == Command::Kind::Dispatch)
        times.dispatches[dispatch++] = {stamps[i], stamps[i + 1]};
  times.submission = {stamps[0], stamps[times.detail == TimesDetail::Dispatches ? commands.size() : 1]};
}

Status CudaCommandBuffer::enqueueAlone(CudaQueue &queue, std::span<const Binding> bindings) const {
  KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> addresses, resolve(queue, bindings));
  return enqueueEach(queue, addresses);
}

Status CudaCommandBuffer::enqueueEach(CudaQueue &queue, std::span<const uint64_t> addresses, bool timed) const {
  const CudaLibrary &cuda = context->cuda();
  for (const Command &command : commands) {
    const uint64_t *address = addresses.data() + command.firstRange;
    const uint64_t length = command.kind == Command::Kind::Dispatch ? 0 : ranges[command.firstRange].length;
    switch (command.kind) {
    case Command::Kind::Dispatch: KILN_RETURN_IF_ERROR(launch(queue, command, addresses)); break;
    case Command::Kind::Fill:
      KILN_RETURN_IF_ERROR(context->check(fill(queue.stream(), *address, length, command.pattern, command.patternWidth),
                                          fmt::format("fill {} bytes", length)));
      break;
    case Command::Kind::Copy:
      KILN_RETURN_IF_ERROR(context->check(cuda.cuMemcpyDtoDAsync_v2(address[1], address[0], length, queue.stream()),
                                          fmt::format("copy {} bytes on the device", length)));
      break;
    }
    if (timed)
      KILN_RETURN_IF_ERROR(queue.stamps().read(queue.stream(), size_t(&command - commands.data()) + 1));
  }
  return okStatus();
}

Status CudaCommandBuffer::describeFailure(uint64_t failure) const {
  const auto [place, assertion] = CudaFailures::decode(failure);
  const CudaKernel *kernel = place < commands.size() ? commands[place].kernel : nullptr;
  if (!kernel || assertion >= kernel->assertions.size())
    return dataLoss("a kernel said that assertion {} of command {} failed; there is none", assertion, place);
  return failedPrecondition("{} (in dispatch '{}')", kernel->assertions[assertion], kernel->name);
}

std::string CudaCommandBuffer::describe(const Command &command) {
  const uint64_t *count = command.workgroupCount;
  return fmt::format("'{}' with {} x {} x {} workgroups", command.kernel->name, count[0], count[1], count[2]);
}

std::vector<std::string> CudaCommandBuffer::describeDispatches(std::string (*describe)(const Command &)) const {
  std::vector<std::string> texts;
  for (const Command &command : commands)
    if (command.kind == Command::Kind::Dispatch)
      if (std::string text = describe(command); std::ranges::find(texts, text) == texts.end())
        texts.push_back(std::move(text));
  return texts;
}

// "a", "a, b" or "a, b, c, d and 3 others"
static std::string listOf(const std::vector<std::string> &items) {
  constexpr size_t kMost = 4;
  const size_t named = std::min(items.size(), kMost);
  std::string text = fmt::format("{}", fmt::join(items.begin(), items.begin() + named, ", "));
  return items.size() > named ? text + fmt::format(" and {} others", items.size() - named) : text;
}

Status CudaCommandBuffer::recordFinalize() {
  if (!context->cuda().ranges())
    return okStatus();
  profilerName = listOf(describeDispatches([](const Command &command) { return command.kernel->name; }));
  if (profilerName.empty())
    profilerName = "fills and copies";
  return okStatus();
}

std::string CudaCommandBuffer::describe() const {
  const std::vector<std::string> dispatches = describeDispatches(describe);
  if (dispatches.empty())
    return "a fill or a copy";
  return (dispatches.size() == 1 ? "dispatch " : "one of the dispatches ") + listOf(dispatches);
}

} // namespace kiln::hal
