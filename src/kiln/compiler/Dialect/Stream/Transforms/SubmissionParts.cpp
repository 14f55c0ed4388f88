#include "kiln/compiler/Dialect/Stream/Transforms/SubmissionParts.h"

#include "kiln/compiler/Dialect/HAL/IR/Places.h"
#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"

using namespace mlir;

namespace kiln::Stream {

// The value whose memory the result of a dispatch takes over; null where it has its own.
static Value updatedBy(OpResult result) {
  auto dispatch = dyn_cast<AsyncDispatchOp>(result.getOwner());
  int64_t tied = dispatch ? dispatch.getTied()[result.getResultNumber()] : -1;
  return tied < 0 ? Value() : dispatch.getResources()[tied];
}

// A part is one place at one level: work of another place that needs it is of a higher level.
std::vector<SubmissionPart> partsOf(ArrayRef<Operation *> ops) {
  struct Place {
    HAL::AffinityAttr place;
    unsigned level;
    SubmissionPart part;
  };
  std::vector<Place> found;
  DenseMap<Operation *, unsigned> foundOf;
  DenseMap<Value, llvm::SetVector<unsigned>> readers;
  for (Operation *op : ops) {
    HAL::AffinityAttr place = HAL::placeOf(op);
    llvm::SetVector<unsigned> needs;
    for (Value operand : op->getOperands())
      if (auto it = foundOf.find(operand.getDefiningOp()); operand.getDefiningOp() && it != foundOf.end())
        needs.insert(it->second);
    // What overwrites memory comes after all that read it before.
    for (OpResult result : op->getResults())
      if (Value updated = updatedBy(result))
        needs.insert(readers[updated].begin(), readers[updated].end());
    unsigned level = 0;
    for (unsigned other : needs)
      level = std::max(level, found[other].level + (found[other].place == place ? 0 : 1));
    auto it = llvm::find_if(found, [&](const Place &one) { return one.place == place && one.level == level; });
    unsigned index = it - found.begin();
    if (it == found.end())
      found.push_back({place, level, {place, {}, {}}});
    found[index].part.ops.insert(op);
    foundOf[op] = index;
    for (unsigned other : needs)
      if (other != index)
        found[index].part.after.insert(other);
    for (Value operand : op->getOperands())
      if (isa<ResourceType>(operand.getType()))
        readers[operand].insert(index);
  }

  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(found.size()));
  llvm::sort(order,
             [&](unsigned a, unsigned b) { return std::pair(found[a].level, a) < std::pair(found[b].level, b); });
  SmallVector<unsigned> rank(found.size());
  for (auto [i, index] : llvm::enumerate(order))
    rank[index] = i;
  std::vector<SubmissionPart> parts;
  for (unsigned index : order) {
    SubmissionPart &part = parts.emplace_back(std::move(found[index].part));
    SmallVector<unsigned> after = llvm::map_to_vector(part.after, [&](unsigned other) { return rank[other]; });
    part.after = {after.begin(), after.end()};
  }
  return parts;
}

} // namespace kiln::Stream
