#include "kiln/compiler/Transforms/NameInSource.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_LOWERFORALLPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

static bool insertsSlices(scf::ForallOp forall) {
  return llvm::all_of(forall.getTerminator().getYieldingOps(), [&](Operation &op) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    return insert && llvm::is_contained(forall.getRegionIterArgs(), insert.getDest());
  });
}

static SmallVector<OpFoldResult> mapped(ArrayRef<OpFoldResult> numbers, const IRMapping &mapping) {
  return llvm::map_to_vector(numbers, [&](OpFoldResult number) -> OpFoldResult {
    auto value = dyn_cast<Value>(number);
    return value ? OpFoldResult(mapping.lookupOrDefault(value)) : number;
  });
}

static void lower(scf::ForallOp forall) {
  OpBuilder builder(forall);
  auto emitTurn = [&](OpBuilder &inner, Location, ValueRange indices, ValueRange made) {
    IRMapping mapping;
    mapping.map(forall.getInductionVars(), indices);
    mapping.map(forall.getRegionIterArgs(), forall.getOutputs());
    for (Operation &op : forall.getBody()->without_terminator())
      inner.clone(op, mapping);
    scf::ValueVector next(made);
    for (Operation &op : forall.getTerminator().getYieldingOps()) {
      auto insert = cast<tensor::ParallelInsertSliceOp>(op);
      Value &result =
          next[llvm::find(forall.getRegionIterArgs(), insert.getDest()) - forall.getRegionIterArgs().begin()];
      result = tensor::InsertSliceOp::create(inner, insert.getLoc(), mapping.lookupOrDefault(insert.getSource()),
                                             result, mapped(insert.getMixedOffsets(), mapping),
                                             mapped(insert.getMixedSizes(), mapping),
                                             mapped(insert.getMixedStrides(), mapping));
      keepNameInSource(result.getDefiningOp(), insert);
    }
    return next;
  };
  scf::LoopNest nest =
      scf::buildLoopNest(builder, forall.getLoc(), forall.getLowerBound(builder), forall.getUpperBound(builder),
                         forall.getStep(builder), forall.getOutputs(), emitTurn);
  for (scf::ForOp loop : nest.loops)
    keepNameInSource(loop, forall);
  forall.replaceAllUsesWith(nest.results);
  forall.erase();
}

namespace {
class LowerForallPass : public impl::LowerForallPassBase<LowerForallPass> {
public:
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation().walk([&](scf::ForallOp forall) { loops.push_back(forall); });
    for (scf::ForallOp forall : loops)
      if (insertsSlices(forall))
        lower(forall);
  }
};
} // namespace
} // namespace kiln
