// What the system knows of a worker's time, whatever the worker says.
#ifndef KILN_MEASURE_WORKERS_WORKER_TIMES_H
#define KILN_MEASURE_WORKERS_WORKER_TIMES_H

#include <cstdint>
#include <map>
#include <span>
#include <sys/types.h>
#include <vector>

#include "kiln/measure/workers/run_time_counter.h"

namespace kiln::measure {

// Nanoseconds.
struct ThreadTimes {
  uint64_t running = 0;
  uint64_t waiting = 0; // able to run, while others had the processor
};

// What a process ran, with all that it started where the counter counts that: nanoseconds.
uint64_t runningNanoseconds(pid_t pid, const RunTimeCounter &counter);

// A reading of a process. Where the system does not tell, nothing is in it.
struct WorkerTimes {
  std::map<pid_t, ThreadTimes> threads;
  uint64_t running = 0;     // of all threads and of all processes that it started, those that have ended too
  bool hasChildren = false; // what they ran is not known
  bool escaped = false;     // the counter counts less than the process ran: it has become a program that is not counted

  // Without a counter that counts, processes that it started are left out.
  static WorkerTimes of(pid_t pid, const RunTimeCounter &counter = {});
};

// The longest that one of its threads waited for a processor between two readings.
uint64_t waitedBetween(const WorkerTimes &before, const WorkerTimes &after);

// For how long others kept a process from running between two readings, at least: the longest that one of its threads
// waited, less what its other threads and processes ran, since waiting for each other is no disturbance. 0 where that
// is not known.
uint64_t disturbedBetween(const WorkerTimes &before, const WorkerTimes &after);

// What the calling thread has waited for processors so far, nanoseconds; 0 where the system does not tell.
uint64_t ownWaiting();

// What all processes together ran on these processors, and what the host of a virtual machine took from them,
// nanoseconds. The system counts in steps of some milliseconds; 0 where it does not tell.
uint64_t busyNanoseconds(std::span<const uint32_t> cpus);

// What the host of a virtual machine took from each of these processors, nanoseconds, in steps of some milliseconds; 0
// where there is none, or it does not tell.
std::vector<uint64_t> stolenNanoseconds(std::span<const uint32_t> cpus);
// The most that one of them lost between two readings, of which the first may be empty.
uint64_t mostStolen(std::span<const uint64_t> before, std::span<const uint64_t> after);

// How much of the time in which a worker neither ran nor waited for a processor its machine did not run. The system
// counts that time late: what was taken once excuses later requests, too, but only once, and not for long.
class StolenTime {
public:
  // Of a request in which the worker was idle for so long, and the host took so much.
  uint64_t add(uint64_t idle, uint64_t stolen);

private:
  uint64_t left = 0;
};

// How much of what a worker's threads waited was for others. Threads that wait while others of the worker run may wait
// for these or for another process: that is known of many requests together, from what others ran meanwhile.
class Disturbances {
public:
  // Of a request in which a thread waited for so long and other processes ran for so long, as far as is known.
  uint64_t add(uint64_t waited, int64_t others);

private:
  double waited = 0, others = 0;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_WORKER_TIMES_H
