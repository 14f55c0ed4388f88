#include "kiln/runtime/hal/device.h"

#include "kiln/base/clock.h"

namespace kiln::hal {

Device::Device(std::string uri, Ref<Allocator> allocator, std::shared_ptr<DeviceLoss> loss)
    : deviceUri(std::move(uri)), deviceAllocator(std::move(allocator)), loss(std::move(loss)) {}

Result<ClockSample> Device::sampleClock() {
  const uint64_t now = monotonicNanoseconds();
  return ClockSample{now, now, now};
}

Result<Ref<Fence>> Device::execute(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings,
                                   ExecutionTimes *times) {
  if (loss->isSet()) [[unlikely]]
    return loss->status(uri());
  if (!commands)
    return invalidArgument("a null command buffer cannot be executed");
  if (commands->device() != this)
    return invalidArgument("a command buffer of device '{}' cannot be executed on device '{}'",
                           commands->device()->uri(), uri());
  KILN_RETURN_IF_ERROR(commands->checkBindings(bindings));
  KILN_RETURN_IF_ERROR(commands->beginExecution());
  if (kept) [[unlikely]]
    kept->emplace_back(commands, bindings);
  Ref<ExecutionTimes> watched;
  if (executionWatch && executionWatch->isOn()) [[unlikely]] {
    watched = times ? Ref<ExecutionTimes>::share(times) : makeRef<ExecutionTimes>();
    times = watched.get();
  }
  if (times) [[unlikely]] {
    times->submitted = monotonicNanoseconds();
    if (times->detail == TimesDetail::Dispatches)
      times->dispatches.resize(commands->dispatches().size());
  }
  Result<Ref<Fence>> done = submit(wait, commands, bindings, times);
  if (watched && done.ok()) [[unlikely]]
    executionWatch->add(std::move(watched));
  return done;
}

} // namespace kiln::hal
