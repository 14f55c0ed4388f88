// Runs jobs on a fixed number of workers.
//
// Worker 0 is special: a thread that waits (`help`) stands in for it, so that a call which submits work and awaits it
// needs no other thread, and so that no more threads are runnable than there are workers. A reserve thread takes worker
// 0's place where nobody waits. The other workers are threads of their own, bound to cores; without work they spin for
// a while, and then sleep.
//
// Who runs a job that is submitted: workers that spin see it at once. Sleepers are woken for a job of some width. A job
// of one part alone wakes nobody: whoever submits it awaits it, as a rule, in the next microsecond. If not, the
// reserve, which dozes while anything is going on, finds it within a millisecond.
#ifndef KILN_RUNTIME_TASK_SCHEDULER_H
#define KILN_RUNTIME_TASK_SCHEDULER_H

#include "kiln/base/clock.h"
#include "kiln/base/status.h"
#include "kiln/runtime/task/job.h"
#include "kiln/runtime/task/options.h"
#include "kiln/runtime/task/topology.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace kiln::task {

class Scheduler : public std::enable_shared_from_this<Scheduler> {
public:
  static constexpr uint32_t kMaxWorkers = 4096;

  static Result<std::shared_ptr<Scheduler>> create(const SchedulerOptions &options, const Topology &topology);
  // No job is in flight any more and no thread waits. May be called by a worker, from Job::retire.
  void shutDown();

  uint32_t workerCount() const { return uint32_t(workers.size()); }

  // Takes over the job. The caller keeps the scheduler alive until this returns: the job may be gone by then, with all
  // that it refers to. `width` is how many workers could find something to do in it now; at least 1.
  void submit(Job *job, uint64_t width);
  // From Job::work: there is now more to claim, for `width` workers with the caller.
  void expand(uint64_t width);

  // Waits until the condition is met, or returns false after the deadline. The thread works meanwhile, if the place of
  // worker 0 is free. Not for workers themselves.
  bool help(WaitCondition &condition, Deadline deadline);
  // The same, but all work is left to others: the thread comes back at its deadline whatever they run.
  bool wait(WaitCondition &condition, Deadline deadline);

private:
  static constexpr uint32_t kSlots = 64; // a bit each in one word
  enum class Owner : uint32_t { None, Reserve, Waiter };
  enum class ReserveState : uint32_t { Dozing, Deep };

  // A job that workers may enter. `users` counts those inside, or looking.
  struct alignas(64) JobSlot {
    std::atomic<Job *> job{nullptr};
    std::atomic<Job *> retired{nullptr};
    std::atomic<uint32_t> users{0};
  };
  struct alignas(64) Place {
    explicit Place(uint32_t index) : worker(index) {}
    Worker worker;
    Parker parker;
    std::atomic<bool> asleep{false};
  };

  Scheduler(const SchedulerOptions &options, uint32_t workerCount);
  Status start(const SchedulerOptions &options, const Topology &topology);
  void workerLoop(Place &place);
  void reserveLoop();

  bool runAvailable(Worker &worker);
  void leave(uint32_t slot);
  // Returns how many jobs are in slots now, 0 where all slots are taken.
  uint32_t placeJob(Job *job);
  void placeWaitingJobs();

  // Sleeps until woken, unless the epoch is not `seen` any more.
  void sleep(Place &place, uint32_t seen, Deadline deadline);
  void wake(uint64_t count);
  bool wakeOne(Place &place);
  void payWakeDebt();
  bool waitBlocked(WaitCondition &condition, Deadline deadline);
  bool isStopping() const { return stopping.load(std::memory_order_acquire); }

  const uint64_t spinNanoseconds;
  std::vector<std::unique_ptr<Place>> workers;
  std::vector<std::thread> threads;
  Parker reserveParker;

  // Changes whenever there may be something new to claim; who has found nothing waits for it to change.
  alignas(64) std::atomic<uint32_t> epoch{0};
  alignas(64) std::atomic<uint64_t> active{0};       // slots with a job in them, one bit each
  std::atomic<uint64_t> freeSlots{~uint64_t(0)};     // slots that may be taken
  alignas(64) std::atomic<Owner> owner{Owner::None}; // who is worker 0
  std::atomic<ReserveState> reserveState{ReserveState::Dozing};
  alignas(64) std::atomic<uint32_t> spinning{0}; // threads of workers 1 and up that spin
  std::atomic<uint32_t> sleepers{0};
  std::atomic<int64_t> wakeDebt{0}; // sleepers that those who have been woken should wake in turn
  std::atomic<bool> stopping{false};
  std::array<JobSlot, kSlots> slots;
  std::mutex waitingMutex;
  std::deque<Job *> waiting; // guarded; jobs that found all slots taken
  std::atomic<uint32_t> waitingCount{0};
};

} // namespace kiln::task

#endif // KILN_RUNTIME_TASK_SCHEDULER_H
