#include "kiln/measure/machine/team.h"

#include <algorithm>
#include <sched.h>

#include "kiln/base/clock.h"
#include "kiln/runtime/task/topology.h"

namespace kiln::measure {

Team::Team(std::span<const unsigned> cpus) : starts(cpus.size()), ends(cpus.size()) {
  try {
    for (unsigned i = 0; i < cpus.size(); ++i)
      threads.emplace_back([this, i, cpu = cpus[i]] { serve(i, cpu); });
  } catch (...) {
    end();
    throw;
  }
}

Team::~Team() {
  end();
}

void Team::end() {
  {
    std::lock_guard lock(mutex);
    quit = true;
  }
  wake.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

uint64_t Team::run(unsigned count, const std::function<void(unsigned)> &work) {
  std::unique_lock lock(mutex);
  job = &work;
  participants = running = count;
  ready = 0;
  ++generation;
  wake.notify_all();
  done.wait(lock, [&] { return running == 0; });
  return *std::max_element(ends.begin(), ends.begin() + count) -
         *std::min_element(starts.begin(), starts.begin() + count);
}

void Team::serve(unsigned index, unsigned cpu) {
  [[maybe_unused]] Status bound = task::bindThread(0, {&cpu, 1});
  uint64_t seen = 0;
  std::unique_lock lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return quit || generation != seen; });
    if (quit)
      return;
    seen = generation;
    if (index >= participants)
      continue;
    unsigned count = participants;
    const std::function<void(unsigned)> &work = *job;
    lock.unlock();
    // All start together. Others may have the CPUs of those that are late.
    ++ready;
    for (unsigned spins = 0; ready.load(std::memory_order_acquire) < count; ++spins)
      if (spins > 1000)
        ::sched_yield();
    starts[index] = monotonicNanoseconds();
    work(index);
    ends[index] = monotonicNanoseconds();
    lock.lock();
    if (--running == 0)
      done.notify_one();
  }
}

} // namespace kiln::measure
