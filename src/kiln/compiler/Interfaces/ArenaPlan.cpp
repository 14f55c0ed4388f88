#include "kiln/compiler/Interfaces/ArenaPlan.h"

#include <algorithm>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {

static int64_t roundUp(int64_t size) {
  return llvm::alignTo(std::max<int64_t>(size, 1), kArenaAlignment);
}

static bool meet(const ArenaValue &a, const ArenaValue &b) {
  return a.first <= b.last && b.first <= a.last;
}

ArenaPlan planArena(llvm::ArrayRef<ArenaValue> values) {
  ArenaPlan plan;
  plan.offsets.assign(values.size(), 0);
  llvm::SmallVector<unsigned> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order,
             [&](unsigned a, unsigned b) { return std::pair(-values[a].size, a) < std::pair(-values[b].size, b); });
  llvm::SmallVector<unsigned> placed;
  for (unsigned index : order) {
    // What is in the way, by offset; the value goes into the first gap that is large enough.
    llvm::SmallVector<unsigned> others;
    for (unsigned other : placed)
      if (meet(values[other], values[index]))
        others.push_back(other);
    llvm::sort(others, [&](unsigned a, unsigned b) { return plan.offsets[a] < plan.offsets[b]; });
    int64_t offset = 0, size = roundUp(values[index].size);
    for (unsigned other : others) {
      if (plan.offsets[other] >= offset + size)
        break;
      offset = std::max(offset, plan.offsets[other] + roundUp(values[other].size));
    }
    plan.offsets[index] = offset;
    plan.size = std::max(plan.size, offset + size);
    placed.push_back(index);
  }
  return plan;
}

int64_t arenaLowerBound(llvm::ArrayRef<ArenaValue> values) {
  int64_t bound = 0;
  for (const ArenaValue &at : values) {
    // The sum can only grow at a step where some value begins.
    int64_t alive = 0;
    for (const ArenaValue &value : values)
      if (value.first <= at.first && at.first <= value.last)
        alive += roundUp(value.size);
    bound = std::max(bound, alive);
  }
  return bound;
}

llvm::SmallVector<unsigned> assignSlots(llvm::ArrayRef<ArenaValue> values) {
  llvm::SmallVector<unsigned> slots(values.size()), order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order,
             [&](unsigned a, unsigned b) { return std::pair(values[a].first, a) < std::pair(values[b].first, b); });
  llvm::SmallVector<unsigned> freeAfter; // last step of the value that a slot holds
  for (unsigned index : order) {
    auto *slot = llvm::find_if(freeAfter, [&](unsigned last) { return last < values[index].first; });
    slots[index] = slot - freeAfter.begin();
    if (slot == freeAfter.end())
      freeAfter.push_back(values[index].last);
    else
      *slot = values[index].last;
  }
  return slots;
}

} // namespace kiln
