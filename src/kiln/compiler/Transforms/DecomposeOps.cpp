#include "kiln/compiler/Transforms/TensorOps.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_DECOMPOSEOPSPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

// A change of shape of a tensor without elements. What MLIR folds two of them to, where one undoes the other, has the
// extents of the first if their products say so, which they do not where one is 0.
static bool reshapesNothing(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) &&
         llvm::is_contained(cast<RankedTensorType>(op->getResult(0).getType()).getShape(), 0);
}

namespace {
class DecomposeOpsPass : public impl::DecomposeOpsPassBase<DecomposeOpsPass> {
public:
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isAggregate(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops)
      if (failed(decomposeAggregate(rewriter, op)))
        return signalPassFailure();
  }

  static LogicalResult decompose(RewriterBase &rewriter, Operation *op) {
    if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
      unifyTypes(rewriter, softmax);
    if (auto pack = dyn_cast<linalg::PackOp>(op); pack && hasDynamicTiles(pack))
      return rewriter.replaceOp(op, packByIndex(rewriter, pack)), success();
    if (auto unpack = dyn_cast<linalg::UnPackOp>(op); unpack && hasDynamicTiles(unpack))
      return rewriter.replaceOp(op, unpackByIndex(rewriter, unpack)), success();
    // Upstream's lowerings replace the op themselves.
    if (auto pack = dyn_cast<linalg::PackOp>(op))
      return dropIfIdentity(rewriter, linalg::lowerPack(rewriter, pack));
    if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
      // Upstream's short form for a single tile takes each dimension to be tiled.
      return dropIfIdentity(rewriter,
                            linalg::lowerUnPack(rewriter, unpack,
                                                /*lowerUnpadLikeWithExtractSlice=*/unpack.getMixedTiles().size() ==
                                                    static_cast<size_t>(unpack.getDestType().getRank())));
    if (reshapesNothing(op))
      return rewriter.replaceOp(op, emptyOf(rewriter, op)), success();
    auto concat = dyn_cast<tensor::ConcatOp>(op);
    FailureOr<SmallVector<Value>> parts = concat ? decomposeConcat(rewriter, concat)
                                                 : cast<linalg::AggregatedOpInterface>(op).decomposeOperation(rewriter);
    if (succeeded(parts))
      rewriter.replaceOp(op, *parts);
    return parts;
  }

private:
  // A transpose of what was lowered that leaves all in its place: where its result is cast, it would fold into a value
  // of another type.
  template <typename Lowered> static LogicalResult dropIfIdentity(RewriterBase &rewriter, FailureOr<Lowered> lowered) {
    if (succeeded(lowered) && lowered->transposeOp && isIdentityPermutation(lowered->transposeOp.getPermutation()) &&
        lowered->transposeOp.getInput().getType() == lowered->transposeOp.getInit().getType())
      rewriter.replaceOp(lowered->transposeOp, lowered->transposeOp.getInput());
    return lowered;
  }

