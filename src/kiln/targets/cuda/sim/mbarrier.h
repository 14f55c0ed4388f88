// Barriers in shared memory that count arrivals and bytes, mbarrier, and copies that complete on them.
#ifndef KILN_TARGETS_CUDA_SIM_MBARRIER_H
#define KILN_TARGETS_CUDA_SIM_MBARRIER_H

#include "kiln/targets/cuda/sim/shared_shadow.h"

#include <cstdint>

namespace kiln::cudasim {

struct Mbarrier {
  uint32_t expected = 0; // arrivals of each phase
  uint32_t pending = 0;  // that the current phase lacks
  int64_t bytes = 0;     // that it lacks
  uint64_t phase = 0;    // phases that are complete
  // Of who has arrived in the current phase, and of who had arrived in the ones before: of the barrier's block, for any
  // wait, and of others of its cluster, for waits of the cluster's scope.
  Clocks clocks, completed, remoteClocks, remoteCompleted;
  // Of who has arrived without ordering memory: relaxed, or from another block in the scope of its own.
  Clocks unorderedClocks, unorderedCompleted;
  // Who has initialized it, when and where; when it was fenced for the async proxy, 0 while it was not; and by which
  // phase of barrier.cluster all know of that, 0 while they do not.
  uint32_t initializer = 0, initClock = 0, initLine = 0, fenceClock = 0;
  uint64_t knownPhase = 0;

  // Ends the phase where nothing is lacking; true then.
  bool tryComplete() {
    if (pending || bytes)
      return false;
    ++phase;
    pending = expected;
    completed = std::move(clocks);
    clocks.clear();
    remoteCompleted = std::move(remoteClocks);
    remoteClocks.clear();
    unorderedCompleted = std::move(unorderedClocks);
    unorderedClocks.clear();
    return true;
  }
};

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_MBARRIER_H
