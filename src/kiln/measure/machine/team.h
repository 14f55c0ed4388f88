// Threads, each on a CPU of its own, that do something at the same time and are timed as one.
#ifndef KILN_MEASURE_MACHINE_TEAM_H
#define KILN_MEASURE_MACHINE_TEAM_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace kiln::measure {

class Team {
public:
  // One thread for each CPU. Where a thread cannot be bound to its CPU it runs anywhere.
  explicit Team(std::span<const unsigned> cpus);
  ~Team();
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;

  unsigned size() const { return static_cast<unsigned>(threads.size()); }
  // work(i) on the first `count` threads at once, 1 <= count <= size(). Nanoseconds from the first one's start to the
  // last one's end. Of one thread at a time.
  uint64_t run(unsigned count, const std::function<void(unsigned)> &work);

private:
  void end();
  void serve(unsigned index, unsigned cpu);

  std::vector<std::thread> threads;
  std::vector<uint64_t> starts, ends;
  std::mutex mutex;
  std::condition_variable wake, done;
  const std::function<void(unsigned)> *job = nullptr;
  uint64_t generation = 0; // of the job
  unsigned participants = 0, running = 0;
  bool quit = false;
  std::atomic<unsigned> ready = 0;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_TEAM_H
