// What machine this is: stored with every result.
#ifndef KILN_MEASURE_MACHINE_PROVENANCE_H
#define KILN_MEASURE_MACHINE_PROVENANCE_H

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/measure/machine/system_files.h"
#include "kiln/runtime/task/topology.h"

namespace kiln::measure {

struct Cache {
  unsigned level = 0;
  std::string type; // "Data", "Instruction", "Unified"
  uint64_t bytes = 0;
  unsigned sharedBy = 1; // logical CPUs

  // "L1d", "L1i", "L2"
  std::string name() const;
  bool operator==(const Cache &) const = default;
};

// Of one processor, from the nearest to the last.
std::vector<Cache> cachesOf(const task::Topology &topology, unsigned processor);

struct Provenance {
  std::string architecture; // "x86_64"
  Fact cpu;                 // "AMD EPYC 9755 128-Core Processor"
  Fact identity;            // "family 26 model 2 stepping 1"
  unsigned logicalCpus = 0;
  unsigned cores = 0; // 0: not known
  unsigned sockets = 0;
  std::vector<unsigned> allowedCpus; // that this process may run on; a thread of each core before seconds of any
  std::vector<Cache> caches;         // of the first allowed CPU
  uint64_t memoryBytes = 0;
  std::string kernel; // "Linux 6.1.0-18-amd64"
  std::string libc;   // "glibc 2.36"
  Fact microcode, governor, hypervisor;
  // Instruction sets that kernels choose by: "avx2", "avx512f", ...
  std::vector<std::string> features;

  // Of this machine and process; what cannot be had says why.
  static Provenance detect(const SystemFiles &files = SystemFiles(),
                           const task::Topology &topology = task::Topology::host());

  // The data cache of a level, or null.
  const Cache *dataCache(unsigned level) const;
  // The largest one; null where no cache is known.
  const Cache *lastLevel() const;

  // An object; what is not available is {"unavailable": "why"}.
  std::string json() const;
  // Of what `json` gives.
  static Result<Provenance> parse(std::string_view json);

  bool operator==(const Provenance &) const = default;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_PROVENANCE_H
