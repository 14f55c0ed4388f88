#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_HOISTREDUCTIONSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {

// What is the same in each turn of one loop.
class Invariants {
public:
  explicit Invariants(LoopLikeOpInterface loop) : loop(loop) {}

  void hoist() {
    SmallVector<linalg::LinalgOp> reductions;
    for (Region *region : loop.getLoopRegions())
      for (auto op : region->getOps<linalg::LinalgOp>())
        if (op.getNumReductionLoops() != 0 && isInvariant(op))
          reductions.push_back(op);
    OpBuilder builder(loop);
    IRMapping moved;
    for (linalg::LinalgOp op : reductions)
      for (auto [inside, outside] : llvm::zip(op->getResults(), cloneOutside(builder, op, moved)->getResults()))
        inside.replaceAllUsesWith(outside);
  }

private:
  bool isInvariant(Operation *op) {
    auto [known, isNew] = invariant.try_emplace(op, false);
    if (!isNew)
      return known->second;
    bool is = llvm::is_contained(loop.getLoopRegions(), op->getParentRegion()) &&
              !op->hasTrait<OpTrait::IsTerminator>() && cannotFail(op) &&
              llvm::all_of(usedBy(op), [&](Value value) { return isInvariant(value); });
    return invariant[op] = is;
  }
  // Where extents are not known, what is checked of them stands in the loop.
  static bool cannotFail(Operation *op) {
    auto isKnown = [](Type type) { return !isa<ShapedType>(type) || cast<ShapedType>(type).hasStaticShape(); };
    return isPure(op) && llvm::all_of(ValueRange(usedBy(op)).getTypes(), isKnown) &&
           llvm::all_of(op->getResultTypes(), isKnown) &&
           (isa<linalg::LinalgOp, tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) ||
            isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()));
  }
  bool isInvariant(Value value) {
    return loop.isDefinedOutsideOfLoop(value) || (value.getDefiningOp() && isInvariant(value.getDefiningOp()));
  }

  static SmallVector<Value> usedBy(Operation *op) {
    llvm::SetVector<Value> values(llvm::from_range, op->getOperands());
    getUsedValuesDefinedAbove(op->getRegions(), values);
    return values.takeVector();
  }

  // With what it needs of the loop, each once. What nobody uses in the loop any more goes away later.
  Operation *cloneOutside(OpBuilder &builder, Operation *op, IRMapping &moved) {
    for (Value value : usedBy(op))
      if (!loop.isDefinedOutsideOfLoop(value) && !moved.contains(value))
        cloneOutside(builder, value.getDefiningOp(), moved);
    return builder.clone(*op, moved);
  }

  LoopLikeOpInterface loop;
  llvm::DenseMap<Operation *, bool> invariant;
};

class HoistReductionsPass : public impl::HoistReductionsPassBase<HoistReductionsPass> {
public:
  void runOnOperation() override {
    // Inner loops come first, and what leaves them may leave the outer ones.
    getOperation().walk([](LoopLikeOpInterface loop) { Invariants(loop).hoist(); });
  }
};

} // namespace
} // namespace kiln::Flow
