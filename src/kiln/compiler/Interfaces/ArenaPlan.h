// Places values in one arena: two that are alive at the same time do not overlap. Pure computation, no IR.
#ifndef KILN_COMPILER_INTERFACES_ARENAPLAN_H
#define KILN_COMPILER_INTERFACES_ARENAPLAN_H

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

struct ArenaValue {
  int64_t size;   // bytes
  unsigned first; // first step at which it is alive
  unsigned last;  // last one, included
};

struct ArenaPlan {
  llvm::SmallVector<int64_t> offsets; // one for each value, multiples of kArenaAlignment
  int64_t size = 0;                   // of the arena
};

inline constexpr int64_t kArenaAlignment = 64;

// Each value at the lowest offset where nothing stands that is alive with it: largest values first or, where that needs
// more than the lower bound, the best of some other orders.
ArenaPlan planArena(llvm::ArrayRef<ArenaValue> values);

// The least that any plan can need: the largest sum of sizes, each rounded up to the alignment, that are alive at a
// step.
int64_t arenaLowerBound(llvm::ArrayRef<ArenaValue> values);

// For values whose sizes are known at run time only: a slot for each value, so that values of one slot are never alive
// at the same time, with as few slots as possible. Returns the slot of each value.
llvm::SmallVector<unsigned> assignSlots(llvm::ArrayRef<ArenaValue> values);

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_ARENAPLAN_H
