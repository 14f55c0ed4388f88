#include "kiln/targets/cpu/driver/task_submission.h"

#include "kiln/base/clock.h"
#include "kiln/trace/zone.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace kiln::hal {

Result<Ref<Fence>> TaskSubmission::start(TaskDevice &device, Fence *wait, CpuCommandBuffer &commands,
                                         std::span<const Binding> bindings, ExecutionTimes *times) {
  size_t bytes = sizeof(TaskSubmission) + commands.commands().size() * sizeof(Counter) +
                 commands.addressCount() * sizeof(void *) + bindings.size() * sizeof(Ref<Buffer>);
  void *block = std::aligned_alloc(alignof(TaskSubmission), (bytes + 63) / 64 * 64);
  if (!block)
    return resourceExhausted("cannot allocate {} bytes for a submission", bytes);
  auto *submission = new (block) TaskSubmission(device, commands, bindings, times);
  Ref<Fence> fence = Fence::create(submission->done, 1);
  // From here on it may complete, and be gone, at any time.
  if (wait)
    submission->listen(*wait);
  else
    submission->enqueue(device.scheduler());
  return fence;
}

TaskSubmission::TaskSubmission(TaskDevice &device, CpuCommandBuffer &commandBuffer, std::span<const Binding> bindings,
                               ExecutionTimes *times)
    : scheduler(device.scheduler()), commands(Ref<CpuCommandBuffer>::share(&commandBuffer)),
      limit(Ref<CallLimit>::share(CallLimit::current())),
      done(makeRef<TaskSemaphore>(Ref<TaskDevice>::share(&device), 0)), bufferCount(bindings.size()),
      times(Ref<ExecutionTimes>::share(times)) {
  counters = reinterpret_cast<Counter *>(this + 1);
  std::uninitialized_default_construct_n(counters, commands->commands().size());
  addresses = reinterpret_cast<void **>(counters + commands->commands().size());
  buffers = reinterpret_cast<Ref<Buffer> *>(addresses + commands->addressCount());
  for (size_t i = 0; i < bufferCount; ++i)
    new (buffers + i) Ref<Buffer>(Ref<Buffer>::share(bindings[i].buffer));
  commands->resolve(bindings, addresses);
  if (times && !times->dispatches.empty())
    timesOfDispatch = std::make_unique<WorkTimes[]>(times->dispatches.size());
}

TaskSubmission::~TaskSubmission() {
  std::destroy_n(buffers, bufferCount);
}

void TaskSubmission::operator delete(void *block) {
  std::free(block);
}

void TaskSubmission::onSignaled(Status status) {
  if (!status.ok())
    fail(std::move(status));
  // The thread that signals may hold no reference to the device, and a worker may drop the last one while the call
  // below is still at work.
  std::shared_ptr<task::Scheduler> keep = scheduler.shared_from_this();
  enqueue(*keep);
}

void TaskSubmission::enqueue(task::Scheduler &target) {
  uint64_t width = 1;
  if (!commands->waves().empty()) {
    width = commands->waves()[0].units;
    unfinished.store(width, std::memory_order_relaxed);
  }
  target.submit(this, width);
}

task::Job::Progress TaskSubmission::work(task::Worker &worker) {
  std::span<const CpuWave> waves = commands->waves();
  // Also a submission that has nothing to run goes through the scheduler, so that long chains of them need no stack.
  if (waves.empty())
    return nothingClaimed.exchange(true, std::memory_order_relaxed) ? Progress::Nothing : Progress::Completed;
  bool worked = false;
  for (;;) {
    uint32_t index = wave.load(std::memory_order_acquire);
    if (index == waves.size())
      break;
    const uint64_t began = times ? monotonicNanoseconds() : 0;
    uint64_t units = runWave(waves[index], worker);
    if (units == 0)
      break;
    if (times)
      timesOfAll.note(began);
    worked = true;
    if (unfinished.fetch_sub(units, std::memory_order_acq_rel) == units && !openNextWave(index))
      return Progress::Completed;
    if (worker.isInterrupted())
      break;
  }
  return worked ? Progress::Worked : Progress::Nothing;
}

