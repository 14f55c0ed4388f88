#include "kiln/targets/cpu/driver/sync_device.h"

#include "kiln/base/clock.h"
#include "kiln/runtime/hal/host_semaphore.h"
#include "kiln/targets/cpu/driver/cpu_command_buffer.h"
#include "kiln/trace/zone.h"

#include <array>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace kiln::hal {

SyncDevice::SyncDevice(std::string uri, const DeviceOptions &options)
    : CpuDevice(std::move(uri), options), queue(makeRef<InlineQueue>()), done(Fence::signaled()) {}

Result<Ref<Semaphore>> SyncDevice::createSemaphore(uint64_t initialValue) {
  return Ref<Semaphore>(makeRef<HostSemaphore>(initialValue));
}

Result<Ref<Fence>> SyncDevice::submit(Fence *wait, CommandBuffer *base, std::span<const Binding> bindings,
                                      ExecutionTimes *times) {
  auto *commands = static_cast<CpuCommandBuffer *>(base);
  if (!wait || wait->isSignaled()) {
    Status status = wait ? wait->wait(Deadline::immediate()) : okStatus();
    if (status.ok())
      status = run(*commands, bindings, times, CallLimit::current());
    return status.ok() ? done : Fence::failed(std::move(status));
  }
  // The caller's references are gone when it runs.
  std::vector<Ref<Buffer>> retained;
  for (const Binding &binding : bindings)
    retained.push_back(Ref<Buffer>::share(binding.buffer));
  std::vector<Binding> table(bindings.begin(), bindings.end());
  return queue->run(wait,
                    [self = Ref<SyncDevice>::share(this), commands = Ref<CpuCommandBuffer>::share(commands),
                     retained = std::move(retained), table = std::move(table),
                     times = Ref<ExecutionTimes>::share(times), limit = Ref<CallLimit>::share(CallLimit::current())] {
                      return self->run(*commands, table, times.get(), limit.get());
                    });
}

Status SyncDevice::run(const CpuCommandBuffer &commands, std::span<const Binding> bindings, ExecutionTimes *times,
                       const CallLimit *limit) {
  std::array<void *, 64> few;
  std::unique_ptr<void *[]> many;
  void **addresses = few.data();
  if (commands.addressCount() > few.size()) {
    many = std::make_unique<void *[]>(commands.addressCount());
    addresses = many.get();
  }
  commands.resolve(bindings, addresses);

  // Who has to come back in time does not wait for what others do.
  constexpr std::chrono::milliseconds kAskAgain(5);
  std::unique_lock lock(mutex, std::defer_lock);
  while (limit ? !lock.try_lock_for(kAskAgain) : (lock.lock(), false))
    if (limit->isOver())
      return limit->status();
  void *localMemory = worker.localMemory(commands.localMemoryBytes());
  if (!localMemory && commands.localMemoryBytes())
    return resourceExhausted("cannot allocate {} bytes of local memory", commands.localMemoryBytes());
  const bool timesDispatches = times && !times->dispatches.empty();
  const uint64_t started = times ? monotonicNanoseconds() : 0;
  for (const CpuCommand &command : commands.commands()) {
    const trace::Zone zone(traceNameOf(command, times));
    const uint64_t begin = timesDispatches ? monotonicNanoseconds() : 0;
    Status status = commands.run(command, addresses, 0, command.units, worker.index(), localMemory, limit);
    if (!status.ok()) {
      if (times)
        times->clear();
      return status;
    }
    if (timesDispatches && command.kind == CpuCommand::Kind::Dispatch)
      times->dispatches[command.place] = {begin, monotonicNanoseconds()};
  }
  for (const Binding &binding : bindings)
    if (binding.buffer)
      KILN_RETURN_IF_ERROR(binding.buffer->checkReadable());
  if (times)
    times->submission = {started, monotonicNanoseconds()};
  return okStatus();
}

} // namespace kiln::hal
