// Starts a program as a worker: in a process group of its own, with limits, and bound to die with its parent.
#ifndef KILN_MEASURE_WORKERS_SPAWN_H
#define KILN_MEASURE_WORKERS_SPAWN_H

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workers/run_time_counter.h"
#include "kiln/runtime/io/file.h"

namespace kiln::measure {

struct WorkerOptions {
  // The program and its arguments. A name without a slash is looked for on the PATH.
  std::vector<std::string> command;
  // What the environment tells thread pools, those of OpenMP, OpenBLAS, oneDNN and MKL: so many threads, which sleep
  // soon after their work is done.
  uint32_t threads = 1;
  // Bytes of private memory, 0 for no limit. A worker that holds more is ended.
  uint64_t memoryLimit = 0;
  // Processors that it may run on; empty: as this process.
  std::vector<uint32_t> cpus;
  // NAME=value, more than what this process has and stronger than all else. Of this process's own variables, those that
  // steer thread pools and libraries of mathematics (OMP_..., OPENBLAS_..., ONEDNN_... and the like) are not inherited.
  std::vector<std::string> environment;
};

// Our ends, none of which blocks or is inherited by other programs.
struct SpawnedProcess {
  pid_t pid = -1;
  io::FileDescriptor input;  // write requests here; a socket
  io::FileDescriptor output; // its standard output
  io::FileDescriptor error;  // its standard error
  RunTimeCounter runTime;    // of all that it starts, too
  io::FileDescriptor exited; // a pidfd, readable once it has ended; absent on kernels before 5.3
};

// The process is killed when the calling *thread* ends: that thread should be one that outlives the worker. It is to be
// reaped with reapWorker of process_tree.h.
Result<SpawnedProcess> spawnWorker(const WorkerOptions &options);

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_SPAWN_H
