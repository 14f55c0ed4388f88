#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/Transforms/Dims.h"
#include "kiln/compiler/Dialect/Flow/Transforms/ElementwiseFusion.h"
#include "kiln/compiler/Interfaces/SoundPatterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_SPLITBATCHESPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {

// A product of two tensors with a dimension for batches or more.
bool isBatchProduct(Operation *op) {
  auto product = dyn_cast_or_null<linalg::LinalgOp>(op);
  return product && product.hasPureTensorSemantics() && linalg::isaContractionOpInterface(product) &&
         product.getNumDpsInputs() == 2 && product.getNumReductionLoops() == 1 && product.getNumParallelLoops() >= 3 &&
         product->getDiscardableAttrDictionary().empty();
}

// The tensor whose elements an operation moves, if it computes nothing.
OpOperand *findMoved(Operation *op) {
  auto move = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!move || move.getNumReductionLoops() != 0 || move->getNumResults() != 1 || move.hasIndexSemantics() ||
      !move.hasPureTensorSemantics() || !move.getMatchingIndexingMap(move.getDpsInitOperand(0)).isPermutation() ||
      !llvm::all_of(move.getBlock()->without_terminator(), llvm::IsaPred<arith::ExtFOp, arith::TruncFOp>))
    return nullptr;
  OpOperand *moved = nullptr;
  for (OpOperand *input : move.getDpsInputOperands()) {
    if (!move.payloadUsesValueFromOperand(input))
      continue;
    if (moved)
      return nullptr;
    moved = input;
  }
  return moved && move.getMatchingIndexingMap(moved).isProjectedPermutation(/*allowZeroInResults=*/true) ? moved
                                                                                                         : nullptr;
}

// Whether a tensor has the elements of another one again and again, as keys have that heads share.
bool isSpread(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      value = collapse.getSrc();
      continue;
    }
    OpOperand *moved = findMoved(op);
    if (!moved)
      return false;
    auto move = cast<linalg::LinalgOp>(op);
    AffineMap map = move.getMatchingIndexingMap(moved);
    for (auto [loop, extent] : llvm::enumerate(move.getStaticLoopRanges()))
      if (extent != 1 && !map.isFunctionOfDim(loop))
        return true;
    value = moved->get();
  }
  return false;
}

// Whether the last two dimensions stay as they are.
bool keepsMatrices(ArrayRef<ReassociationIndices> groups) {
  return groups.size() >= 3 && llvm::all_of(groups.take_back(2), [](const auto &group) { return group.size() == 1; });
}

// Whether what is computed of a product's batches, which it has as one, needs some of their dimensions apart: a mask is
// the same for all heads, or only a call knows the extents.
bool isReadInParts(Value batches, ArrayRef<ReassociationIndices> groups) {
  auto type = cast<RankedTensorType>(batches.getType());
  return llvm::any_of(batches.getUses(), [&](OpOperand &use) {
    auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!op || !op.hasPureTensorSemantics() || !op.getMatchingIndexingMap(&use).isIdentity())
      return false;
    if (!type.hasStaticShape())
      return true;
    const auto cuts = [&](AffineMap map) {
      return llvm::any_of(groups, [&](const ReassociationIndices &group) {
        const auto isRead = [&](int64_t loop) { return type.getDimSize(loop) == 1 || map.isFunctionOfDim(loop); };
        const auto isMissing = [&](int64_t loop) { return type.getDimSize(loop) == 1 || !map.isFunctionOfDim(loop); };
        return !llvm::all_of(group, isRead) && !llvm::all_of(group, isMissing);
      });
    };
    return llvm::any_of(op.getIndexingMapsArray(), cuts) ||
           (op.getNumReductionLoops() == 0 && op->getNumResults() == 1 && op->getResult(0).getType() == type &&
            isReadInParts(op->getResult(0), groups));
  });
}

// Whether an operation is a product, or computes something of each element or row of one.
bool isComputedOfProduct(Operation *op) {
  while (op && !isBatchProduct(op)) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      return false;
    op = nullptr;
    for (OpOperand *input : generic.getDpsInputOperands())
      if (generic.getMatchingIndexingMap(input).isIdentity() && input->get().getDefiningOp<linalg::GenericOp>()) {
        op = input->get().getDefiningOp();
        break;
      }
  }
  return op;
}

