// What the system knows of a worker's time, whatever the worker says.
#ifndef KILN_MEASURE_WORKERS_PROCESS_TIMES_H
#define KILN_MEASURE_WORKERS_PROCESS_TIMES_H

#include <cstdint>
#include <map>
#include <sys/types.h>

namespace kiln::measure {

// Nanoseconds.
struct ThreadTimes {
  uint64_t running = 0;
  uint64_t waiting = 0; // able to run, while others had the processor
};

// A reading of a process. Where the system does not tell, nothing is in it.
struct ProcessTimes {
  std::map<pid_t, ThreadTimes> threads;
  uint64_t running = 0;     // of all threads, those that have ended too
  bool hasChildren = false; // processes that it started

  static ProcessTimes of(pid_t pid);
};

// For how long others kept a process from running between two readings: the longest that one of its threads waited,
// less what its other threads ran, since waiting for each other is no disturbance. 0 where it has children: they could
// be what it waited for.
uint64_t disturbedBetween(const ProcessTimes &before, const ProcessTimes &after);

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_PROCESS_TIMES_H
