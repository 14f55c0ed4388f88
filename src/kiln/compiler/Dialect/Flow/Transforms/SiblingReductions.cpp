#include "kiln/compiler/Dialect/Flow/Transforms/SiblingReductions.h"

using namespace mlir;

namespace kiln::Flow {

// The map by which a reduction reads each element of `value` once; null where `op` is no reduction that can be merged.
static AffineMap mapOfMergeable(Operation *op, Value value) {
  auto reduction = dyn_cast<linalg::LinalgOp>(op);
  if (!isa<linalg::GenericOp, linalg::ReduceOp>(op) || reduction.getNumReductionLoops() == 0 ||
      !reduction.hasPureTensorSemantics() || !op->getDiscardableAttrDictionary().empty())
    return {};
  if (llvm::is_contained(reduction.getDpsInits(), value))
    return {};
  AffineMap map;
  for (OpOperand *input : reduction.getDpsInputOperands()) {
    if (input->get() != value)
      continue;
    AffineMap other = reduction.getMatchingIndexingMap(input);
    if (!other.isPermutation() || (map && map != other))
      return {};
    map = other;
  }
  return map;
}

static bool haveSameLoops(linalg::LinalgOp a, linalg::LinalgOp b) {
  auto mapOf = [](linalg::LinalgOp op) { return op.getMatchingIndexingMap(op.getDpsInitOperand(0)); };
  return a.getIteratorTypesArray() == b.getIteratorTypesArray() && mapOf(a) == mapOf(b);
}

SmallVector<linalg::LinalgOp> findSiblingReductions(Value value) {
  llvm::SmallPtrSet<Operation *, 4> users(value.user_begin(), value.user_end());
  SmallVector<linalg::LinalgOp> reductions;
  AffineMap map;
  for (Operation *user : users) {
    AffineMap own = mapOfMergeable(user, value);
    if (!own || (map && own != map) || user->getBlock() != value.getParentBlock())
      return {};
    auto reduction = cast<linalg::LinalgOp>(user);
    if (!reductions.empty() && !haveSameLoops(reduction, reductions.front()))
      return {};
    map = own;
    reductions.push_back(reduction);
  }
  llvm::sort(reductions, [](linalg::LinalgOp a, linalg::LinalgOp b) { return a->isBeforeInBlock(b); });
  return reductions.size() > 1 ? reductions : SmallVector<linalg::LinalgOp>();
}

} // namespace kiln::Flow
