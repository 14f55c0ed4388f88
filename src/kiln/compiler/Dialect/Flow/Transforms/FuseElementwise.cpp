#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {
// A tensor of one value is a fill: it is computed where it is needed, and a dispatch that starts from it fuses it.
struct SplatToFill : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op, PatternRewriter &rewriter) const override {
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!splat)
      return failure();
    auto type = cast<RankedTensorType>(op.getType());
    Value value = arith::ConstantOp::create(rewriter, op.getLoc(), splat.getSplatValue<TypedAttr>());
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(), type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, value, empty);
    return success();
  }
};

// Whether each element of the producer's result is computed once where it is used, if it does not go away there: it
// stays where the producer updates its output, or where it alone says how far loops go.
bool keepsResultWhole(Operation *producer, OpOperand *operand) {
  auto from = dyn_cast<linalg::GenericOp>(producer);
  auto to = dyn_cast<linalg::GenericOp>(operand->getOwner());
  return !from || !to || linalg::getPreservedProducerResults(from, to, operand).empty() ||
         (to.getNumReductionLoops() == 0 && to.getMatchingIndexingMap(operand).isPermutation());
}

class FuseElementwisePass : public impl::FuseElementwisePassBase<FuseElementwisePass> {
public:
  void runOnOperation() override {
    // Only the host program; what is already in an executable stays as it is.
    for (Operation &op : *getOperation().getBody())
      if (isa<FunctionOpInterface, Util::InitializerOp>(op) && failed(runOnFunction(&op)))
        return signalPassFailure();
  }

private:
  LogicalResult runOnFunction(Operation *func) {
    IRRewriter rewriter(func->getContext());
    SmallVector<linalg::LinalgOp> named;
    func->walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp, linalg::FillOp>(op) && op.getNumLoops() == op.getNumParallelLoops())
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op)))
        return op.emitError() << "'" << op->getName() << "' cannot be written as a linalg.generic";
    }

    RewritePatternSet patterns(func->getContext());
    linalg::ControlFusionFn onlyOneUse = [](OpOperand *operand) {
      Operation *producer = operand->get().getDefiningOp();
      return producer && producer->hasOneUse() && producer->getBlock() == operand->getOwner()->getBlock() &&
             keepsResultWhole(producer, operand);
    };
    // Of a constant that others read as it is, and of a large one, which takes the compiler long, each call makes a
    // transposed copy.
    linalg::ControlFusionFn isMovedNow = [](OpOperand *operand) {
      constexpr int64_t mostElements = int64_t(1) << 20;
      auto type = cast<RankedTensorType>(operand->get().getType());
      return operand->get().hasOneUse() && type.getNumElements() <= mostElements;
    };
    linalg::populateConstantFoldLinalgOperations(patterns, isMovedNow);
    linalg::populateElementwiseOpsFusionPatterns(patterns, onlyOneUse);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, func->getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, func->getContext());
    // Each rewrite leaves fewer ops, so this ends; a long program of many small ops takes more rounds than the default.
    GreedyRewriteConfig untilDone;
    untilDone.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(applyPatternsGreedily(func, std::move(patterns), untilDone)))
      return func->emitError() << "fusing its elementwise ops did not come to an end";

    RewritePatternSet splats(func->getContext());
    splats.add<SplatToFill>(func->getContext());
    if (failed(applyPatternsGreedily(func, std::move(splats), untilDone)))
      return func->emitError() << "making fills of its splats did not come to an end";
    return success();
  }
};
} // namespace
} // namespace kiln::Flow