// Returns how many units this worker has run, which is when it has run out of them, or was interrupted.
uint64_t TaskSubmission::runWave(const CpuWave &wave, task::Worker &worker) {
  uint32_t count = wave.end - wave.begin;
  uint64_t first = uint64_t(worker.index()) * count / scheduler.workerCount();
  uint64_t units = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t index = wave.begin + (first + i) % count;
    const CpuCommand &command = commands->commands()[index];
    uint64_t begin, end;
    while (claim(command, counters[index], begin, end)) {
      trace::Zone zone(traceNameOf(command, times.get()));
      const uint64_t began = timesOfDispatch ? monotonicNanoseconds() : 0;
      runUnits(command, begin, end, worker);
      if (timesOfDispatch && command.kind == CpuCommand::Kind::Dispatch)
        timesOfDispatch[command.place].note(began);
      units += end - begin;
      if (worker.isInterrupted())
        return units;
    }
  }
  return units;
}

// Large stretches first, for few claims, and small ones last, so that all workers finish together.
bool TaskSubmission::claim(const CpuCommand &command, Counter &counter, uint64_t &begin, uint64_t &end) const {
  begin = counter.next.load(std::memory_order_relaxed);
  do {
    if (begin >= command.units)
      return false;
    uint64_t share = (command.units - begin) / (2 * uint64_t(scheduler.workerCount()));
    end = begin + std::max<uint64_t>(share, 1);
  } while (!counter.next.compare_exchange_weak(begin, end, std::memory_order_relaxed));
  return true;
}

void TaskSubmission::runUnits(const CpuCommand &command, uint64_t begin, uint64_t end, task::Worker &worker) {
  // What a failed submission has claimed counts as done.
  if (failed.load(std::memory_order_relaxed))
    return;
  uint32_t needed = commands->localMemoryBytes();
  void *localMemory = worker.localMemory(needed);
  Status status = okStatus();
  if (!localMemory && needed)
    status = resourceExhausted("cannot allocate {} bytes of local memory", needed);
  else
    status = commands->run(command, addresses, begin, end, worker.index(), localMemory, limit.get());
  if (!status.ok())
    fail(std::move(status));
}

bool TaskSubmission::openNextWave(uint32_t finished) {
  uint32_t next = finished + 1;
  if (next == commands->waves().size() || failed.load(std::memory_order_relaxed)) {
    wave.store(uint32_t(commands->waves().size()), std::memory_order_release);
    return false;
  }
  uint64_t units = commands->waves()[next].units;
  unfinished.store(units, std::memory_order_relaxed);
  wave.store(next, std::memory_order_release);
  scheduler.expand(units);
  return true;
}

void TaskSubmission::WorkTimes::note(uint64_t began) {
  const uint64_t now = monotonicNanoseconds();
  for (uint64_t seen = begin.load(std::memory_order_relaxed);
       began < seen && !begin.compare_exchange_weak(seen, began, std::memory_order_relaxed);)
    ;
  for (uint64_t seen = end.load(std::memory_order_relaxed);
       now > seen && !end.compare_exchange_weak(seen, now, std::memory_order_relaxed);)
    ;
}

TickRange TaskSubmission::WorkTimes::range() const {
  return {begin.load(std::memory_order_relaxed), end.load(std::memory_order_relaxed)};
}

void TaskSubmission::fillTimes() {
  if (commands->waves().empty())
    timesOfAll.note(monotonicNanoseconds());
  times->submission = timesOfAll.range();
  for (size_t i = 0; i < times->dispatches.size(); ++i)
    times->dispatches[i] = timesOfDispatch[i].range();
}

void TaskSubmission::fail(Status status) {
  std::lock_guard lock(mutex);
  if (failure.ok())
    failure = std::move(status);
  failed.store(true, std::memory_order_relaxed);
}

void TaskSubmission::complete() {
  for (size_t i = 0; i < bufferCount; ++i) {
    if (buffers[i])
      if (Status status = buffers[i]->checkReadable(); !status.ok())
        fail(std::move(status));
    // Before the fence: whoever has awaited it finds the memory free.
    buffers[i] = nullptr;
  }
  Status status;
  if (failed.load(std::memory_order_relaxed)) {
    std::lock_guard lock(mutex);
    status = std::move(failure);
  }
  if (times && status.ok())
    fillTimes();
  if (status.ok())
    status = done->signal(1);
  if (!status.ok())
    done->fail(std::move(status));
}

void TaskSubmission::retire() {
  delete this;
}

} // namespace kiln::hal
