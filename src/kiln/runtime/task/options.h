// What a scheduler is created with.
#ifndef KILN_RUNTIME_TASK_OPTIONS_H
#define KILN_RUNTIME_TASK_OPTIONS_H

#include <cstdint>
#include <string>

namespace kiln::task {

struct SchedulerOptions {
  // How many workers run work at the same time; 0 means one per physical core that this process may use.
  uint32_t workerCount = 0;
  // Binds worker i to the i-th core of the topology. With more workers than cores nobody is bound. The thread that
  // waits and stands in for worker 0 is never bound: its affinity belongs to the program.
  bool pinWorkers = true;
  // How long a worker without work spins before it sleeps. Spinning keeps a sequence of short calls free of wake-ups.
  uint64_t spinNanoseconds = 50'000;
  // Worker threads are named "<name>-<index>", cut to the 15 bytes that the kernel keeps.
  std::string name = "kiln-worker";
};

} // namespace kiln::task

#endif // KILN_RUNTIME_TASK_OPTIONS_H
