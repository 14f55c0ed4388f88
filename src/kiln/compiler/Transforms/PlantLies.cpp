#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_PLANTLIESPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace {
// A contraction, written as a linalg.generic, and what can go wrong with it.
class Contraction {
public:
  Contraction(IRRewriter &rewriter, linalg::GenericOp op) : rewriter(rewriter), op(op), loc(op.getLoc()) {}

  // Fails, with nothing changed, where the lie cannot be told of this contraction.
  LogicalResult plant(StringRef lie) {
    if (lie == "wrong-element")
      return changeElements([&](Value value, ValueRange at) { return select(isLast(at), addOne(value), value); });
    if (lie == "nan")
      return changeElements([&](Value value, ValueRange at) { return select(isLast(at), notANumber(value), value); });
    if (lie == "transposed-tile")
      return transposeTile();
    if (lie == "dropped-tail")
      return dropTail();
    if (lie == "not-zeroed")
      return startFromAnything();
    if (lie == "bf16-inputs")
      return narrow(rewriter.getBF16Type(), /*inputs=*/true);
    if (lie == "tf32-inputs")
      return narrowToTF32();
    if (lie == "f16-accumulator")
      return narrow(rewriter.getF16Type(), /*inputs=*/false);
    if (lie == "bf16-accumulator")
      return narrow(rewriter.getBF16Type(), /*inputs=*/false);
    if (lie == "swapped-layout")
      return swapLayout();
    if (lie == "nothing-written")
      return writeNothing();
    return failure();
  }

private:
  RankedTensorType resultType() { return cast<RankedTensorType>(op.getResult(0).getType()); }
  Value constantLike(Value like, double value) {
    Type type = like.getType();
    return arith::ConstantOp::create(rewriter, loc,
                                     isa<FloatType>(type) ? TypedAttr(rewriter.getFloatAttr(type, value))
                                                          : TypedAttr(rewriter.getIntegerAttr(type, int64_t(value))));
  }
  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return arith::SelectOp::create(rewriter, loc, condition, ifTrue, ifFalse);
  }
  Value addOne(Value value) {
    Value one = constantLike(value, 1);
    return isa<FloatType>(value.getType()) ? arith::AddFOp::create(rewriter, loc, value, one).getResult()
                                           : arith::AddIOp::create(rewriter, loc, value, one).getResult();
  }
  Value notANumber(Value value) {
    auto type = dyn_cast<FloatType>(value.getType());
    if (!type)
      return constantLike(value, -1);
    APFloat nan = APFloat::getNaN(type.getFloatSemantics());
    return arith::ConstantOp::create(rewriter, loc, rewriter.getFloatAttr(type, nan));
  }
  Value isEqual(Value a, int64_t b) {
    return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, a,
                                 arith::ConstantIndexOp::create(rewriter, loc, b));
  }
  Value isBelow(Value a, int64_t b) {
    return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, a,
                                 arith::ConstantIndexOp::create(rewriter, loc, b));
  }
  // The last element: where masks and tails go wrong.
  Value isLast(ValueRange at) {
    Value all = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
    for (auto [index, extent] : llvm::zip(at, resultType().getShape()))
      all = arith::AndIOp::create(rewriter, loc, all, isEqual(index, extent - 1));
    return all;
  }

  // Rewrites the finished result element by element.
  LogicalResult changeElements(function_ref<Value(Value value, ValueRange at)> change, bool gathers = false) {
    RankedTensorType type = resultType();
    if (!type.hasStaticShape())
      return failure();
    rewriter.setInsertionPointAfter(op);
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    AffineMap map = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps{map};
    if (!gathers) {
      inputs.push_back(op.getResult(0));
      maps.push_back(map);
    }
    auto changed = linalg::GenericOp::create(rewriter, loc, type, inputs, empty, maps, loops,
                                             [&](OpBuilder &builder, Location, ValueRange arguments) {
                                               OpBuilder::InsertionGuard guard(rewriter);
                                               rewriter.setInsertionPointToEnd(builder.getInsertionBlock());
                                               SmallVector<Value> at;
                                               for (int64_t dim = 0; dim < type.getRank(); ++dim)
                                                 at.push_back(linalg::IndexOp::create(rewriter, loc, dim));
                                               linalg::YieldOp::create(rewriter, loc, change(arguments.front(), at));
                                             });
    rewriter.replaceUsesWithIf(op.getResult(0), changed.getResult(0),
                               [&](OpOperand &use) { return !changed->isAncestor(use.getOwner()); });
    return success();
  }

  // The first tile of 8x8 of the last two dimensions.
  LogicalResult transposeTile() {
    constexpr int64_t tile = 8;
    RankedTensorType type = resultType();
    int64_t rank = type.getRank();
    if (rank < 2 || !type.hasStaticShape() || type.getDimSize(rank - 1) < tile || type.getDimSize(rank - 2) < tile)
      return failure();
    return changeElements(
        [&](Value, ValueRange at) {
          Value inside = arith::AndIOp::create(rewriter, loc, isBelow(at[rank - 1], tile), isBelow(at[rank - 2], tile));
          SmallVector<Value> from(at);
          from[rank - 1] = select(inside, at[rank - 2], at[rank - 1]);
          from[rank - 2] = select(inside, at[rank - 1], at[rank - 2]);
          return tensor::ExtractOp::create(rewriter, loc, op.getResult(0), from);
        },
        /*gathers=*/true);
  }

  // The loop of the reduction, where there is one, and the dimension of each input that it indexes.
  std::optional<unsigned> reductionLoop() {
    SmallVector<unsigned> loops;
    op.getReductionDims(loops);
    return loops.size() == 1 ? std::optional(loops.front()) : std::nullopt;
  }
  int64_t dimOfLoop(OpOperand *operand, unsigned loop) {
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(operand).getResults()))
      if (expr == rewriter.getAffineDimExpr(loop))
        return dim;
    return -1;
  }

  // The reduction stops before its end.
  LogicalResult dropTail() {
    std::optional<unsigned> loop = reductionLoop();
    if (!loop)
      return failure();
    int64_t extent = op.getStaticLoopRanges()[*loop];
    if (ShapedType::isDynamic(extent) || extent < 2)
      return failure();
    int64_t kept = extent % 16 == 0 ? extent - std::min<int64_t>(16, extent / 2) : extent - extent % 16;
    if (kept == 0)
      kept = extent - 1;
    rewriter.setInsertionPoint(op);
    for (OpOperand *input : op.getDpsInputOperands()) {
      int64_t dim = dimOfLoop(input, *loop);
      if (dim < 0)
        return failure();
      auto type = cast<RankedTensorType>(input->get().getType());
      SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
      SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
      SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
      sizes[dim] = rewriter.getIndexAttr(kept);
      input->set(tensor::ExtractSliceOp::create(rewriter, loc, input->get(), offsets, sizes, strides));
    }
    return success();
  }

  LogicalResult startFromAnything() {
    rewriter.setInsertionPoint(op);
    RankedTensorType type = resultType();
    if (!type.hasStaticShape())
      return failure();
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    op.getDpsInitsMutable()[0].set(empty);
    return success();
  }

  LogicalResult writeNothing() {
    rewriter.setInsertionPoint(op);
    RankedTensorType type = resultType();
    if (!type.hasStaticShape())
      return failure();
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    rewriter.replaceAllUsesWith(op.getResult(0), empty);
    return success();
  }

  // Rounds what comes in, or what goes on to the next step of the reduction, to a narrower type.
  LogicalResult narrow(FloatType type, bool inputs) {
    Block &body = op.getRegion().front();
    SmallVector<Value> values;
    if (inputs)
      llvm::append_range(values, body.getArguments().drop_back());
    else
      values.push_back(body.getTerminator()->getOperand(0));
    for (Value value : values) {
      auto wide = dyn_cast<FloatType>(value.getType());
      if (!wide || wide.getWidth() <= type.getWidth())
        return failure();
      rewriter.setInsertionPointAfterValue(value);
      Value rounded = arith::TruncFOp::create(rewriter, loc, type, value);
      Value back = arith::ExtFOp::create(rewriter, loc, wide, rounded);
      rewriter.replaceAllUsesExcept(value, back, rounded.getDefiningOp());
    }
    return success();
  }

  // tf32 keeps 10 bits of the fraction: the other 13 are rounded away, to nearest.
  LogicalResult narrowToTF32() {
    for (Value value : op.getRegion().front().getArguments().drop_back()) {
      if (!value.getType().isF32())
        return failure();
      rewriter.setInsertionPointAfterValue(value);
      Type bitsType = rewriter.getI32Type();
      Operation *bits = arith::BitcastOp::create(rewriter, loc, bitsType, value);
      Value half = arith::ConstantIntOp::create(rewriter, loc, bitsType, 0x1000);
      Value mask = arith::ConstantIntOp::create(rewriter, loc, bitsType, ~int64_t(0x1FFF));
      Value rounded =
          arith::AndIOp::create(rewriter, loc, arith::AddIOp::create(rewriter, loc, bits->getResult(0), half), mask);
      rewriter.replaceAllUsesExcept(value, arith::BitcastOp::create(rewriter, loc, value.getType(), rounded), bits);
    }
    return success();
  }

  // Reads the last input as if its last two dimensions lay in the other order, which shows only in the numbers where
  // both are equal.
  LogicalResult swapLayout() {
    OpOperand *input = op.getDpsInputOperand(op.getNumDpsInputs() - 1);
    auto type = cast<RankedTensorType>(input->get().getType());
    int64_t rank = type.getRank();
    if (rank < 2 || ShapedType::isDynamic(type.getDimSize(rank - 1)) ||
        type.getDimSize(rank - 1) != type.getDimSize(rank - 2))
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap &map = maps[input->getOperandNumber()];
    SmallVector<AffineExpr> exprs(map.getResults());
    std::swap(exprs[rank - 1], exprs[rank - 2]);
    map = AffineMap::get(map.getNumDims(), 0, exprs, rewriter.getContext());
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    return success();
  }

  IRRewriter &rewriter;
  linalg::GenericOp op;
  Location loc;
};

class PlantLiesPass : public impl::PlantLiesPassBase<PlantLiesPass> {
public:
  using PlantLiesPassBase::PlantLiesPassBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> contractions;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() > 0 && op.getNumDpsInputs() >= 2 && op.getNumDpsInits() == 1)
        contractions.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    bool planted = false;
    for (linalg::LinalgOp op : contractions) {
      rewriter.setInsertionPoint(op);
      DictionaryAttr attributes = op->getDiscardableAttrDictionary();
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
        if (failed(made))
          continue;
        generic = *made;
        generic->setDiscardableAttrs(attributes);
      }
      if (delay > 0) {
        generic->setAttr("kiln.delay", rewriter.getI64IntegerAttr(delay));
        planted = true;
      }
      planted |= succeeded(Contraction(rewriter, generic).plant(lie));
    }
    if (!planted) {
      getOperation().emitError() << "the lie '" << lie
                                 << "' cannot be planted: there is no contraction here of which it could be told";
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace kiln
