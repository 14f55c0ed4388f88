// The cores that this process may run on.
#ifndef KILN_RUNTIME_TASK_TOPOLOGY_H
#define KILN_RUNTIME_TASK_TOPOLOGY_H

#include "kiln/base/status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kiln::task {

// A physical core, with the operating system's numbers of its hardware threads, in order.
struct Core {
  std::vector<uint32_t> cpus;
  uint32_t numaNode = 0;
};

struct Topology {
  // In logical order: neighbours share caches. Never empty.
  std::vector<Core> cores;
  std::string cpuModel; // "AMD EPYC 9755 128-Core Processor"; may be empty

  // Of this machine, without what affinity and cgroups take away from this process.
  static Result<Topology> detect();
};

} // namespace kiln::task

#endif // KILN_RUNTIME_TASK_TOPOLOGY_H
