#include "kiln/compiler/TransformOps/DispatchBufferization.h"
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_PREPAREDISPATCH
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h.inc"

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

// Adjacent loops that every operand has side by side, or does not have; what is one loop for all of them can be one loop.
SmallVector<ReassociationIndices> findCollapsibleLoops(linalg::LinalgOp op) {
  auto kinds = op.getIteratorTypesArray();
  SmallVector<ReassociationIndices> groups;
  auto areOne = [&](unsigned first, unsigned second) {
    return kinds[first] == kinds[second] && llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
             std::optional<unsigned> a = map.getResultPosition(getAffineDimExpr(first, op.getContext()));
             std::optional<unsigned> b = map.getResultPosition(getAffineDimExpr(second, op.getContext()));
             return map.isProjectedPermutation() && (a && b ? *b == *a + 1 : !a && !b);
           });
  };
  for (unsigned loop = 0; loop < kinds.size(); ++loop) {
    if (loop > 0 && areOne(loop - 1, loop))
      groups.back().push_back(loop);
    else
      groups.push_back({loop});
  }
  return groups;
}

// Whether the reshapes that collapsing puts on the operands become part of the bindings' types.
bool canReshape(linalg::LinalgOp op) {
  for (Value operand : op->getOperands()) {
    if (!isa<ShapedType>(operand.getType()))
      continue;
    Operation *source = operand.getDefiningOp();
    if (auto fill = dyn_cast_or_null<linalg::FillOp>(source))
      source = fill.output().getDefiningOp();
    auto toTensor = dyn_cast_or_null<bufferization::ToTensorOp>(source);
    bool reshapes = toTensor && toTensor.getBuffer().getDefiningOp<HAL::InterfaceBindingSubspanOp>() &&
                    (!toTensor.getWritable() || toTensor->hasOneUse());
    if (!reshapes && !isa_and_nonnull<tensor::EmptyOp>(source))
      return false;
  }
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(user);
    return store && store.getDest().getDefiningOp<HAL::InterfaceBindingSubspanOp>();
  });
}

class PrepareDispatchPass : public impl::PrepareDispatchBase<PrepareDispatchPass> {
public:
  using PrepareDispatchBase::PrepareDispatchBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet forms(context);
    populateFoldReshapeIntoInterfacePatterns(forms);
    populateFoldInterfaceDimPatterns(forms);
    tensor::populateDecomposeTensorConcatPatterns(forms);
    tensor::populateFoldTensorEmptyPatterns(forms);
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(forms);
    linalg::populateElementwiseOpsFusionPatterns(
        forms, [](OpOperand *operand) { return operand->get().hasOneUse() && !isReadOnly(operand->get()); });
    linalg::populateFoldReshapeOpsByExpansionPatterns(forms, [](OpOperand *) { return true; });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(forms);
    linalg::FillOp::getCanonicalizationPatterns(forms, context);
    linalg::GenericOp::getCanonicalizationPatterns(forms, context);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (isa<tensor::TensorDialect>(name.getDialect()) || name.getStringRef().starts_with("affine."))
        name.getCanonicalizationPatterns(forms, context);
    patterns = std::move(forms);
    return success();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    IRRewriter rewriter(&getContext());
    if (failed(decomposeAggregates(rewriter, function)) || failed(rewriteForms(function)))
      return signalPassFailure();
    replaceTensorSources(rewriter, function);
    collapseLoops(rewriter, function);
    if (failed(rewriteForms(function)))
      return signalPassFailure();
    copyReadOnlyInits(rewriter, function);
    copyStoredSlices(rewriter, function);
  }

private:
  LogicalResult rewriteForms(func::FuncOp function) {
    // Stops where a fixed point is not reached; every step on the way is correct.
    GreedyRewriteConfig config;
    config.setMaxIterations(8);
    (void)applyPatternsGreedily(function, patterns, config);
    return success();
  }

  static LogicalResult decomposeAggregates(RewriterBase &rewriter, func::FuncOp function) {
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa<linalg::AggregatedOpInterface, linalg::PackOp, linalg::UnPackOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      if (auto pack = dyn_cast<linalg::PackOp>(op)) {
        if (failed(linalg::lowerPack(rewriter, pack)))
          return pack.emitOpError("cannot be lowered to padding, reshapes and transposes");
        continue;
      }
      if (auto unpack = dyn_cast<linalg::UnPackOp>(op)) {
        if (failed(linalg::lowerUnPack(rewriter, unpack)))
          return unpack.emitOpError("cannot be lowered to transposes, reshapes and slices");
        continue;
      }
      FailureOr<SmallVector<Value>> parts = cast<linalg::AggregatedOpInterface>(op).decomposeOperation(rewriter);
      if (failed(parts))
        return op->emitOpError("cannot be decomposed into simpler operations");
      rewriter.replaceOp(op, *parts);
    }
    return success();
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
  static void collapseLoops(RewriterBase &rewriter, func::FuncOp function) {
    SmallVector<linalg::LinalgOp> ops;
    function.walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::FillOp>(op) || isa<bufferization::MaterializeInDestinationOp>(*op->user_begin()))
        ops.push_back(op);
    });
    if (ops.size() != 1 || ops[0].hasIndexSemantics() || !ops[0].hasPureTensorSemantics() || !canReshape(ops[0]))
      return;
    SmallVector<ReassociationIndices> groups = findCollapsibleLoops(ops[0]);
    if (groups.size() == ops[0].getNumLoops())
      return;
    linalg::LinalgOp op = ops[0];
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

  // What accumulates into a tensor that it must not write would otherwise get a copy of the whole tensor when it is
  // bufferized; as an operation of its own the copy is tiled and fused.
  static void copyReadOnlyInits(RewriterBase &rewriter, func::FuncOp function) {
    SmallVector<DestinationStyleOpInterface> ops;
    function.walk([&](DestinationStyleOpInterface op) { ops.push_back(op); });
    for (DestinationStyleOpInterface op : ops) {
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op.getOperation());
      for (OpOperand &init : op.getDpsInitsMutable()) {
        if (!isa<RankedTensorType>(init.get().getType()) || !isReadOnly(init.get()))
          continue;
        rewriter.setInsertionPoint(op);
        bool isRead = !linalgOp || linalgOp.payloadUsesValueFromOperand(&init);
        Value fresh = isRead ? createCopy(rewriter, op.getLoc(), init.get())
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

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace kiln
