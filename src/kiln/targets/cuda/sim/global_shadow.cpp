#include "kiln/targets/cuda/sim/global_shadow.h"

#include <algorithm>

namespace kiln::cudasim {

GlobalShadow::Race GlobalShadow::look(const SharedShadow &order, uint32_t thread, uint32_t line, uint64_t address,
                                      uint32_t bytes, Access access) {
  Race race;
  if (granules.size() > kMostGranules)
    granules.clear();
  for (uint64_t at = address, end = address + bytes; at < end;) {
    const uint64_t number = at / kBytes, last = std::min(end, (number + 1) * kBytes);
    auto found = granules.find(number);
    if (found == granules.end() && !writes(access)) {
      at = last;
      continue;
    }
    if (found == granules.end())
      found = granules.try_emplace(number).first;
    Granule &granule = found->second;
    for (; at < last; ++at) {
      const uint64_t i = at % kBytes;
      if (granule.clocks[i] && !order.knows(thread, granule.writers[i], granule.clocks[i]))
        race = {true, granule.writers[i], granule.lines[i]};
      if (!writes(access))
        continue;
      granule.clocks[i] = isStrong(access) ? 0 : order.clockOf(thread);
      granule.writers[i] = uint16_t(thread);
      granule.lines[i] = line;
    }
  }
  return race;
}

} // namespace kiln::cudasim
