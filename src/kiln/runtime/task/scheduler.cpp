#include "kiln/runtime/task/scheduler.h"

#include "kiln/base/blocked_signals.h"
#include "kiln/base/exhaustion.h"
#include "kiln/runtime/task/spin.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <pthread.h>
#include <sched.h>
#include <system_error>

namespace kiln::task {

namespace {

// How long the reserve dozes between two looks, and how often it looks in vain before it sleeps until woken.
constexpr uint64_t kDozeNanoseconds = 1'000'000;
constexpr uint32_t kQuietLooks = 8;
// How many sleepers one thread wakes itself; those wake more, so that a wide machine is awake in logarithmic time.
constexpr uint64_t kWakeFanOut = 2;

// Spins while `wait` returns true. False where that took longer than `nanoseconds`.
template <typename Wait> bool spinWhile(uint64_t nanoseconds, Wait wait) {
  constexpr uint32_t kLooksPerClock = 32; // the clock costs as much as several looks
  Deadline end = Deadline::after(nanoseconds);
  for (uint32_t i = 1; wait(); ++i) {
    cpuRelax();
    if (i % kLooksPerClock == 0 && end.remaining() == 0)
      return false;
  }
  return true;
}

void nameThread(const std::string &name, uint32_t index) {
  std::string suffix = fmt::format("-{}", index);
  pthread_setname_np(pthread_self(), (name.substr(0, 15 - suffix.size()) + suffix).c_str());
}

} // namespace

void Worker::grow(uint64_t bytes) {
  memory.reset();
  memoryBytes = 0;
  if (bytes > uint64_t(PTRDIFF_MAX) / 2)
    return;
  uint64_t rounded = (bytes + 63) / 64 * 64;
  memory.reset(std::aligned_alloc(64, rounded));
  memoryBytes = memory ? rounded : 0;
}

Scheduler::Scheduler(const SchedulerOptions &options, uint32_t workerCount) : spinNanoseconds(options.spinNanoseconds) {
  for (uint32_t i = 0; i < workerCount; ++i)
    workers.push_back(std::make_unique<Place>(i));
}

Result<std::shared_ptr<Scheduler>> Scheduler::create(const SchedulerOptions &options, const Topology &topology) {
  size_t count = options.workerCount ? options.workerCount : topology.cores.size();
  if (count == 0 || count > kMaxWorkers)
    return invalidArgument("{} workers were asked for; between 1 and {} are possible", count, kMaxWorkers);
  std::shared_ptr<Scheduler> scheduler(new Scheduler(options, uint32_t(count)));
  Status status = scheduler->start(options, topology);
  if (!status.ok()) {
    scheduler->shutDown();
    return status;
  }
  return scheduler;
}

Status Scheduler::start(const SchedulerOptions &options, const Topology &topology) {
  bool bind = options.pinWorkers && workers.size() <= topology.cores.size();
  BlockedSignals blocked;
  Status status;
  try {
    for (uint32_t i = 0; i < workers.size(); ++i) {
      threads.emplace_back(
          [self = shared_from_this(), i, name = options.name, core = bind ? topology.cores[i] : Core()] {
            nameThread(name, i);
            // Where the system refuses, the thread runs anywhere.
            if (!core.cpus.empty()) [[maybe_unused]]
              Status bound = bindThread(0, core.cpus);
            if (i == 0)
              self->reserveLoop();
            else
              self->workerLoop(*self->workers[i]);
          });
    }
  } catch (const std::system_error &error) {
    status = noThread(fmt::format("worker thread {} of {}", threads.size(), workers.size()), error);
  }
  return status;
}

void Scheduler::shutDown() {
  stopping.store(true, std::memory_order_release);
  epoch.fetch_add(1, std::memory_order_seq_cst);
  for (std::unique_ptr<Place> &place : workers)
    place->parker.unpark();
  reserveParker.unpark();
  for (std::thread &thread : threads) {
    // A worker that drops the last reference to its device ends itself, after it has returned to its loop.
    if (thread.get_id() == std::this_thread::get_id())
      thread.detach();
    else
      thread.join();
  }
  threads.clear();
}

//===- Jobs
//---------------------------------------------------------------------------------------------------------===//

void Scheduler::submit(Job *job, uint64_t width) {
  uint32_t jobs = placeJob(job);
  if (jobs == 0) {
    {
      std::lock_guard lock(waitingMutex);
      waiting.push_back(job);
      waitingCount.fetch_add(1, std::memory_order_seq_cst);
    }
    // A slot may have become free before the job stood in the queue.
    placeWaitingJobs();
    jobs = kSlots;
  }
  epoch.fetch_add(1, std::memory_order_seq_cst);
  uint64_t spinners = spinning.load(std::memory_order_seq_cst);
  // One place is for the thread that will wait for this; the jobs that were there already may keep everyone else busy.
  uint64_t most = workers.size() - 1;
  uint64_t others = std::min(std::min(width - 1, most) + jobs - 1, most);
  if (others > spinners)
    wake(others - spinners);
  else if (spinners == 0 && owner.load(std::memory_order_seq_cst) == Owner::Waiter)
    wakeOne(*workers[0]);
  // The reserve guarantees that the job is found. It may sleep on where a spinning worker sees this job and no other.
  if (reserveState.load(std::memory_order_seq_cst) == ReserveState::Deep && !(jobs == 1 && spinners > 0))
    reserveParker.unpark();
}

void Scheduler::expand(uint64_t width) {
  uint64_t others = std::min<uint64_t>(width, workers.size()) - 1;
  if (others == 0)
    return;
  epoch.fetch_add(1, std::memory_order_seq_cst);
  uint64_t spinners = spinning.load(std::memory_order_seq_cst);
  if (others <= spinners)
    return;
  wake(others - spinners);
  if (owner.load(std::memory_order_seq_cst) == Owner::None)
    reserveParker.unpark();
}

uint32_t Scheduler::placeJob(Job *job) {
  uint64_t free = freeSlots.load(std::memory_order_relaxed);
  while (free) {
    uint64_t bit = free & -free;
    if (!freeSlots.compare_exchange_weak(free, free & ~bit, std::memory_order_acquire, std::memory_order_relaxed))
      continue;
    slots[std::countr_zero(bit)].job.store(job, std::memory_order_release);
    return uint32_t(std::popcount(active.fetch_or(bit, std::memory_order_seq_cst))) + 1;
  }
  return 0;
}

void Scheduler::placeWaitingJobs() {
  std::lock_guard lock(waitingMutex);
  while (!waiting.empty() && placeJob(waiting.front())) {
    waiting.pop_front();
    waitingCount.fetch_sub(1, std::memory_order_relaxed);
    epoch.fetch_add(1, std::memory_order_seq_cst);
  }
}

bool Scheduler::runAvailable(Worker &worker) {
  uint64_t mask = active.load(std::memory_order_acquire);
  bool worked = false;
  while (mask) {
    // From the worker's own starting point upwards, then from the bottom.
    uint64_t above = mask >> worker.nextSlot << worker.nextSlot;
    auto index = uint32_t(std::countr_zero(above ? above : mask));
    uint64_t bit = uint64_t(1) << index;
    mask &= ~bit;
    JobSlot &slot = slots[index];
    // Who has counted itself may use the job that it then finds: it is not retired before the count is zero again.
    slot.users.fetch_add(1, std::memory_order_acq_rel);
    if (Job *job = slot.job.load(std::memory_order_acquire)) {
      Job::Progress progress = job->work(worker);
      if (progress == Job::Progress::Completed) {
        slot.job.store(nullptr, std::memory_order_release);
        active.fetch_and(~bit, std::memory_order_seq_cst);
        job->complete();
        slot.retired.store(job, std::memory_order_release);
      }
      worked = worked || progress != Job::Progress::Nothing;
    }
    leave(index);
    worker.nextSlot = (index + 1) % kSlots;
    if (worker.isInterrupted())
      return true;
  }
  return worked;
}

void Scheduler::leave(uint32_t index) {
  JobSlot &slot = slots[index];
  if (slot.users.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  Job *job = slot.retired.exchange(nullptr, std::memory_order_acq_rel);
  if (!job)
    return;
  freeSlots.fetch_or(uint64_t(1) << index, std::memory_order_seq_cst);
  if (waitingCount.load(std::memory_order_seq_cst))
    placeWaitingJobs();
  // Last, because it may shut the scheduler down.
  job->retire();
}

//===- Workers
//------------------------------------------------------------------------------------------------------===//

void Scheduler::workerLoop(Place &place) {
  for (;;) {
    uint32_t seen = epoch.load(std::memory_order_acquire);
    if (runAvailable(place.worker))
      continue;
    if (isStopping())
      return;
    spinning.fetch_add(1, std::memory_order_seq_cst);
    bool changed = spinWhile(spinNanoseconds, [&] { return epoch.load(std::memory_order_seq_cst) == seen; });
    spinning.fetch_sub(1, std::memory_order_seq_cst);
    if (changed)
      continue;
    sleep(place, seen, Deadline::infinite());
    payWakeDebt();
  }
}

void Scheduler::reserveLoop() {
  uint32_t seen = epoch.load(std::memory_order_acquire);
  uint32_t quietLooks = 0;
  while (!isStopping()) {
    bool deep = quietLooks >= kQuietLooks;
    if (deep) {
      // Either a submitter sees the state, or this sees its job.
      reserveState.store(ReserveState::Deep, std::memory_order_seq_cst);
      deep = active.load(std::memory_order_seq_cst) == 0 && epoch.load(std::memory_order_seq_cst) == seen;
    }
    reserveParker.park(deep ? Deadline::infinite() : Deadline::after(kDozeNanoseconds));
    reserveState.store(ReserveState::Dozing, std::memory_order_seq_cst);
    uint32_t now = epoch.load(std::memory_order_acquire);
    bool quiet = now == seen && active.load(std::memory_order_acquire) == 0;
    quietLooks = quiet ? quietLooks + 1 : 0;
    seen = now;
    // In a free place it works for as long as there is something to claim, and lets a thread that waits in between
    // jobs.
    while (active.load(std::memory_order_acquire) != 0) {
      Owner none = Owner::None;
      if (!owner.compare_exchange_strong(none, Owner::Reserve, std::memory_order_acq_rel))
        break;
      uint32_t before = epoch.load(std::memory_order_acquire);
      bool worked = runAvailable(workers[0]->worker);
      owner.store(Owner::None, std::memory_order_seq_cst);
      if (!worked && epoch.load(std::memory_order_seq_cst) == before)
        break;
    }
  }
}

bool Scheduler::help(WaitCondition &condition, Deadline deadline) {
  if (condition.isMet())
    return true;
  if (deadline.isImmediate())
    return false;
  Owner none = Owner::None;
  if (!owner.compare_exchange_strong(none, Owner::Waiter, std::memory_order_acq_rel))
    return waitBlocked(condition, deadline);

  Place &place = *workers[0];
  place.worker.condition = &condition;
  bool met = false, armed = false;
  while (!(met = condition.isMet())) {
    uint32_t seen = epoch.load(std::memory_order_acquire);
    if (runAvailable(place.worker))
      continue;
    uint64_t patience = std::min(spinNanoseconds, deadline.remaining());
    auto idle = [&] { return epoch.load(std::memory_order_seq_cst) == seen && !condition.isMet(); };
    if (spinWhile(patience, idle))
      continue;
    if (deadline.remaining() == 0)
      break;
    if (!armed && !condition.arm(place.parker))
      continue;
    armed = true;
    sleep(place, seen, deadline);
  }
  if (armed)
    condition.disarm();
  place.worker.condition = nullptr;
  owner.store(Owner::None, std::memory_order_seq_cst);
  // What this thread leaves behind must not wait for the next look of the reserve.
  if (active.load(std::memory_order_seq_cst) != 0 && spinning.load(std::memory_order_seq_cst) == 0)
    reserveParker.unpark();
  return met;
}

bool Scheduler::wait(WaitCondition &condition, Deadline deadline) {
  if (condition.isMet())
    return true;
  // In the place of worker 0, which is free unless another thread helps.
  if (active.load(std::memory_order_seq_cst) != 0)
    reserveParker.unpark();
  return waitBlocked(condition, deadline);
}

bool Scheduler::waitBlocked(WaitCondition &condition, Deadline deadline) {
  Parker parker;
  if (!condition.arm(parker))
    return true;
  while (!condition.isMet() && parker.park(deadline)) {
  }
  condition.disarm();
  return condition.isMet();
}

//===- Sleeping and waking
//------------------------------------------------------------------------------------------===//

void Scheduler::sleep(Place &place, uint32_t seen, Deadline deadline) {
  place.asleep.store(true, std::memory_order_seq_cst);
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  // Either a submitter sees the sleeper, or this sees the new epoch.
  if (epoch.load(std::memory_order_seq_cst) == seen)
    place.parker.park(deadline);
  if (place.asleep.exchange(false, std::memory_order_acq_rel))
    sleepers.fetch_sub(1, std::memory_order_relaxed);
}

bool Scheduler::wakeOne(Place &place) {
  if (!place.asleep.load(std::memory_order_seq_cst) || !place.asleep.exchange(false, std::memory_order_acq_rel))
    return false;
  sleepers.fetch_sub(1, std::memory_order_relaxed);
  place.parker.unpark();
  return true;
}

void Scheduler::wake(uint64_t count) {
  if (sleepers.load(std::memory_order_seq_cst) == 0)
    return;
  uint64_t woken = 0, direct = std::min(count, kWakeFanOut);
  // Worker 0 last: the thread that stands in for it has a purpose of its own.
  for (size_t i = 1; i <= workers.size() && woken < direct; ++i)
    woken += wakeOne(*workers[i % workers.size()]);
  if (woken == kWakeFanOut && count > woken)
    wakeDebt.fetch_add(int64_t(count - woken), std::memory_order_relaxed);
}

void Scheduler::payWakeDebt() {
  if (wakeDebt.load(std::memory_order_relaxed) <= 0)
    return;
  // Whatever is left over from several submissions at once costs a useless look for sleepers, no more.
  int64_t debt = wakeDebt.exchange(0, std::memory_order_relaxed);
  if (debt > 0)
    wake(uint64_t(debt));
}

} // namespace kiln::task
