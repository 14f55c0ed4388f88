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

  // In the order of the loop: what an operation uses stands before it.
  void hoist() {
    for (Region *region : loop.getLoopRegions())
      for (Operation &op : region->getOps())
        if (isInvariant(&op))
          invariant.insert(&op);
    llvm::DenseSet<Operation *> needed;
    for (Operation *op : llvm::reverse(invariant)) {
      if (!isReduction(op) && !needed.contains(op))
        continue;
      needed.insert(op);
      for (Value value : usedBy(op))
        if (!loop.isDefinedOutsideOfLoop(value))
          needed.insert(value.getDefiningOp());
    }
    // Each is cloned once. What nobody uses in the loop any more goes away later.
    OpBuilder builder(loop);
    IRMapping moved;
    for (Operation *op : invariant) {
      if (!needed.contains(op))
        continue;
      Operation *outside = builder.clone(*op, moved);
      if (isReduction(op))
        op->replaceAllUsesWith(outside);
    }
  }

private:
  static bool isReduction(Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    return linalgOp && linalgOp.getNumReductionLoops() != 0;
  }
  bool isInvariant(Operation *op) {
    return !op->hasTrait<OpTrait::IsTerminator>() && cannotFail(op) && llvm::all_of(usedBy(op), [&](Value value) {
      return loop.isDefinedOutsideOfLoop(value) || invariant.contains(value.getDefiningOp());
    });
  }
  // Where extents are not known, what is checked of them stands in the loop.
  static bool cannotFail(Operation *op) {
    auto isKnown = [](Type type) { return !isa<ShapedType>(type) || cast<ShapedType>(type).hasStaticShape(); };
    return isPure(op) && llvm::all_of(ValueRange(usedBy(op)).getTypes(), isKnown) &&
           llvm::all_of(op->getResultTypes(), isKnown) &&
           (isa<linalg::LinalgOp, tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) ||
            isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()));
  }

  static SmallVector<Value> usedBy(Operation *op) {
    llvm::SetVector<Value> values(llvm::from_range, op->getOperands());
    getUsedValuesDefinedAbove(op->getRegions(), values);
    return values.takeVector();
  }

  LoopLikeOpInterface loop;
  llvm::SetVector<Operation *> invariant;
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
