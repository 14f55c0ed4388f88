// What a worker starts belongs to it: its process group, and all that left the group (setsid) or lost its parent (a
// double fork). Otherwise such a process would outlive its worker, or compute while other candidates hold the token.
//
// While a worker lives, this process is a child subreaper: a descendant that loses its parent becomes its child. Each
// worker carries a mark and hands it down to all that it starts: a lower hard limit of a resource that Linux does not
// limit any more, which nobody without privileges can raise again. A child of this process that carries the mark and is
// no worker has lost its parent within some worker, and is killed. Children that this process or its caller started
// for another purpose have no mark, and are left alone.
//
// Safe for use from several threads.
#ifndef KILN_MEASURE_WORKERS_PROCESS_TREE_H
#define KILN_MEASURE_WORKERS_PROCESS_TREE_H

#include <cstdint>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

namespace kiln::measure {

// As fork does; the child has the mark, and the parent remembers it as a worker. The child, which may make
// async-signal-safe calls only, is to begin a process group of its own.
pid_t forkWorker();

// Waits for the end of a worker, then kills and reaps whatever is left of its group, and all that lost its parent: its
// own, and what other workers have left behind so far. Gives the worker's wait status.
int reapWorker(pid_t worker, rusage &usage);

struct StoppedChild {
  pid_t process = 0;
  uint64_t timesScheduled = 0; // of all its threads, since they began
};

struct StoppedWorker {
  std::vector<pid_t> elsewhere;       // descendants that have left the group
  bool seen = false;                  // that it has stopped, which it had a tenth of a second for
  uint64_t at = 0;                    // when that was, monotonicNanoseconds()
  std::vector<StoppedChild> children; // descendants that were seen to stop
};

// Stops the group of a worker and all its descendants, and ends what lost its parent.
StoppedWorker stopWorker(pid_t worker);
// Whether something has continued it, or a child, since they were seen to stop, though they may have stopped again.
bool wasContinued(pid_t worker, const StoppedWorker &stopped);
void continueWorker(pid_t worker, const StoppedWorker &stopped);

// For tests: what is behind it.
// Children that there are now, those that have ended and are not reaped included.
std::vector<pid_t> childrenOf(pid_t parent);
// The same where the kernel keeps no lists of children: asks every process for its parent.
std::vector<pid_t> childrenByScanning(pid_t parent);

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_PROCESS_TREE_H
