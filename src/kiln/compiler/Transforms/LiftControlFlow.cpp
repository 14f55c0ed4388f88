#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_LIFTCONTROLFLOWPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace {
// Upstream's lifting, where a value that nobody will read is zero, or a tensor that nothing has been written to.
class Lifting : public ControlFlowToSCFTransformation {
public:
  Value getUndefValue(Location loc, OpBuilder &builder, Type type) override {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    SmallVector<Value> extents;
    for (int64_t left = tensor.getNumDynamicDims(); left > 0; --left)
      extents.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
    return tensor::EmptyOp::create(builder, loc, tensor, extents);
  }

  FailureOr<Operation *> createUnreachableTerminator(Location loc, OpBuilder &builder, Region &region) override {
    SmallVector<Value> results;
    for (Type type : cast<func::FuncOp>(region.getParentOp()).getResultTypes())
      results.push_back(getUndefValue(loc, builder, type));
    return func::ReturnOp::create(builder, loc, results).getOperation();
  }
};

// Moves the operations of a block to where the rewriter stands, and gives what the block yields.
SmallVector<Value> inlineHere(RewriterBase &rewriter, Block &block) {
  Operation *yield = block.getTerminator();
  SmallVector<Value> values(yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&block, rewriter.getInsertionBlock(), rewriter.getInsertionPoint());
  return values;
}

// One scf.if for each case, each in what the one before leaves over.
SmallVector<Value> branchFrom(RewriterBase &rewriter, scf::IndexSwitchOp op, unsigned place) {
  if (place == op.getNumCases())
    return inlineHere(rewriter, op.getDefaultBlock());
  Location loc = op.getLoc();
  Value number = arith::ConstantIndexOp::create(rewriter, loc, op.getCases()[place]);
  Value isCase = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, op.getArg(), number);
  auto branch = scf::IfOp::create(rewriter, loc, op.getResultTypes(), isCase, /*withElseRegion=*/true);
  auto fill = [&](Region &region, llvm::function_ref<SmallVector<Value>()> make) {
    OpBuilder::InsertionGuard guard(rewriter);
    if (region.front().mightHaveTerminator())
      rewriter.eraseOp(region.front().getTerminator());
    rewriter.setInsertionPointToEnd(&region.front());
    SmallVector<Value> values = make();
    rewriter.setInsertionPointToEnd(&region.front());
    scf::YieldOp::create(rewriter, loc, values);
  };
  fill(branch.getThenRegion(), [&] { return inlineHere(rewriter, op.getCaseBlock(place)); });
  fill(branch.getElseRegion(), [&] { return branchFrom(rewriter, op, place + 1); });
  return branch.getResults();
}

LogicalResult lift(RewriterBase &rewriter, func::FuncOp func) {
  // The lifting takes blocks that can be reached, and no others.
  (void)eraseUnreachableBlocks(rewriter, func->getRegions());
  if (func.getBody().empty() || func.getBody().hasOneBlock())
    return success();
  Lifting lifting;
  DominanceInfo dominance(func);
  if (failed(transformCFGToSCF(func.getBody(), lifting, dominance)))
    return func.emitError()
           << "has control flow between blocks that cannot become scf.if and scf.while; write it with scf";
  return success();
}

class LiftControlFlowPass : public impl::LiftControlFlowPassBase<LiftControlFlowPass> {
public:
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (failed(lift(rewriter, func)))
        return signalPassFailure();
      SmallVector<scf::IndexSwitchOp> switches;
      func.walk([&](scf::IndexSwitchOp op) { switches.push_back(op); });
      for (scf::IndexSwitchOp op : switches) {
        rewriter.setInsertionPoint(op);
        rewriter.replaceOp(op, branchFrom(rewriter, op, 0));
      }
    }
  }
};
} // namespace
} // namespace kiln
