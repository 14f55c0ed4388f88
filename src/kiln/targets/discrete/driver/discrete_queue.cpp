#include "kiln/targets/discrete/driver/discrete_queue.h"

#include "kiln/targets/discrete/driver/discrete_device.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace kiln::hal {

namespace {

// The timeline of one submission.
class DiscreteSemaphore final : public HostSemaphore {
public:
  explicit DiscreteSemaphore(Ref<DiscreteDevice> device) : HostSemaphore(0), device(std::move(device)) {}
  void loseDevice(Status why) override { device->lose(std::move(why)); }
  Status wait(uint64_t target, Deadline deadline) override {
    if (!isReached(target))
      device->start();
    return HostSemaphore::wait(target, deadline);
  }

private:
  Ref<DiscreteDevice> device;
};

} // namespace

//===--- DiscreteSubmission ---------------------------------------------------------------------------------------===//

DiscreteSubmission::DiscreteSubmission(DiscreteDevice &owner, DiscreteCommandBuffer &commands,
                                       std::span<const Binding> bindings)
    : done(makeRef<DiscreteSemaphore>(Ref<DiscreteDevice>::share(&owner))), device(Ref<DiscreteDevice>::share(&owner)),
      number(owner.handOver()), commands(Ref<DiscreteCommandBuffer>::share(&commands)),
      limit(Ref<CallLimit>::share(CallLimit::current())), table(bindings.begin(), bindings.end()) {
  for (Binding &binding : table) {
    retained.push_back(Ref<Buffer>::share(binding.buffer));
    const DiscreteBuffer *buffer = binding.buffer ? DiscreteBuffer::find(owner.memory(), *binding.buffer) : nullptr;
    if (!buffer)
      continue; // of a slot that is not used
    binding.offset += binding.buffer->allocationOffset();
    binding.buffer = &buffer->pages();
  }
}

DiscreteSubmission::~DiscreteSubmission() = default;

Ref<Fence> DiscreteSubmission::start(DiscreteDevice &device, Fence *wait, DiscreteCommandBuffer &commands,
                                     std::span<const Binding> bindings, uint64_t queues, ExecutionTimes *times) {
  auto *submission = new DiscreteSubmission(device, commands, bindings);
  submission->queues = queues;
  submission->times = Ref<ExecutionTimes>::share(times);
  Ref<Fence> fence = Fence::create(submission->done, 1);
  if (wait)
    submission->listen(*wait);
  else
    device.nextQueue(queues).put(submission);
  return fence;
}

void DiscreteSubmission::onSignaled(Status status) {
  if (!status.ok())
    return complete(std::move(status));
  Ref<DiscreteQueue> queue = Ref<DiscreteQueue>::share(&device->nextQueue(queues));
  queue->put(this);
}

Status DiscreteSubmission::run(Random &random, task::Worker &worker) {
  KILN_RETURN_IF_ERROR(device->countSubmission());
  std::vector<DiscretePages *> opened;
  for (const Binding &binding : table)
    if (auto *pages = dynamic_cast<DiscretePages *>(binding.buffer)) {
      pages->open();
      opened.push_back(pages);
    }
  const uint64_t started = DiscreteClock::now();
  Status status = runCommands(random, worker);
  if (times && status.ok())
    times->submission = {started, DiscreteClock::now()};
  for (DiscretePages *pages : opened)
    pages->close();
  return status;
}

// Commands between two barriers run in any order, and so do workgroups.
Status DiscreteSubmission::runCommands(Random &random, task::Worker &worker) {
  constexpr uint64_t kMostStretches = 8;
  std::vector<void *> addresses(commands->addressCount());
  commands->resolve(table, addresses.data());
  void *localMemory = worker.localMemory(commands->localMemoryBytes());
  if (!localMemory && commands->localMemoryBytes())
    return resourceExhausted("cannot allocate {} bytes of local memory", commands->localMemoryBytes());
  struct Stretch {
    const CpuCommand *command;
    uint64_t begin, end;
  };
  std::vector<Stretch> stretches;
  const bool timesDispatches = times && !times->dispatches.empty();
  for (const CpuWave &wave : commands->waves()) {
    stretches.clear();
    for (const CpuCommand &command : commands->commands().subspan(wave.begin, wave.end - wave.begin)) {
      uint64_t count = std::min(kMostStretches, command.units);
      for (uint64_t i = 0; i < count; ++i)
        stretches.push_back(
            {&command, command.units / count * i, i + 1 == count ? command.units : command.units / count * (i + 1)});
    }
    for (size_t i = stretches.size(); i > 1; --i)
      std::swap(stretches[i - 1], stretches[random.below(i)]);
    for (const Stretch &stretch : stretches) {
      const uint64_t began = timesDispatches ? DiscreteClock::now() : 0;
      KILN_RETURN_IF_ERROR(commands->run(*stretch.command, addresses.data(), stretch.begin, stretch.end, worker.index(),
                                         localMemory, limit.get()));
      if (!timesDispatches || stretch.command->kind != CpuCommand::Kind::Dispatch)
        continue;
      TickRange &range = times->dispatches[stretch.command->place];
      range = {range.end ? range.begin : began, DiscreteClock::now()};
    }
  }
  return okStatus();
}

void DiscreteSubmission::complete(Status status) {
  commands = nullptr;
  retained.clear();
  if (!status.ok() && times)
    times->clear();
  Ref<HostSemaphore> semaphore = done;
  device->noteEnd();
  // The device stays until the semaphore is gone, which holds it too.
  delete this;
  if (status.ok())
    status = semaphore->signal(1);
  if (!status.ok())
    semaphore->fail(std::move(status));
}

//===--- DiscreteQueue --------------------------------------------------------------------------------------------===//

DiscreteQueue::DiscreteQueue(const DiscreteSettings &settings, uint32_t index)
    : delayMicros(settings.delayMicros), random(randomBits(settings.seed, index)),
      lastToStart(settings.hold ? 0 : UINT64_MAX), thread([this] { work(); }) {}

void DiscreteQueue::put(DiscreteSubmission *submission) {
  {
    std::lock_guard lock(mutex);
    waiting.push_back(submission);
  }
  changed.notify_one();
}

void DiscreteQueue::startUntil(uint64_t number) {
  {
    std::lock_guard lock(mutex);
    lastToStart = std::max(lastToStart, number);
  }
  changed.notify_one();
}

std::deque<DiscreteSubmission *>::iterator DiscreteQueue::next() {
  return std::ranges::find_if(waiting, [&](const DiscreteSubmission *one) { return one->number <= lastToStart; });
}

void DiscreteQueue::shutDown() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_one();
  if (thread.get_id() != std::this_thread::get_id()) {
    thread.join();
    return;
  }
  // The thread itself has dropped the device: it goes on for a moment, with a reference of its own.
  retain();
  thread.detach();
}

void DiscreteQueue::delay() {
  if (delayMicros)
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(delayMicros + 1)));
}

void DiscreteQueue::work() {
  const std::thread::id self = std::this_thread::get_id();
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return stopping || next() != waiting.end(); });
    auto ready = next();
    if (ready == waiting.end())
      break;
    DiscreteSubmission *submission = *ready;
    waiting.erase(ready);
    lock.unlock();
    delay();
    Status status = submission->run(random, worker);
    delay();
    submission->complete(std::move(status));
    lock.lock();
  }
  bool isDetached = thread.get_id() != self;
  lock.unlock();
  if (isDetached)
    release();
}

} // namespace kiln::hal
