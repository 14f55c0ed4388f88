// The size of the last-level cache, which decides how much data a cold measurement rotates through.
#ifndef KILN_MEASURE_WORKERS_CACHE_SIZE_H
#define KILN_MEASURE_WORKERS_CACHE_SIZE_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"

namespace kiln::measure {

// Processors that this process may run on.
std::vector<uint32_t> usableCpus();

// Bytes of all caches of the highest level that any of the processors has, each cache once. NotFound where the system
// does not tell, as in some virtual machines. `root` is for tests.
Result<uint64_t> lastLevelCacheBytes(std::span<const uint32_t> cpus,
                                     const std::string &root = "/sys/devices/system/cpu");

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_CACHE_SIZE_H
