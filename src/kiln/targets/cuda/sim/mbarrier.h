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
  Clocks clocks;         // of who has arrived in the current phase
  Clocks completed;      // of who had arrived in the ones before

  // Ends the phase where nothing is lacking; true then.
  bool tryComplete() {
    if (pending || bytes)
      return false;
    ++phase;
    pending = expected;
    completed = std::move(clocks);
    clocks.clear();
    return true;
  }
};

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_MBARRIER_H
