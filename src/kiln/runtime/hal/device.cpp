#include "kiln/runtime/hal/device.h"

#include "kiln/base/clock.h"
#include "kiln/trace/zone.h"

#include <algorithm>
#include <iterator>

namespace kiln::hal {

Device::Device(std::string uri, Ref<Allocator> allocator, std::shared_ptr<DeviceLoss> loss)
    : deviceUri(std::move(uri)), deviceAllocator(std::move(allocator)), loss(std::move(loss)) {}

Result<ClockSample> Device::sampleClock() {
  const uint64_t now = monotonicNanoseconds();
  return ClockSample{now, now, now};
}

DeviceTrace &Device::deviceTrace() {
  std::lock_guard lock(traceMutex);
  if (!trace)
    trace = std::make_shared<DeviceTrace>(deviceUri, hasHostClock());
  return *trace;
}

Result<Ref<Fence>> Device::execute(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                                   uint64_t queues, ExecutionTimes *times) {
  static trace::Name submitting("submit");
  trace::Zone zone(submitting);
  if (loss->isSet()) [[unlikely]]
    return loss->status(uri());
  if (!commands)
    return invalidArgument("a null command buffer cannot be executed");
  if (commands->device() != this)
    return invalidArgument("a command buffer of device '{}' cannot be executed on device '{}'",
                           commands->device()->uri(), uri());
  if (queues == 0)
    return invalidArgument("a submission to no queue of device '{}' would never run", uri());
  KILN_RETURN_IF_ERROR(commands->checkBindings(bindings));
  KILN_RETURN_IF_ERROR(commands->beginExecution());
  if (kept) [[unlikely]]
    kept->emplace_back(commands, bindings);
  Ref<ExecutionTimes> watched;
  if (executionWatch && executionWatch->isOn()) [[unlikely]] {
    watched = times ? Ref<ExecutionTimes>::share(times) : makeRef<ExecutionTimes>(executionWatch->detail);
    times = watched.get();
  }
  Ref<ExecutionTimes> traced;
  if (trace::isRecording() && (!times || times->detail == TimesDetail::Dispatches)) [[unlikely]] {
    traced = times ? Ref<ExecutionTimes>::share(times) : makeRef<ExecutionTimes>(TimesDetail::Dispatches);
    times = traced.get();
    deviceTrace().sample([this] { return sampleClock(); });
  }
  if (times) [[unlikely]] {
    times->submitted = monotonicNanoseconds();
    if (times->detail == TimesDetail::Dispatches) {
      times->dispatches.resize(commands->dispatches().size());
      for (const ExecutableExport *entry : commands->dispatches())
        times->names.push_back(entry->name);
      if (traced)
        std::ranges::transform(times->names, std::back_inserter(times->traceNames),
                               [](std::string_view name) { return trace::numberOf(name); });
    }
  }
  Result<Ref<Fence>> done = submitTo(queues, wait, commands, bindings, times);
  if (watched && done.ok()) [[unlikely]]
    executionWatch->add(std::move(watched));
  if (traced && done.ok()) [[unlikely]]
    deviceTrace().follow(traced, Ref<CommandBuffer>::share(commands), **done);
  return done;
}

Result<Ref<Buffer>> Device::allocateOrdered(Fence *wait, BufferUsage usage, uint64_t length) {
  if (wait && queueCount() > 0)
    if (Ref<Buffer> buffer = ordered->take(*wait, usage, length))
      return buffer;
  Result<Ref<Buffer>> buffer = allocator().allocate(usage, length);
  if (buffer.ok() || buffer.status().code() != StatusCode::ResourceExhausted || !wait)
    return buffer;
  // What the fence stands for holds memory, its own and what was released behind it. It may have ended by now, so that
  // there is memory, or have failed.
  std::vector<Ref<Buffer>> released = ordered->takeAll(*wait);
  KILN_RETURN_IF_ERROR(wait->waitWithin(CallLimit::current()));
  released.clear();
  return allocator().allocate(usage, length);
}

void Device::releaseOrdered(Fence *after, Buffer &buffer) {
  // Others may be looking at any memory but a program's own for one call.
  bool isOwn = buffer.usage() == BufferUsage::Transient && buffer.allocation() == &buffer &&
               allows(buffer.access(), MemoryAccess::ReadWrite);
  if (after && isOwn && queueCount() > 0 && !after->isSignaled())
    ordered->give(Ref<Buffer>::share(&buffer), *after);
}

} // namespace kiln::hal
