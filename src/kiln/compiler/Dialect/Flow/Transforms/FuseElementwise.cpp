#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/Transforms/ElementwiseFusion.h"
#include "kiln/compiler/Dialect/Flow/Transforms/ReadLoops.h"
#include "kiln/compiler/Dialect/Flow/Transforms/SameInEachCall.h"
#include "kiln/compiler/Dialect/Flow/Transforms/SiblingReductions.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/InitUse.h"
#include "kiln/compiler/Interfaces/LoopSteps.h"
#include "kiln/compiler/Interfaces/SoundPatterns.h"

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

// Whether the body computes an element in a few instructions.
bool isCheap(linalg::GenericOp op) {
  constexpr size_t mostOps = 8;
  return llvm::range_size(op.getBody()->without_terminator()) <= mostOps &&
         llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
           return isa_and_nonnull<arith::ArithDialect>(inner.getDialect()) && inner.getNumRegions() == 0 &&
                  !isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
                       arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemFOp>(inner);
         });
}

int64_t bytesOf(Value tensor) {
  Type element = getElementTypeOrSelf(tensor.getType());
  return element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

// Whether each user of an elementwise operation can compute its result anew for no more traffic with memory than
// storing it and loading it again takes. What reads the result of a reduction stays in the dispatch of that one, and
// reductions that can be merged share it.
bool isBetterRepeated(linalg::GenericOp op) {
  if (op.getNumLoops() != op.getNumParallelLoops() || op->getNumResults() != 1 || !op.hasPureTensorSemantics() ||
      !isCheap(op))
    return false;
  int64_t loaded = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto producer = input->get().getDefiningOp<linalg::LinalgOp>();
    if (producer && producer.getNumReductionLoops() != 0)
      return false;
    loaded += bytesOf(input->get());
  }
  Value result = op.getResult(0);
  llvm::SmallPtrSet<Operation *, 4> users;
  for (OpOperand &use : result.getUses()) {
    auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!user || user->getBlock() != op->getBlock() || !user.getMatchingIndexingMap(&use).isPermutation() ||
        !linalg::areElementwiseOpsFusable(&use))
      return false;
    users.insert(user);
  }
  int64_t count = users.size();
  return count > 1 && count * loaded <= loaded + (count + 1) * bytesOf(result) && findSiblingReductions(result).empty();
}

// Gives each user of what is better repeated an operation of its own; whether there was any.
bool repeatCheap(RewriterBase &rewriter, Operation *func) {
  SmallVector<linalg::GenericOp> ops;
  func->walk([&](linalg::GenericOp op) { ops.push_back(op); });
  bool changed = false;
  for (linalg::GenericOp op : ops) {
    if (!isBetterRepeated(op))
      continue;
    llvm::SmallSetVector<Operation *, 4> users(op->user_begin(), op->user_end());
    for (Operation *user : llvm::drop_begin(users)) {
      rewriter.setInsertionPoint(op);
      Operation *copy = rewriter.clone(*op);
      rewriter.modifyOpInPlace(user, [&] { user->replaceUsesOfWith(op.getResult(0), copy->getResult(0)); });
    }
    changed = true;
  }
  return changed;
}

// The operations in the bodies of the operand's owner and of what computes it, or more than `most`.
int64_t countBodies(OpOperand *operand, int64_t most) {
  int64_t count = 0;
  for (Operation *op : {operand->getOwner(), operand->get().getDefiningOp()})
    if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op))
      for (auto it = generic.getBody()->begin(), end = generic.getBody()->end(); it != end && count <= most; ++it)
        ++count;
  return count;
}

// A linalg.reduce that would load what an elementwise operation stores for it; as a linalg.generic it computes that.
bool reducesComputed(linalg::LinalgOp op) {
  return isa<linalg::ReduceOp>(op) && op->getDiscardableAttrDictionary().empty() &&
         llvm::any_of(op.getDpsInputs(), [&](Value input) {
           auto producer = input.getDefiningOp<linalg::LinalgOp>();
           return producer && producer.getNumLoops() == producer.getNumParallelLoops() &&
                  producer->getBlock() == op->getBlock();
         });
}

