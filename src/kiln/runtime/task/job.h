// What the scheduler runs: see scheduler.h.
#ifndef KILN_RUNTIME_TASK_JOB_H
#define KILN_RUNTIME_TASK_JOB_H

#include "kiln/runtime/task/parker.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace kiln::task {

// What a thread waits for while it lends itself.
class WaitCondition {
public:
  virtual bool isMet() const = 0;
  // From now on `parker` is unparked when the condition is met. False, with nothing arranged, where it is met already.
  virtual bool arm(Parker &parker) = 0;
  // Ends what `arm` arranged: afterwards neither this nor the parker is touched.
  virtual void disarm() = 0;

protected:
  ~WaitCondition() = default;
};

// One of the scheduler's workers, as seen by the job that it runs. Used by one thread at a time.
class Worker {
public:
  explicit Worker(uint32_t index) : workerIndex(index) {}

  // Below the scheduler's worker count.
  uint32_t index() const { return workerIndex; }

  // At least `bytes` bytes of this worker's own, at a multiple of 64; contents undefined. Null where there is no
  // memory.
  void *localMemory(uint64_t bytes) {
    if (bytes > memoryBytes) [[unlikely]]
      grow(bytes);
    return bytes <= memoryBytes ? memory.get() : nullptr;
  }

  // True where the thread should leave the job as soon as what it has claimed is done: it was lent until something
  // happened, and that has happened.
  bool isInterrupted() const { return condition && condition->isMet(); }

private:
  friend class Scheduler;
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  void grow(uint64_t bytes);

  uint32_t workerIndex;
  const WaitCondition *condition = nullptr;
  std::unique_ptr<void, Free> memory;
  uint64_t memoryBytes = 0;
  uint32_t nextSlot = 0; // where the next search for a job starts, so that all have their turn
};

// Work that any number of workers take parts of at the same time. Owned by itself: `retire` is its end.
class Job {
public:
  enum class Progress {
    Nothing,  // there was nothing left to claim; what others have claimed may still run
    Worked,   // did something, and there is nothing left to claim now
    Completed // the last part is done: returned once, to one worker
  };

  // Claims and runs parts until there are none, or the worker is interrupted.
  virtual Progress work(Worker &worker) = 0;
  // Once, after `work` returned Completed. Others may still be leaving `work`, having found nothing.
  virtual void complete() = 0;
  // Last, once no worker is inside. On any worker, or on a thread that lends itself.
  virtual void retire() = 0;

protected:
  ~Job() = default;
};

} // namespace kiln::task

#endif // KILN_RUNTIME_TASK_JOB_H
