#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/compiler/Codegen/LoopCollapsing.h"
#include "kiln/compiler/Codegen/WidenSums.h"
#include "kiln/compiler/Interfaces/InitUse.h"
#include "kiln/compiler/Interfaces/SoundPatterns.h"
#include "kiln/compiler/TransformOps/DispatchBufferization.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_PREPAREDISPATCH
#include "kiln/compiler/Codegen/CodegenPasses.h.inc"

namespace {

// Where a tensor's content comes from, seen through slices, casts and reshapes.
Value contentOf(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isa<tensor::ExtractSliceOp, tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      break;
    tensor = op->getOperand(0);
  }
  return tensor;
}

// Whether an operation may overwrite this tensor where it is in memory.
bool isReadOnly(Value tensor) {
  Operation *op = contentOf(tensor).getDefiningOp();
  if (auto toTensor = dyn_cast_or_null<bufferization::ToTensorOp>(op))
    return !toTensor.getWritable();
  return isa_and_nonnull<arith::ConstantOp>(op);
}

Value createEmptyLike(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, tensor), type.getElementType());
}

Value createCopy(OpBuilder &builder, Location loc, Value tensor) {
  Value empty = createEmptyLike(builder, loc, tensor);
  Attribute splat;
  if (matchPattern(tensor, m_Constant(&splat)) && isa<SplatElementsAttr>(splat)) {
    auto value = arith::ConstantOp::create(builder, loc, cast<SplatElementsAttr>(splat).getSplatValue<TypedAttr>());
    return linalg::FillOp::create(builder, loc, value.getResult(), empty).getResult(0);
  }
  return linalg::CopyOp::create(builder, loc, tensor, empty).getResult(0);
}

// Whether what computes an operand elementwise should become part of its user: not where the user would compute it
// again and again, as a contraction would, nor where the result stays and the user would store it again and again.
bool fusesWith(OpOperand *operand) {
  auto user = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!user || !operand->get().hasOneUse())
    return false;
  bool isPermuted = user.getMatchingIndexingMap(operand).isPermutation();
  if (user.getNumReductionLoops() == 0 && isPermuted)
    return true;
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  return (user.getNumReductionLoops() == 0 || isPermuted) &&
         (!producer || !consumer || linalg::getPreservedProducerResults(producer, consumer, operand).empty());
}

class PrepareDispatchPass : public impl::PrepareDispatchBase<PrepareDispatchPass> {
public:
  using PrepareDispatchBase::PrepareDispatchBase;

  LogicalResult initialize(MLIRContext *context) override {
    auto addCommon = [&](RewritePatternSet &set) {
      populateFoldReshapeIntoInterfacePatterns(set);
      populateFoldInterfaceDimPatterns(set);
      tensor::populateFoldTensorEmptyPatterns(set);
      linalg::FillOp::getCanonicalizationPatterns(set, context);
      for (RegisteredOperationName name : context->getRegisteredOperations())
        if (isa<tensor::TensorDialect, affine::AffineDialect>(name.getDialect()))
          name.getCanonicalizationPatterns(set, context);
    };
    RewritePatternSet forming(context);
    addCommon(forming);
    tensor::populateDecomposeTensorConcatPatterns(forming);
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(forming);
    linalg::populateElementwiseOpsFusionPatterns(forming, fusesWith);
    populateDropUnneededInitsPatterns(forming);
    linalg::populateFoldReshapeOpsByExpansionPatterns(forming, [](OpOperand *) { return true; });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(forming);
    linalg::GenericOp::getCanonicalizationPatterns(forming, context);
    formPatterns = {std::move(forming), unsoundPatterns()};

    RewritePatternSet reshaping(context);
    addCommon(reshaping);
    reshapePatterns = {std::move(reshaping), unsoundPatterns()};
    return success();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    IRRewriter rewriter(&getContext());
    // The first operation that can lose loops is the only one there is.
    function.walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::FillOp>(op) || llvm::none_of(op->getUsers(), llvm::IsaPred<linalg::LinalgOp>))
        collapseLoops(rewriter, op);
    });
    rewrite(function, reshapePatterns);
    widenNarrowSums(rewriter, function);
    rewrite(function, formPatterns);
    replaceTensorSources(rewriter, function);
    copyReadOnlyInits(rewriter, function);
    copyStoredSlices(rewriter, function);
  }