// Whether the operation that has this operand, or the one whose result it is, takes in the reshape between both.
bool isSplit(OpOperand *operand) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner()))
    return isBatchProduct(expand.getSrc().getDefiningOp()) && keepsMatrices(expand.getReassociationIndices()) &&
           isReadInParts(expand, expand.getReassociationIndices());
  auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!collapse || !consumer)
    return false;
  const bool isOfMatrices = keepsMatrices(collapse.getReassociationIndices());
  if (isSpread(collapse.getSrc()))
    return findMoved(consumer) || (isOfMatrices && isBatchProduct(consumer));
  if (!isOfMatrices || !isComputedOfProduct(collapse.getSrc().getDefiningOp()))
    return false;
  if (isBatchProduct(consumer))
    return operand->getOperandNumber() == 0 && !isBatchProduct(collapse.getSrc().getDefiningOp());
  const auto startsAlike = [](AffineMap map) {
    return map ==
           AffineMap::getMultiDimIdentityMap(map.getNumDims(), map.getContext()).getMajorSubMap(map.getNumResults());
  };
  return consumer.getMatchingIndexingMap(operand).isIdentity() &&
         llvm::all_of(consumer.getDpsInitsMutable(),
                      [&](OpOperand &init) { return startsAlike(consumer.getMatchingIndexingMap(&init)); });
}

// Whether an operation that has a name may have to be split.
bool mayBeSplit(linalg::LinalgOp op) {
  if (isa<linalg::GenericOp>(op) || op->getNumResults() != 1)
    return false;
  if (OpOperand *moved = findMoved(op))
    return isSpread(moved->get());
  if (!isBatchProduct(op))
    return false;
  Value rows = op.getDpsInputs()[0];
  if (auto collapse = rows.getDefiningOp<tensor::CollapseShapeOp>())
    rows = collapse.getSrc();
  return rows.getDefiningOp<linalg::GenericOp>() || llvm::any_of(op.getDpsInputs(), isSpread) ||
         llvm::any_of(op->getUsers(), [](Operation *user) {
           auto expand = dyn_cast<tensor::ExpandShapeOp>(user);
           return expand && isReadInParts(expand, expand.getReassociationIndices());
         });
}

class SplitBatchesPass : public impl::SplitBatchesPassBase<SplitBatchesPass> {
public:
  explicit SplitBatchesPass(const CompilerContext &context) : context(&context) {}
  SplitBatchesPass(const SplitBatchesPass &other) : SplitBatchesPassBase(other), context(other.context) {}

  void runOnOperation() override {
    FailureOr<DispatchLimits> limits = context->dispatchLimits(getOperation().getLoc());
    if (failed(limits))
      return signalPassFailure();
    if (limits->keptRowBytes == 0)
      return;
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> named;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (mayBeSplit(op))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op)))
        return signalPassFailure();
    }
    getOperation().walk([&](linalg::GenericOp op) { dropBroadcastDims(rewriter, op); });
    RewritePatternSet set(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(set, isSplit);
    linalg::FillOp::getCanonicalizationPatterns(set, &getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(set, &getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(set, &getContext());
    tensor::populateFoldTensorEmptyPatterns(set);
    FrozenRewritePatternSet patterns(std::move(set), unsoundPatterns());
    for (Operation &function : *getOperation().getBody()) {
      if (!isa<FunctionOpInterface>(function))
        continue;
      bool isChanged = false;
      if (failed(applyPatternsGreedily(&function, patterns, GreedyRewriteConfig(), &isChanged))) {
        function.emitError() << "splitting the batches of its products did not come to an end";
        return signalPassFailure();
      }
      // Who asks for extents of what was split would keep it as it was.
      if (isChanged && failed(resolveDims(&function)))
        return signalPassFailure();
    }
  }

private:
  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createSplitBatchesPass(const CompilerContext &context) {
  return std::make_unique<SplitBatchesPass>(context);
}

} // namespace kiln::Flow