// A product of weights that each call makes f32 and turns: it lays them out for itself anyway.
bool readsTurned(linalg::LinalgOp op) {
  return isa<linalg::MatmulOp>(op) && op.hasPureTensorSemantics() && op->getDiscardableAttrDictionary().empty() &&
         llvm::any_of(op.getDpsInputs(), [](Value input) {
           auto turn = input.getDefiningOp<linalg::TransposeOp>();
           return turn && turn->hasOneUse() && isSameInEachCall(input) && !isComputedOnce(input);
         });
}

// Weights of bytes whose columns a product of few rows sums up lie column by column from when the module is loaded: of
// a row in memory a workgroup would read a part, and of the next one a page further on another.
void turnColumns(IRRewriter &rewriter, linalg::GenericOp product) {
  constexpr int64_t leastElements = int64_t(1) << 18;
  if (!product.hasPureTensorSemantics() || product.hasDynamicShape() || product.getNumReductionLoops() != 1 ||
      !isLikeProduct(product))
    return;
  SmallVector<unsigned> sums;
  product.getReductionDims(sums);
  for (OpOperand *input : product.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    AffineMap map = product.getMatchingIndexingMap(input);
    if (!type || type.getRank() != 2 || !type.getElementType().isInteger(8) || type.getNumElements() < leastElements ||
        !map.isProjectedPermutation() || map.getDimPosition(0) != sums.front() ||
        countUses(product, input).value_or(kManyUses) >= kLeastRowsOfPanels || !isComputedOnce(input->get()))
      continue;
    rewriter.setInsertionPoint(product);
    Value empty = tensor::EmptyOp::create(rewriter, product.getLoc(), {type.getDimSize(1), type.getDimSize(0)},
                                          type.getElementType());
    auto turn = linalg::TransposeOp::create(rewriter, product.getLoc(), input->get(), empty, {1, 0});
    SmallVector<AffineMap> maps = product.getIndexingMapsArray();
    maps[input->getOperandNumber()] =
        AffineMap::get(map.getNumDims(), 0, {map.getResult(1), map.getResult(0)}, product.getContext());
    rewriter.modifyOpInPlace(product, [&] {
      input->set(turn->getResult(0));
      product.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }
}

class FuseElementwisePass : public impl::FuseElementwisePassBase<FuseElementwisePass> {
public:
  explicit FuseElementwisePass(const CompilerContext &context) : context(&context) {}

  void runOnOperation() override {
    FailureOr<DispatchLimits> limits = context->dispatchLimits(getOperation().getLoc());
    if (failed(limits))
      return signalPassFailure();
    // Only the host program; what is already in an executable stays as it is.
    for (Operation &op : *getOperation().getBody())
      if (isa<FunctionOpInterface, Util::InitializerOp>(op) && failed(runOnFunction(&op, *limits)))
        return signalPassFailure();
  }

private:
  // Of a tensor that is cut along its last dimension, as gates and what they let through are, elementwise operations
  // read their part where it is.
  static void readSlices(Operation *func) {
    SmallVector<tensor::ExtractSliceOp> slices;
    func->walk([&](tensor::ExtractSliceOp slice) {
      const bool isRead = llvm::all_of(slice->getUsers(), [](Operation *user) {
        auto op = dyn_cast<linalg::GenericOp>(user);
        return op && op.getNumLoops() == op.getNumParallelLoops();
      });
      const int64_t rank = slice.getType().getRank();
      if (isRead && !slice.use_empty() && rank > 0 && slice.getSourceType().getRank() == rank &&
          slice.getSourceType().getShape().back() != slice.getType().getShape().back())
        slices.push_back(slice);
    });
    for (tensor::ExtractSliceOp slice : slices)
      inLoops(slice);
  }

  LogicalResult runOnFunction(Operation *func, const DispatchLimits &limits) {
    IRRewriter rewriter(func->getContext());
    SmallVector<linalg::LinalgOp> named;
    func->walk([&](linalg::LinalgOp op) {
      bool isElementwise = op.getNumLoops() == op.getNumParallelLoops();
      if (!isa<linalg::GenericOp, linalg::FillOp>(op) &&
          (isElementwise || reducesComputed(op) || takesInFactor(op, limits) || readsTurned(op)))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op)))
        return op.emitError() << "'" << op->getName() << "' cannot be written as a linalg.generic";
    }

    func->walk([&](linalg::GenericOp op) { dropBroadcastDims(rewriter, op); });
    readSlices(func);

    // Of a constant that others read as it is, and of a large one, which takes the compiler long, each call makes a
    // transposed copy.
    linalg::ControlFusionFn isMovedNow = [](OpOperand *operand) {
      constexpr int64_t mostElements = int64_t(1) << 20;
      auto type = cast<RankedTensorType>(operand->get().getType());
      return operand->get().hasOneUse() && type.getNumElements() <= mostElements;
    };
    // Before anything else: MLIR 22 breaks down where it looks at an operation whose inputs have become part of its
    // body.
    RewritePatternSet constants(func->getContext());
    linalg::populateConstantFoldLinalgOperations(constants, isMovedNow);
    if (failed(applyPatternsGreedily(func, std::move(constants))))
      return func->emitError() << "transposing its constants did not come to an end";

    // Each rewrite copies the bodies of both operations: of a long chain halves are fused, not one operation after the
    // other, so that each is copied a few times, and not as often as the chain is long.
    int64_t mostOps = 64;
    bool isHeldBack = false;
    RewritePatternSet set(func->getContext());
    linalg::populateElementwiseOpsFusionPatterns(set, [&](OpOperand *operand) {
      if (!canTakeIn(operand, limits) || isBetterComputedOnce(operand))
        return false;
      bool isSmall = countBodies(operand, mostOps) <= mostOps;
      isHeldBack |= !isSmall;
      return isSmall;
    });
    // A product of few rows takes its weights in the shape that they are unpacked in.
    linalg::populateFoldReshapeOpsByExpansionPatterns(
        set, [&](OpOperand *operand) { return isUnpacked(operand, limits) || isOfTiles(operand); });
    // What is computed of a product is computed in the product's shape, and reshaped behind.
    linalg::populateFoldReshapeOpsByCollapsingPatterns(set, isReshapedBehind);
    populateDropUnneededInitsPatterns(set);
    linalg::GenericOp::getCanonicalizationPatterns(set, func->getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(set, func->getContext());
    // Each rewrite leaves fewer ops, so this ends; a long program of many small ops takes more rounds than the default.
    GreedyRewriteConfig untilDone;
    untilDone.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    FrozenRewritePatternSet patterns(std::move(set), unsoundPatterns());
    do {
      for (isHeldBack = true; isHeldBack; mostOps *= 2) {
        isHeldBack = false;
        if (failed(applyPatternsGreedily(func, patterns, untilDone)))
          return func->emitError() << "fusing its elementwise ops did not come to an end";
      }
    } while (repeatCheap(rewriter, func));

    if (limits.panelBytes != 0 && context->options.evaluateConstants && context->options.dataTiling)
      func->walk([&](linalg::GenericOp op) { turnColumns(rewriter, op); });

    RewritePatternSet splats(func->getContext());
    splats.add<SplatToFill>(func->getContext());
    if (failed(applyPatternsGreedily(func, std::move(splats), untilDone)))
      return func->emitError() << "making fills of its splats did not come to an end";
    return success();
  }

  // Whether what computes the operand is the same in each call, takes no more memory than what it is made of, and is
  // used by what is not the same.
  bool isBetterComputedOnce(OpOperand *operand) const {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    if (!context->options.evaluateConstants || !producer || producer.hasDynamicShape() ||
        !isComputedOnce(operand->get()))
      return false;
    int64_t taken = 0;
    for (Value input : producer.getDpsInputs())
      if (auto type = dyn_cast<RankedTensorType>(input.getType()))
        taken += type.getNumElements() * bytesOf(input);
    return cast<RankedTensorType>(operand->get().getType()).getNumElements() * bytesOf(operand->get()) <= taken &&
           !llvm::all_of(operand->getOwner()->getOperands(), isSameInEachCall);
  }

  static bool isProduct(Value value) {
    auto op = value.getDefiningOp<linalg::LinalgOp>();
    return op && linalg::isaContractionOpInterface(op);
  }

  // Whether an operand is what a product of few rows is better to compute where it uses it, but for its shape: numbers
  // of few bits that blocks of them have a scale for.
  static bool isUnpacked(OpOperand *operand, const DispatchLimits &limits) {
    auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
    auto product = dyn_cast<linalg::GenericOp>(operand->getOwner());
    auto unpack = collapse ? collapse.getSrc().getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
    if (!unpack || !product || !collapse->hasOneUse() || !unpack->hasOneUse() || !isLikeProduct(product) ||
        unpack.getNumReductionLoops() != 0 || unpack.hasDynamicShape() ||
        countUses(product, operand).value_or(kManyUses) > limits.mostUses)
      return false;
    bool hasBlocks = false;
    for (OpOperand *input : unpack.getDpsInputOperands()) {
      bool isWhole = unpack.getMatchingIndexingMap(input).isPermutation();
      if (isWhole && bytesOf(input->get()) >= bytesOf(operand->get()))
        return false;
      hasBlocks |= !isWhole;
    }
    return hasBlocks;
  }

  // A product, or what was computed of one in tiles of results.
  static bool isProductOrTiles(Value value) {
    constexpr int64_t tileRank = 6;
    llvm::SetVector<Value> values;
    values.insert(value);
    for (size_t i = 0; i < values.size(); ++i) {
      if (isProduct(values[i]))
        return true;
      auto op = values[i].getDefiningOp<linalg::GenericOp>();
      if (!op || op.getNumReductionLoops() != 0 || cast<RankedTensorType>(value.getType()).getRank() != tileRank)
        continue;
      for (Value input : op.getDpsInputs())
        if (input.getType() == value.getType())
          values.insert(input);
    }
    return false;
  }

  // Whether an elementwise operation takes the results of a convolution, which was computed in tiles of them
  // (kiln-flow-winograd).
  static bool isOfTiles(OpOperand *operand) {
    auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
    auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
    return collapse && consumer && consumer.getNumReductionLoops() == 0 && collapse.getSrcType().hasStaticShape() &&
           collapse.getReassociationIndices() == ArrayRef<ReassociationIndices>{{0}, {1, 2}, {3, 4}, {5}} &&
           collapse.getSrcType().getDimSize(2) == collapse.getSrcType().getDimSize(4) &&
           isProductOrTiles(collapse.getSrc());
  }

  // Whether an operation may take what is reshaped as it was before: not beside a product that has the new shape, and
  // not what is no result of another operation.
  static bool isReshapedBehind(OpOperand *operand) {
    auto expand = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
    auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
    return expand && consumer && expand.getSrcType().hasStaticShape() && !isSameInEachCall(expand.getSrc()) &&
           !isa<BlockArgument>(expand.getSrc()) && !consumer.hasDynamicShape() &&
           (consumer.getNumReductionLoops() == 0 || consumer.getNumDpsInputs() == 1) &&
           llvm::none_of(consumer.getDpsInputs(), isProductOrTiles);
  }

  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createFuseElementwisePass(const CompilerContext &context) {
  return std::make_unique<FuseElementwisePass>(context);
}
} // namespace kiln::Flow
