#include "kiln/targets/cuda/sim/sim_device.h"

#include <algorithm>

namespace kiln::cudasim {

SimDevice::SimDevice(uint64_t seed)
    : deviceSeed(seed), deviceMemory(kMemoryBytes), random(randomBits(seed, 3)), jitter(randomBits(seed, 5)),
      worker([this] { run(); }) {}

SimDevice::~SimDevice() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  added.notify_all();
  worker.join();
}

std::optional<Fault> SimDevice::fault() const {
  std::lock_guard lock(mutex);
  return firstFault;
}

SimStream *SimDevice::createStream() {
  std::lock_guard lock(mutex);
  streams.push_back(std::make_unique<SimStream>());
  streams.back()->device = this;
  return streams.back().get();
}

void SimDevice::destroyStream(SimStream *stream) {
  synchronize(*stream);
  std::lock_guard lock(mutex);
  std::erase_if(streams, [&](const auto &each) { return each.get() == stream; });
}

bool SimDevice::enqueue(SimStream &stream, SimStream::Operation operation) {
  {
    std::lock_guard lock(mutex);
    if (operation.event) {
      operation.event->isDone = firstFault.has_value();
      operation.event->time.reset();
      operation.reached = operation.event->reached = std::make_shared<bool>(operation.event->isDone);
    }
    if (firstFault)
      return false;
    stream.operations.push_back(std::move(operation));
  }
  added.notify_one();
  return true;
}

bool SimDevice::enqueueWait(SimStream &stream, const SimEvent &event) {
  std::shared_ptr<bool> reached;
  {
    std::lock_guard lock(mutex);
    reached = event.reached;
  }
  SimStream::Operation operation;
  operation.awaited = std::move(reached);
  return !operation.awaited || enqueue(stream, std::move(operation));
}

void SimDevice::synchronize(SimStream &stream) {
  std::unique_lock lock(mutex);
  ended.wait(lock, [&] { return stream.operations.empty(); });
}

bool SimDevice::isDone(const SimEvent &event) const {
  std::lock_guard lock(mutex);
  return event.isDone;
}

std::optional<uint64_t> SimDevice::timeOf(const SimEvent &event) const {
  std::lock_guard lock(mutex);
  return event.time;
}

void SimDevice::awaitEvent(const SimEvent &event) {
  std::unique_lock lock(mutex);
  ended.wait(lock, [&] { return event.isDone; });
}

bool SimDevice::free(uint64_t address) {
  std::lock_guard lock(executing);
  return deviceMemory.free(address);
}

void SimDevice::withoutKernels(const std::function<void()> &work) {
  std::lock_guard lock(executing);
  work();
}

// True once it has ended.
bool SimDevice::step(SimStream::Operation &operation) {
  constexpr uint64_t kSlice = 4 << 20; // instructions, after which other streams have their turn
  std::lock_guard lock(executing);
  if (operation.work)
    operation.work();
  if (!operation.launch)
    return true;
  if (!operation.running) {
    operation.launch->options.seed = randomBits(deviceSeed, 4, launches++);
    operation.launch->ticks = clock;
    operation.running = std::make_unique<LaunchRun>(*operation.launch);
  }
  return operation.running->run(kSlice);
}

// Nanoseconds that it takes by the device's clock, which goes by what was executed; a few percent are drawn.
uint64_t SimDevice::costOf(const SimStream::Operation &operation) {
  constexpr uint64_t kStart = 1000, kInstructionsInNanosecond = 64;
  if (operation.event || operation.awaited)
    return 0;
  const uint64_t cost = kStart + (operation.launch ? operation.launch->instructions / kInstructionsInNanosecond : 0);
  return cost + jitter.below(cost / 32);
}

void SimDevice::run() {
  std::unique_lock lock(mutex);
  std::vector<SimStream *> busy;
  while (true) {
    busy.clear();
    for (const auto &stream : streams)
      if (!stream->operations.empty())
        if (const std::shared_ptr<bool> &awaited = stream->operations.front().awaited; !awaited || *awaited)
          busy.push_back(stream.get());
    if (stopping)
      return;
    if (busy.empty()) {
      added.wait(lock);
      continue;
    }
    SimStream &stream = *busy[random.below(busy.size())];
    SimStream::Operation &operation = stream.operations.front(); // stays where it is while others are added
    lock.unlock();
    const bool hasEnded = step(operation);
    lock.lock();
    if (!hasEnded)
      continue;
    SimStream::Operation done = std::move(operation);
    stream.operations.pop_front();
    clock += costOf(done);
    if (done.launch)
      clock = std::max(clock, done.launch->ticks);
    if (done.event) {
      done.event->isDone = *done.reached = true;
      if (done.event->keepsTime)
        done.event->time = clock;
    }
    if (done.launch && done.launch->hasFault) {
      firstFault = done.launch->fault;
      for (const auto &each : streams) {
        for (SimStream::Operation &dropped : each->operations)
          if (dropped.event)
            dropped.event->isDone = *dropped.reached = true;
        each->operations.clear();
      }
    }
    ended.notify_all();
    lock.unlock();
    done = {};
    lock.lock();
  }
}

} // namespace kiln::cudasim
