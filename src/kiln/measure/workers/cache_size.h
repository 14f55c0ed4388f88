// The size of the last-level cache, which decides how much data a cold measurement rotates through.
#ifndef KILN_MEASURE_WORKERS_CACHE_SIZE_H
#define KILN_MEASURE_WORKERS_CACHE_SIZE_H

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/task/topology.h"

namespace kiln::measure {

// Processors that this process may run on, in order.
std::vector<uint32_t> usableCpus();

// Bytes of all caches of the highest level that any of the processors has, each cache once. NotFound where the system
// does not tell, as in some virtual machines.
Result<uint64_t> lastLevelCacheBytes(std::span<const uint32_t> cpus,
                                     std::span<const task::Cache> caches = task::Topology::host().caches);

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_CACHE_SIZE_H
