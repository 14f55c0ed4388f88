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

// The tensor of which an operation computes each of its elements from one, with numbers that are the same for all.
OpOperand *findOnlyTensor(Operation *op) {
  auto single = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!single || single.getNumReductionLoops() != 0 || single->getNumResults() != 1 || single.hasIndexSemantics() ||
      !single.hasPureTensorSemantics() || !single.getMatchingIndexingMap(single.getDpsInitOperand(0)).isPermutation() ||
      single.payloadUsesValueFromOperand(single.getDpsInitOperand(0)))
    return nullptr;
  OpOperand *found = nullptr;
  for (OpOperand *input : single.getDpsInputOperands()) {
    if (!single.payloadUsesValueFromOperand(input) || single.getMatchingIndexingMap(input).getNumResults() == 0)
      continue;
    if (found)
      return nullptr;
    found = input;
  }
  return found && single.getMatchingIndexingMap(found).isProjectedPermutation(/*allowZeroInResults=*/true) ? found
                                                                                                           : nullptr;
}

// The same if it computes nothing.
OpOperand *findMoved(Operation *op) {
  OpOperand *found = findOnlyTensor(op);
  return found && llvm::all_of(cast<linalg::LinalgOp>(op).getBlock()->without_terminator(),
                               llvm::IsaPred<arith::ExtFOp, arith::TruncFOp>)
             ? found
             : nullptr;
}

// Whether a tensor has the elements of another one again and again, as keys have that heads share.
bool isSpread(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      value = collapse.getSrc();
      continue;
    }
    OpOperand *moved = findOnlyTensor(op);
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

// Whether a product of few rows has an operand that was moved, such as keys that were turned, which takes longer than
// the product.
bool isBetterMovedInside(linalg::LinalgOp product, Value operand) {
  constexpr int64_t fewRows = 8;
  auto collapse = operand.getDefiningOp<tensor::CollapseShapeOp>();
  return collapse && findMoved(collapse.getSrc().getDefiningOp()) && isBatchProduct(product) &&
         operand == product.getDpsInputs()[1] &&
         product.getStaticLoopRanges()[product.getNumParallelLoops() - 2] < fewRows &&
         !ShapedType::isDynamic(product.getStaticLoopRanges()[product.getNumParallelLoops() - 2]);
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
  if (isOfMatrices && isBetterMovedInside(consumer, operand->get()))
    return true;
  if (isSpread(collapse.getSrc()))
    return findOnlyTensor(consumer) || (isOfMatrices && isBatchProduct(consumer));
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
  if (OpOperand *only = findOnlyTensor(op))
    return isSpread(only->get());
  if (!isBatchProduct(op))
    return false;
  Value rows = op.getDpsInputs()[0];
  if (auto collapse = rows.getDefiningOp<tensor::CollapseShapeOp>())
    rows = collapse.getSrc();
  return rows.getDefiningOp<linalg::GenericOp>() || isBetterMovedInside(op, op.getDpsInputs()[1]) ||
         llvm::any_of(op.getDpsInputs(), isSpread) || llvm::any_of(op->getUsers(), [](Operation *user) {
           auto expand = dyn_cast<tensor::ExpandShapeOp>(user);
           return expand && isReadInParts(expand, expand.getReassociationIndices());
         });
}

// What is computed of each element of a tensor that has others again and again is computed of those, and spread then.
struct SpreadLast : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &b) const override {
    OpOperand *only = findOnlyTensor(op);
    if (!only || findMoved(op) || !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
      return failure();
    // Back to what is spread, also where that was turned since.
    Value source = only->get();
    AffineMap map = op.getMatchingIndexingMap(only);
    for (OpOperand *moved; source.hasOneUse() && (moved = findMoved(source.getDefiningOp())) &&
                           getElementTypeOrSelf(moved->get().getType()) == getElementTypeOrSelf(source.getType());
         source = moved->get()) {
      auto move = cast<linalg::LinalgOp>(moved->getOwner());
      map = move.getMatchingIndexingMap(moved)
                .compose(inversePermutation(move.getMatchingIndexingMap(move.getDpsInitOperand(0))))
                .compose(map);
    }
    if (!map.isProjectedPermutation())
      return failure();
    SmallVector<unsigned> kept;
    SmallVector<AffineExpr> places(op.getNumLoops(), b.getAffineConstantExpr(0));
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (map.isFunctionOfDim(loop)) {
        places[loop] = b.getAffineDimExpr(kept.size());
        kept.push_back(loop);
      }
    const unsigned loops = kept.size();
    if (loops == op.getNumLoops())
      return failure();
    SmallVector<Value> inputs(op.getDpsInputs());
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (input != only && op.getMatchingIndexingMap(input).getNumResults() != 0)
        return failure();
      maps.push_back(input == only ? map.replaceDimsAndSymbols(places, {}, loops, 0)
                                   : AffineMap::get(loops, 0, b.getContext()));
    }
    SmallVector<OpFoldResult> all = tensor::getMixedSizes(b, op.getLoc(), op.getDpsInits()[0]);
    auto sizes = llvm::map_to_vector(kept, [&](unsigned loop) { return all[loop]; });
    inputs[only->getOperandNumber()] = source;
    maps.push_back(b.getMultiDimIdentityMap(loops));
    const auto parallel = [](unsigned count) {
      return SmallVector<utils::IteratorType>(count, utils::IteratorType::parallel);
    };
    Value empty = tensor::EmptyOp::create(b, op.getLoc(), sizes, getElementTypeOrSelf(op.getResult(0).getType()));
    auto few = linalg::GenericOp::create(b, op.getLoc(), empty.getType(), inputs, empty, maps, parallel(loops));
    b.cloneRegionBefore(op.getRegion(), few.getRegion(), few.getRegion().begin());
    AffineMap identity = b.getMultiDimIdentityMap(op.getNumLoops());
    SmallVector<AffineExpr> read = llvm::map_to_vector(kept, [&](unsigned loop) { return b.getAffineDimExpr(loop); });
    b.replaceOpWithNewOp<linalg::GenericOp>(
        op, op->getResultTypes(), few.getResult(0), op.getDpsInits()[0],
        ArrayRef<AffineMap>{AffineMap::get(op.getNumLoops(), 0, read, b.getContext()), identity},
        parallel(op.getNumLoops()),
        [](OpBuilder &inner, Location at, ValueRange args) { linalg::YieldOp::create(inner, at, args[0]); });
    return success();
  }
};

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
    set.add<SpreadLast>(&getContext());
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
