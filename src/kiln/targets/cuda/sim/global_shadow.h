// Which threads of a cluster have written which bytes of global memory: two of them race where one uses what the other
// has written and nothing orders the two. What other clusters do is not looked at, nor what is written after it was
// read.
#ifndef KILN_TARGETS_CUDA_SIM_GLOBAL_SHADOW_H
#define KILN_TARGETS_CUDA_SIM_GLOBAL_SHADOW_H

#include "kiln/targets/cuda/sim/shared_shadow.h"

#include <array>
#include <unordered_map>

namespace kiln::cudasim {

class GlobalShadow {
public:
  void reset() { granules.clear(); }

  struct Race {
    bool isThere = false;
    uint32_t thread = 0, line = 0; // who wrote, and where in the PTX
  };
  // Notes an access by a thread; `order` knows who comes after whom.
  Race note(const SharedShadow &order, uint32_t thread, uint32_t line, uint64_t address, uint32_t bytes,
            Access access) {
    if (granules.empty() && !writes(access)) [[likely]]
      return {};
    return look(order, thread, line, address, bytes, access);
  }

private:
  static constexpr uint64_t kBytes = 16;
  // Beyond so many, what was written before is forgotten.
  static constexpr size_t kMostGranules = size_t(1) << 20;
  struct Granule {
    std::array<uint32_t, kBytes> clocks{}, lines{}; // 0: not written by a plain store
    std::array<uint16_t, kBytes> writers{};
  };
  Race look(const SharedShadow &order, uint32_t thread, uint32_t line, uint64_t address, uint32_t bytes, Access access);

  std::unordered_map<uint64_t, Granule> granules;
};

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_GLOBAL_SHADOW_H
