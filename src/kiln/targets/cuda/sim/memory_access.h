// Where an address of an instruction lies, and the way there.
#ifndef KILN_TARGETS_CUDA_SIM_MEMORY_ACCESS_H
#define KILN_TARGETS_CUDA_SIM_MEMORY_ACCESS_H

#include "kiln/targets/cuda/sim/operations.h"

namespace kiln::cudasim {

enum class Where : uint8_t { Generic, Global, Shared, SharedCluster, Local, LaunchParam, FrameParam };

template <Where where>
uint8_t *locate(Thread &thread, const Inst *inst, uint64_t address, uint32_t bytes, Access access) {
  if constexpr (where == Where::Global)
    return thread.global(inst, address, bytes, access);
  else if constexpr (where == Where::Shared)
    return thread.shared(inst, address, bytes, access);
  else if constexpr (where == Where::SharedCluster)
    return thread.sharedOfCluster(inst, address, bytes, access);
  else if constexpr (where == Where::Local)
    return thread.localMemory(inst, address, bytes, access);
  else if constexpr (where == Where::LaunchParam)
    return thread.launchParams(inst, address, bytes, access);
  else if constexpr (where == Where::FrameParam)
    return thread.frameParams() + address; // checked when it was decoded
  else
    return thread.generic(inst, address, bytes, access);
}

inline uint8_t *locate(Where where, Thread &thread, const Inst *inst, uint64_t address, uint32_t bytes, Access access) {
  switch (where) {
  case Where::Global: return thread.global(inst, address, bytes, access);
  case Where::Shared: return thread.shared(inst, address, bytes, access);
  case Where::SharedCluster: return thread.sharedOfCluster(inst, address, bytes, access);
  case Where::Local: return thread.localMemory(inst, address, bytes, access);
  case Where::LaunchParam: return thread.launchParams(inst, address, bytes, access);
  case Where::FrameParam: return thread.frameParams() + address;
  case Where::Generic: break;
  }
  return thread.generic(inst, address, bytes, access);
}

// Of the state space among the modifiers; generic where there is none.
Where takeSpace(Decoder &in);
// Hints to caches, which change no value.
void skipCacheHints(Decoder &in);
// Sets `a` and `imm` to an address's base and offset. What is in a function's parameters is checked here, where all is
// known, and moves `where` to where they are.
void decodeAddress(Decoder &in, const Operand &operand, Where &where, uint64_t bytes);

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_MEMORY_ACCESS_H
