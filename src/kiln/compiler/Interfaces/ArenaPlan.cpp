#include "kiln/compiler/Interfaces/ArenaPlan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {

static int64_t roundUp(int64_t size) {
  return llvm::alignTo(std::max<int64_t>(size, 1), kArenaAlignment);
}

static bool meet(const ArenaValue &a, const ArenaValue &b) {
  return a.first <= b.last && b.first <= a.last;
}

// What is alive at each step at which some value begins: only there can the sum grow.
static std::map<unsigned, int64_t> aliveAtSteps(llvm::ArrayRef<ArenaValue> values) {
  std::map<unsigned, int64_t> changes, alive;
  for (const ArenaValue &value : values) {
    changes[value.first] += roundUp(value.size);
    changes[value.last + 1] -= roundUp(value.size);
    alive[value.first] = 0;
  }
  int64_t sum = 0;
  auto change = changes.begin();
  for (auto &[step, bytes] : alive) {
    for (; change != changes.end() && change->first <= step; ++change)
      sum += change->second;
    bytes = sum;
  }
  return alive;
}

// Each value at the lowest offset where nothing stands that is alive with it and comes before it in the order.
static ArenaPlan placeInOrder(llvm::ArrayRef<ArenaValue> values, llvm::ArrayRef<unsigned> order) {
  ArenaPlan plan;
  plan.offsets.assign(values.size(), 0);
  for (auto [place, index] : llvm::enumerate(order)) {
    // What is in the way, by offset; the value goes into the first gap that is large enough.
    llvm::SmallVector<unsigned> others;
    for (unsigned other : order.take_front(place))
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
  }
  return plan;
}

ArenaPlan planArena(llvm::ArrayRef<ArenaValue> values) {
  llvm::SmallVector<unsigned> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order,
             [&](unsigned a, unsigned b) { return std::pair(-values[a].size, a) < std::pair(-values[b].size, b); });
  ArenaPlan best = placeInOrder(values, order);
  const int64_t bound = arenaLowerBound(values);
  if (best.size <= bound)
    return best;

  // First those that are alive where most is, as they begin there. What then reaches highest is taken earlier, until
  // nothing is lost.
  llvm::SmallVector<int64_t> most(values.size());
  const std::map<unsigned, int64_t> alive = aliveAtSteps(values);
  for (auto [index, value] : llvm::enumerate(values))
    for (auto it = alive.find(value.first); it != alive.end() && it->first <= value.last; ++it)
      most[index] = std::max(most[index], it->second);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::tuple(-most[a], values[a].first, -values[a].size, a) <
           std::tuple(-most[b], values[b].first, -values[b].size, b);
  });
  constexpr size_t mostTurns = 64, mostSteps = size_t(1) << 26;
  const size_t turns = std::min(mostTurns, mostSteps / (values.size() * values.size()));
  for (size_t turn = 0; turn < turns && best.size > bound; ++turn) {
    ArenaPlan plan = placeInOrder(values, order);
    auto *highest = llvm::find_if(
        order, [&](unsigned index) { return plan.offsets[index] + roundUp(values[index].size) == plan.size; });
    auto *earlier = order.begin() + (highest - order.begin()) / 2;
    std::rotate(earlier, highest, highest + 1);
    if (plan.size < best.size)
      best = std::move(plan);
  }
  return best;
}

int64_t arenaLowerBound(llvm::ArrayRef<ArenaValue> values) {
  int64_t bound = 0;
  for (auto [step, bytes] : aliveAtSteps(values))
    bound = std::max(bound, bytes);
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
