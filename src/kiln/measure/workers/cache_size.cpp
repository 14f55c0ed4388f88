#include "kiln/measure/workers/cache_size.h"

#include <algorithm>

namespace kiln::measure {

std::vector<uint32_t> usableCpus() {
  std::vector<uint32_t> cpus = task::Topology::host().cpus;
  std::ranges::sort(cpus);
  return cpus;
}

Result<uint64_t> lastLevelCacheBytes(std::span<const uint32_t> cpus, std::span<const task::Cache> caches) {
  uint32_t level = 0;
  uint64_t total = 0;
  for (const task::Cache &cache : caches) // by level
    if (cache.type != "Instruction" && std::ranges::find_first_of(cache.cpus, cpus) != cache.cpus.end()) {
      total = cache.level == level ? total + cache.bytes : cache.bytes;
      level = cache.level;
    }
  if (total == 0)
    return notFound("the system does not tell the size of caches");
  return total;
}

} // namespace kiln::measure
