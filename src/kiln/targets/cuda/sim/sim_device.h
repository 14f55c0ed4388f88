// A simulated GPU: memory, and streams whose operations one thread of its own works through.
#ifndef KILN_TARGETS_CUDA_SIM_SIM_DEVICE_H
#define KILN_TARGETS_CUDA_SIM_SIM_DEVICE_H

#include "kiln/targets/cuda/sim/machine.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace kiln::cudasim {

class SimDevice;

// Created by one device, and used with it alone.
struct SimEvent {
  SimDevice *device = nullptr;
  // Guarded by the device. An event that was never recorded is done.
  bool isDone = true;
  std::optional<uint64_t> time; // of the device's clock, nanoseconds; of one that was recorded and keeps it
  bool keepsTime = true;
  // Of the last record: whether the stream has got there. Null where there was none.
  std::shared_ptr<bool> reached;
};

struct SimStream {
  SimDevice *device = nullptr;

  struct Operation {
    std::unique_ptr<Launch> launch;     // a kernel,
    std::function<void()> work;         // or something else,
    std::shared_ptr<SimEvent> event;    // or an event
    std::shared_ptr<bool> reached;      // of the event
    std::shared_ptr<bool> awaited;      // or what another stream has to reach
    std::unique_ptr<LaunchRun> running; // of a kernel that has started
  };
  std::deque<Operation> operations; // guarded by the device
};

class SimDevice {
public:
  static constexpr uint64_t kMemoryBytes = uint64_t(16) << 30;

  // The seed says in which order threads, blocks and streams run.
  explicit SimDevice(uint64_t seed);
  // Drops what has not run.
  ~SimDevice();

  Memory &memory() { return deviceMemory; }
  uint64_t seed() const { return deviceSeed; }
  // What a kernel did wrong, after which nothing works any more.
  std::optional<Fault> fault() const;

  SimStream *createStream();
  // Waits until it is empty.
  void destroyStream(SimStream *stream);
  // False where the device has a fault.
  bool enqueue(SimStream &stream, SimStream::Operation operation);
  // What follows in the stream waits for what the event was recorded behind so far.
  bool enqueueWait(SimStream &stream, const SimEvent &event);
  void synchronize(SimStream &stream);
  bool isDone(const SimEvent &event) const;
  // Of an event that is done: when it was.
  std::optional<uint64_t> timeOf(const SimEvent &event) const;
  void awaitEvent(const SimEvent &event);
  // Runs while no kernel does.
  bool free(uint64_t address);
  void withoutKernels(const std::function<void()> &work);

private:
  void run();
  bool step(SimStream::Operation &operation);
  uint64_t costOf(const SimStream::Operation &operation);

  const uint64_t deviceSeed;
  Memory deviceMemory;
  mutable std::mutex mutex;
  std::condition_variable added;                   // operations, or the end
  mutable std::condition_variable ended;           // operations
  std::vector<std::unique_ptr<SimStream>> streams; // guarded
  std::optional<Fault> firstFault;                 // guarded
  bool stopping = false;                           // guarded
  std::mutex executing;                            // held while an operation goes on
  Random random;                                   // the worker's
  Random jitter;                                   // of the clock, the worker's
  uint64_t launches = 0;                           // the worker's
  uint64_t clock = 0;                              // the worker's: nanoseconds of what was executed
  std::thread worker;
};

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_SIM_DEVICE_H
