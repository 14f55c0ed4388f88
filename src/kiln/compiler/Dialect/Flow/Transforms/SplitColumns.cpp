#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/Transforms/SameInEachCall.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_SPLITCOLUMNSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {

// Of fewer columns the rest would be a large part.
constexpr int64_t kLeastPanels = 64;

// Whether elementwise operations, which a product computes behind it, need its result.
bool isComputedOn(Value result) {
  return llvm::any_of(result.getUsers(), [](Operation *user) {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      return isComputedOn(user->getResult(0));
    auto op = dyn_cast<linalg::LinalgOp>(user);
    return op && op.getNumReductionLoops() == 0;
  });
}

class SplitColumnsPass : public impl::SplitColumnsPassBase<SplitColumnsPass> {
public:
  explicit SplitColumnsPass(const CompilerContext &context) : context(&context) {}
  SplitColumnsPass(const SplitColumnsPass &other) : SplitColumnsPassBase(other), context(other.context) {}

  void runOnOperation() override {
    FailureOr<DispatchLimits> limits = context->dispatchLimits(getOperation().getLoc());
    if (failed(limits))
      return signalPassFailure();
    const int64_t panel = limits->panelBytes / 4;
    if (panel == 0 || !context->options.evaluateConstants || !context->options.dataTiling)
      return;
    SmallVector<linalg::MatmulOp> products;
    getOperation().walk([&](linalg::MatmulOp op) {
      if (fillsNoPanels(op, panel))
        products.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::MatmulOp op : products)
      split(rewriter, op, panel);
  }

private:
  static bool fillsNoPanels(linalg::MatmulOp op, int64_t panel) {
    auto result = dyn_cast<RankedTensorType>(op->getNumResults() == 1 ? op->getResult(0).getType() : Type());
    Value weights = op.getDpsInputs()[1];
    return result && !op.hasDynamicShape() && result.getElementType().isF32() &&
           cast<RankedTensorType>(weights.getType()).getElementType().isF32() &&
           result.getDimSize(0) >= kLeastRowsOfPanels && result.getDimSize(1) >= kLeastPanels * panel &&
           result.getDimSize(1) % panel != 0 && op.getIndexingMapsArray()[1].getNumResults() == 2 &&
           op.getDpsInits()[0].getDefiningOp<linalg::FillOp>() && !op->hasAttr("kiln.configuration") &&
           isComputedOnce(weights) && !isComputedOn(op->getResult(0));
  }

  static void split(IRRewriter &rewriter, linalg::MatmulOp op, int64_t panel) {
    rewriter.setInsertionPoint(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    const int64_t rows = type.getDimSize(0), columns = type.getDimSize(1), whole = columns / panel * panel;
    const unsigned dim = op.getIndexingMapsArray()[1].getDimPosition(1) == 1 ? 1 : 0;
    const OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
    SmallVector<OpFoldResult> ones(2, one);
    Value result = tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(), type.getElementType());
    for (auto [from, to] : {std::pair(int64_t(0), whole), std::pair(whole, columns)}) {
      Value weights = op.getDpsInputs()[1];
      SmallVector<OpFoldResult> offsets(2, zero), sizes = tensor::getMixedSizes(rewriter, op.getLoc(), weights);
      offsets[dim] = rewriter.getIndexAttr(from);
      sizes[dim] = rewriter.getIndexAttr(to - from);
      Value part = tensor::ExtractSliceOp::create(rewriter, op.getLoc(), weights, offsets, sizes, ones);
      Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), {rows, to - from}, type.getElementType());
      Value start = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>().getInputs()[0];
      Value init = linalg::FillOp::create(rewriter, op.getLoc(), start, empty).getResult(0);
      Operation *product = mlir::clone(rewriter, op, init.getType(), {op.getDpsInputs()[0], part, init});
      SmallVector<OpFoldResult> at{zero, rewriter.getIndexAttr(from)},
          extents{rewriter.getIndexAttr(rows), rewriter.getIndexAttr(to - from)};
      result = tensor::InsertSliceOp::create(rewriter, op.getLoc(), product->getResult(0), result, at, extents, ones);
    }
    rewriter.replaceOp(op, result);
  }

  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createSplitColumnsPass(const CompilerContext &context) {
  return std::make_unique<SplitColumnsPass>(context);
}

} // namespace kiln::Flow
