// The processors of this machine, as hwloc sees them.
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
};

struct Cache {
  uint32_t level = 0;
  std::string type; // "Data", "Instruction", "Unified"
  uint64_t bytes = 0;
  std::vector<uint32_t> cpus; // that share it
};

struct Topology {
  // What this process may use, without what affinity and cgroups take away from it. In logical order: neighbours share
  // caches. Never empty.
  std::vector<Core> cores;
  // The same hardware threads, the first ones of all cores before the second ones of any.
  std::vector<uint32_t> cpus;

  // What the machine has, whoever may use it.
  std::vector<uint32_t> machineCpus; // in order
  uint32_t machineCores = 0;         // 0: not known
  uint32_t packages = 0;
  std::vector<Cache> caches; // by level and type
  std::string cpuModel;      // "AMD EPYC 9755 128-Core Processor"; may be empty

  // The caches of one hardware thread, from the nearest to the last.
  std::vector<const Cache *> cachesOf(uint32_t cpu) const;

  // Of this machine and process, as they were in the first call. One core where even hwloc knows nothing.
  static const Topology &host();
};

// Lets a thread run on these processors only. A thread of 0 is the calling one.
Status bindThread(int thread, std::span<const uint32_t> cpus);

} // namespace kiln::task

#endif // KILN_RUNTIME_TASK_TOPOLOGY_H