  // A tensor without elements, of the extents of the result of a change of shape.
  static Value emptyOf(RewriterBase &rewriter, Operation *op) {
    Location loc = op->getLoc();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<OpFoldResult> extents;
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      extents = expand.getMixedOutputShape();
    } else {
      auto collapse = cast<tensor::CollapseShapeOp>(op);
      SmallVector<OpFoldResult> source = tensor::getMixedSizes(rewriter, loc, collapse.getSrc());
      for (auto [extent, group] : llvm::zip(type.getShape(), collapse.getReassociationIndices())) {
        if (!ShapedType::isDynamic(extent)) {
          extents.push_back(rewriter.getIndexAttr(extent));
          continue;
        }
        Value product = getValueOrCreateConstantIndexOp(rewriter, loc, source[group.front()]);
        for (int64_t dim : llvm::drop_begin(group))
          product = arith::MulIOp::create(rewriter, loc, product,
                                          getValueOrCreateConstantIndexOp(rewriter, loc, source[dim]));
        extents.push_back(product);
      }
    }
    return tensor::EmptyOp::create(rewriter, loc, extents, type.getElementType(), type.getEncoding());
  }

  // Whether it is known that a tensor has no elements along a dimension, or an earlier form of it.
  static bool isEmptyAlong(Value tensor, int64_t dim) {
    for (; tensor;
         tensor = tensor.getDefiningOp<tensor::CastOp>() ? tensor.getDefiningOp<tensor::CastOp>().getSource() : Value())
      if (cast<RankedTensorType>(tensor.getType()).getDimSize(dim) == 0)
        return true;
    return false;
  }

  // Parts without elements have no place in the result: a slice must not start where a tensor ends. With a part that
  // has no elements along another dimension, the result has none.
  static FailureOr<SmallVector<Value>> decomposeConcat(RewriterBase &rewriter, tensor::ConcatOp op) {
    const auto along = static_cast<int64_t>(op.getDim());
    SmallVector<Value> parts =
        llvm::filter_to_vector(op.getInputs(), [&](Value part) { return !isEmptyAlong(part, along); });
    bool isEmpty = llvm::any_of(op.getInputs(), [&](Value part) {
      return llvm::any_of(llvm::seq<int64_t>(op.getRank()),
                          [&](int64_t dim) { return dim != along && isEmptyAlong(part, dim); });
    });
    if (parts.size() == op.getInputs().size() && !isEmpty)
      return op.decomposeOperation(rewriter);
    if (!parts.empty() && !isEmpty) {
      auto rest = tensor::ConcatOp::create(rewriter, op.getLoc(), op.getResultType(), op.getDim(), parts);
      FailureOr<SmallVector<Value>> decomposed = rest.decomposeOperation(rewriter);
      rewriter.eraseOp(rest);
      return decomposed;
    }
    ReifiedRankedShapedTypeDims shapes;
    if (failed(op.reifyResultShapes(rewriter, shapes)))
      return failure();
    Type element = op.getResultType().getElementType();
    return SmallVector<Value>{tensor::EmptyOp::create(rewriter, op.getLoc(), shapes[0], element)};
  }

  // A generic that computes each element of `init` from its indices.
  static Value generate(RewriterBase &rewriter, Location loc, Value init,
                        function_ref<Value(OpBuilder &, ValueRange)> element) {
    int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    return linalg::GenericOp::create(rewriter, loc, init.getType(), ValueRange(), init,
                                     rewriter.getMultiDimIdentityMap(rank), loops,
                                     [&](OpBuilder &b, Location at, ValueRange) {
                                       SmallVector<Value> indices;
                                       for (int64_t dim = 0; dim < rank; ++dim)
                                         indices.push_back(linalg::IndexOp::create(b, at, dim));
                                       linalg::YieldOp::create(b, at, element(b, indices));
                                     })
        .getResult(0);
  }

  // Where dimension `dim` of the plain tensor is among the outer dimensions of the tiled one.
  static int64_t outerPlace(ArrayRef<int64_t> permutation, int64_t dim) {
    return permutation.empty() ? dim : llvm::find(permutation, dim) - permutation.begin();
  }

  template <typename Op> static bool hasDynamicTiles(Op op) {
    return llvm::any_of(op.getMixedTiles(), [](OpFoldResult tile) { return !getConstantIntValue(tile); });
  }

  // Tiles whose size only the call knows: each element of the result is fetched from where it was.
  static Value packByIndex(RewriterBase &rewriter, linalg::PackOp op) {
    Location loc = op.getLoc();
    Value source = op.getSource();
    int64_t rank = op.getSourceRank();
    SmallVector<Value> tiles, extents;
    for (OpFoldResult tile : op.getMixedTiles())
      tiles.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, tile));
    for (OpFoldResult extent : tensor::getMixedSizes(rewriter, loc, source))
      extents.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, extent));
    return generate(rewriter, loc, op.getDest(), [&](OpBuilder &b, ValueRange indices) {
      Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
      Value isInside = arith::ConstantIntOp::create(b, loc, 1, 1);
      SmallVector<Value> from;
      for (int64_t dim = 0; dim < rank; ++dim) {
        Value index = indices[outerPlace(op.getOuterDimsPerm(), dim)];
        auto tiled = llvm::find(op.getInnerDimsPos(), dim);
        if (tiled != op.getInnerDimsPos().end()) {
          int64_t tile = tiled - op.getInnerDimsPos().begin();
          index = arith::MulIOp::create(b, loc, index, tiles[tile]);
          index = arith::AddIOp::create(b, loc, index, indices[rank + tile]);
        }
        Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, extents[dim]);
        isInside = arith::AndIOp::create(b, loc, isInside, fits);
        Value last = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, extents[dim], one), zero);
        from.push_back(arith::MinUIOp::create(b, loc, index, last));
      }
      Value element = tensor::ExtractOp::create(b, loc, source, from);
      if (Value padding = op.getPaddingValue())
        element = arith::SelectOp::create(b, loc, isInside, element, padding);
      return element;
    });
  }

  static Value unpackByIndex(RewriterBase &rewriter, linalg::UnPackOp op) {
    Location loc = op.getLoc();
    int64_t rank = op.getDestRank();
    SmallVector<Value> tiles;
    for (OpFoldResult tile : op.getMixedTiles())
      tiles.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, tile));
    return generate(rewriter, loc, op.getDest(), [&](OpBuilder &b, ValueRange indices) {
      SmallVector<Value> from(op.getSourceRank());
      for (int64_t dim = 0; dim < rank; ++dim) {
        Value outer = indices[dim];
        auto tiled = llvm::find(op.getInnerDimsPos(), dim);
        if (tiled != op.getInnerDimsPos().end()) {
          int64_t tile = tiled - op.getInnerDimsPos().begin();
          from[rank + tile] = arith::RemUIOp::create(b, loc, outer, tiles[tile]);
          outer = arith::DivUIOp::create(b, loc, outer, tiles[tile]);
        }
        from[outerPlace(op.getOuterDimsPerm(), dim)] = outer;
      }
      return tensor::ExtractOp::create(b, loc, op.getSource(), from).getResult();
    });
  }

  // Upstream takes the input and the output of a softmax to be of one type, and does not say so: each may know extents
  // that the other does not.
  static void unifyTypes(RewriterBase &rewriter, linalg::SoftmaxOp op) {
    ShapedType input = op.getInputOperandType(), output = op.getOutputOperandType();
    SmallVector<int64_t> shape(input.getShape());
    for (auto [extent, other] : llvm::zip(shape, output.getShape()))
      extent = ShapedType::isDynamic(extent) ? other : extent;
    Type type = input.clone(shape);
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getType() != type)
        operand.set(tensor::CastOp::create(rewriter, op.getLoc(), type, operand.get()));
    Value result = op->getResult(0);
    if (result.getType() == type)
      return;
    rewriter.setInsertionPointAfter(op);
    auto cast = tensor::CastOp::create(rewriter, op.getLoc(), result.getType(), result);
    result.replaceAllUsesExcept(cast, cast);
    result.setType(type);
    rewriter.setInsertionPoint(op);
  }
};
} // namespace

bool isAggregate(Operation *op) {
  bool isOnMemory = op->getNumResults() == 0;
  return (isa<linalg::AggregatedOpInterface, linalg::PackOp, linalg::UnPackOp, tensor::ConcatOp>(op) && !isOnMemory) ||
         reshapesNothing(op);
}

LogicalResult decomposeAggregate(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  if (succeeded(DecomposeOpsPass::decompose(rewriter, op)))
    return success();
  return op->emitError() << "'" << op->getName()
                         << "' of this form is not supported; write it as the ops that it stands for";
}
} // namespace kiln