private:
  // A fixed point is not needed: each step on the way to it is correct.
  static void rewrite(func::FuncOp function, const FrozenRewritePatternSet &patterns) {
    GreedyRewriteConfig config;
    config.setMaxIterations(8);
    (void)applyPatternsGreedily(function, patterns, config);
  }

  // What makes tensors out of scalars becomes linalg, so that it can be tiled.
  static void replaceTensorSources(RewriterBase &rewriter, func::FuncOp function) {
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa<tensor::GenerateOp, tensor::SplatOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
        (void)linalg::rewriteInDestinationPassingStyle(rewriter, generate);
        continue;
      }
      auto splat = cast<tensor::SplatOp>(op);
      Value empty = tensor::EmptyOp::create(rewriter, op->getLoc(), splat.getType(), splat.getDynamicSizes());
      rewriter.replaceOp(op, linalg::FillOp::create(rewriter, op->getLoc(), splat.getInput(), empty).getResult(0));
    }
  }

  // A dispatch that is one operation, on whole bindings, loses the dimensions that do not matter to it.
  static void collapseLoops(RewriterBase &rewriter, linalg::LinalgOp op) {
    SmallVector<ReassociationIndices> groups = findCollapsibleLoops(op);
    if (groups.empty())
      return;
    rewriter.setInsertionPoint(op);
    if (!isa<linalg::GenericOp, linalg::CopyOp>(op)) {
      FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
      if (failed(generic))
        return;
      op = cast<linalg::LinalgOp>(generic->getOperation());
      rewriter.setInsertionPoint(op);
    }
    FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(op, groups, rewriter);
    if (succeeded(collapsed))
      rewriter.replaceOp(op, collapsed->results);
  }

  // Bufferization does not copy an init for an operation whose body does not read it, though elements of it may be to
  // stay.
  static bool needsCopyByHand(OpOperand &init) {
    auto op = dyn_cast<linalg::LinalgOp>(init.getOwner());
    return op && !op.payloadUsesValueFromOperand(&init) && needsInit(init) && !init.get().hasOneUse();
  }

  // What accumulates into a tensor that it must not write would otherwise get a copy of the whole tensor when it is
  // bufferized; as an operation of its own the copy is tiled and fused.
  static void copyReadOnlyInits(RewriterBase &rewriter, func::FuncOp function) {
    SmallVector<DestinationStyleOpInterface> ops;
    function.walk([&](DestinationStyleOpInterface op) { ops.push_back(op); });
    for (DestinationStyleOpInterface op : ops) {
      for (OpOperand &init : op.getDpsInitsMutable()) {
        if (!isa<RankedTensorType>(init.get().getType()) || !(isReadOnly(init.get()) || needsCopyByHand(init)))
          continue;
        rewriter.setInsertionPoint(op);
        Value fresh = needsInit(init) ? createCopy(rewriter, op.getLoc(), init.get())
                                      : createEmptyLike(rewriter, op.getLoc(), init.get());
        rewriter.modifyOpInPlace(op, [&] { init.set(fresh); });
      }
    }
  }

  // What is stored without being computed becomes a copy, which can be tiled.
  static void copyStoredSlices(RewriterBase &rewriter, func::FuncOp function) {
    SmallVector<OpOperand *> stored;
    function.walk([&](Operation *op) {
      if (auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
        stored.push_back(&store.getSourceMutable());
      else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
        stored.push_back(&insert.getSourceMutable());
    });
    for (OpOperand *operand : stored) {
      Operation *source = operand->get().getDefiningOp();
      // What is computed in another shape is computed where it goes.
      if (isa<tensor::InsertSliceOp>(operand->getOwner()))
        while (isa_and_nonnull<tensor::CollapseShapeOp>(source) && source->hasOneUse() &&
               source->getOperand(0).getDefiningOp<linalg::LinalgOp>())
          source = source->getOperand(0).getDefiningOp();
      bool isView = isa_and_nonnull<bufferization::ToTensorOp, tensor::ExtractSliceOp, tensor::CollapseShapeOp,
                                    tensor::ExpandShapeOp, tensor::CastOp, arith::ConstantOp>(source);
      if (!isView || isInPlaceStore(operand))
        continue;
      rewriter.setInsertionPoint(operand->getOwner());
      Value copy = createCopy(rewriter, operand->getOwner()->getLoc(), operand->get());
      rewriter.modifyOpInPlace(operand->getOwner(), [&] { operand->set(copy); });
    }
  }

  // The tensor of a binding that is stored to the same binding.
  static bool isInPlaceStore(OpOperand *operand) {
    auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(operand->getOwner());
    auto toTensor = operand->get().getDefiningOp<bufferization::ToTensorOp>();
    return store && toTensor && toTensor.getBuffer() == store.getDest();
  }

  FrozenRewritePatternSet formPatterns, reshapePatterns;
};

} // namespace
} // namespace kiln
