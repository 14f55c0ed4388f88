#include "kiln/compiler/Codegen/KeyBlocks.h"

#include "kiln/compiler/Interfaces/SoftmaxProduct.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {
namespace {

// One attention, and the block of keys that is being written.
class Blocks {
public:
  Blocks(RewriterBase &b, SoftmaxProduct softmax) : b(b), softmax(softmax), loc(softmax.result.getLoc()) {}

  void run() {
    b.setInsertionPoint(softmax.result);
    Value extent = tensor::DimOp::create(b, loc, softmax.powers.getDpsInits()[0], softmax.keyLoop());
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), step = arith::ConstantIndexOp::create(b, loc, keysOfBlock);
    SmallVector<Value> start = {softmax.largest.getDpsInits()[0], softmax.sum.getDpsInits()[0],
                                softmax.result.getDpsInits()[0]};
    auto loop = scf::ForOp::create(b, loc, zero, extent, step, start,
                                   [&](OpBuilder &, Location, Value key, ValueRange) { offset = key; });
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      AffineExpr at, end;
      bindDims(b.getContext(), at, end);
      size = affine::makeComposedFoldedAffineMin(
          b, loc, AffineMap::get(2, 0, {end - at, b.getAffineConstantExpr(keysOfBlock)}, b.getContext()),
          {offset, extent});
      scf::YieldOp::create(b, loc, computeBlock(loop.getRegionIterArgs()));
    }
    SmallVector<Operation *> done = {softmax.result, softmax.sum, softmax.powers, softmax.largest};
    llvm::append_range(done, llvm::reverse(softmax.between));
    done.push_back(softmax.scores);
    b.replaceAllUsesWith(softmax.largest.getResult(0), loop.getResult(0));
    b.replaceAllUsesWith(softmax.sum.getResult(0), loop.getResult(1));
    b.replaceAllUsesWith(softmax.result->getResult(0), loop.getResult(2));
    for (Operation *op : done)
      b.eraseOp(op);
  }

private:
  // What is known of rows behind the block, of what was known before it.
  SmallVector<Value> computeBlock(ValueRange known) {
    const unsigned keys = softmax.keyLoop();
    copyOfBlock(softmax.scores, keys, emptyBlock(softmax.scores, keys));
    for (linalg::GenericOp op : softmax.between)
      copyOfBlock(op, keys, emptyBlock(op, keys));
    Value most = copyOfBlock(softmax.largest, keys, fillLike(softmax.largest.getDpsInits()[0]));
    auto [largest, base, factor] = update(known[0], most);
    blocks.map(softmax.largest.getResult(0), base);
    copyOfBlock(softmax.powers, keys, emptyBlock(softmax.powers, keys));
    Value sum = copyOfBlock(softmax.sum, keys, scaled(known[1], factor));
    Value result = copyOfBlock(softmax.result, keys + 1, scaled(known[2], factor));
    return {largest, sum, result};
  }

  // The largest score so far, what the block's powers are of the distance to, and what all before becomes smaller by.
  // A row that has seen nothing yet has no number to take the distance to.
  std::tuple<Value, Value, Value> update(Value before, Value most) {
    auto type = cast<RankedTensorType>(before.getType());
    SmallVector<Value> outs = {before};
    for (int i = 0; i < 2; ++i)
      outs.push_back(tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, before), type.getElementType()));
    AffineMap map = b.getMultiDimIdentityMap(type.getRank());
    Operation *combiner = &softmax.largest.getBody()->front(), *power = nullptr;
    for (Operation &inner : softmax.powers.getBody()->without_terminator())
      if (isa<math::ExpOp, math::Exp2Op>(inner))
        power = &inner;
    // As what is there is computed, with what is promised of it.
    const auto computed = [](OpBuilder &inner, Operation *op, ValueRange operands) {
      Operation *copy = inner.clone(*op);
      copy->setOperands(operands);
      return copy->getResult(0);
    };
    auto op = linalg::GenericOp::create(
        b, loc, ValueRange(outs).getTypes(), most, outs, SmallVector<AffineMap>(4, map),
        SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
        [&](OpBuilder &inner, Location at, ValueRange args) {
          Value largest = computed(inner, combiner, {args[1], args[0]});
          const auto constant = [&](const APFloat &value) {
            return arith::ConstantOp::create(inner, at, inner.getFloatAttr(largest.getType(), value)).getResult();
          };
          const llvm::fltSemantics &semantics = cast<FloatType>(largest.getType()).getFloatSemantics();
          Value isNothing = arith::CmpFOp::create(inner, at, arith::CmpFPredicate::OEQ, largest,
                                                  constant(APFloat::getInf(semantics, /*Negative=*/true)));
          Value base = arith::SelectOp::create(inner, at, isNothing, constant(APFloat::getZero(semantics)), largest);
          Value distance = arith::SubFOp::create(inner, at, args[1], base);
          Value factor = computed(inner, power, distance);
          linalg::YieldOp::create(inner, at, ValueRange{largest, base, factor});
        });
    return {op.getResult(0), op.getResult(1), op.getResult(2)};
  }

  // What was summed up before, times its row's factor.
  Value scaled(Value before, Value factor) {
    const int64_t loops = cast<RankedTensorType>(before.getType()).getRank();
    AffineMap all = b.getMultiDimIdentityMap(loops),
              rows = all.getMajorSubMap(cast<RankedTensorType>(factor.getType()).getRank());
    return linalg::GenericOp::create(b, loc, before.getType(), factor, before, {rows, all},
                                     SmallVector<utils::IteratorType>(loops, utils::IteratorType::parallel),
                                     [](OpBuilder &inner, Location at, ValueRange args) {
                                       Value less = arith::MulFOp::create(inner, at, args[1], args[0]);
                                       linalg::YieldOp::create(inner, at, less);
                                     })
        .getResult(0);
  }

  Value fillLike(Value filled) {
    auto fill = filled.getDefiningOp<linalg::FillOp>();
    Value empty =
        tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, filled), getElementTypeOrSelf(filled.getType()));
    return linalg::FillOp::create(b, loc, fill.getInputs()[0], empty).getResult(0);
  }

  Value emptyBlock(linalg::LinalgOp op, unsigned dim) {
    Value init = op.getDpsInits()[0];
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, init);
    sizes[dim] = size;
    Value empty = tensor::EmptyOp::create(b, loc, sizes, getElementTypeOrSelf(init.getType()));
    auto fill = init.getDefiningOp<linalg::FillOp>();
    return fill ? linalg::FillOp::create(b, loc, fill.getInputs()[0], empty).getResult(0) : empty;
  }

  // The part of an operand that belongs to the block, if it has keys.
  Value partOf(Value operand, AffineMap map, unsigned loop) {
    if (Value block = blocks.lookupOrNull(operand))
      return block;
    std::optional<unsigned> dim = map.getResultPosition(b.getAffineDimExpr(loop));
    if (!dim || !isa<RankedTensorType>(operand.getType()))
      return operand;
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, operand), offsets(sizes.size(), b.getIndexAttr(0)),
                              strides(sizes.size(), b.getIndexAttr(1));
    offsets[*dim] = offset;
    sizes[*dim] = size;
    return tensor::ExtractSliceOp::create(b, loc, operand, offsets, sizes, strides);
  }

  Value copyOfBlock(linalg::LinalgOp op, unsigned loop, Value init) {
    SmallVector<Value> operands;
    for (OpOperand *input : op.getDpsInputOperands())
      operands.push_back(partOf(input->get(), op.getMatchingIndexingMap(input), loop));
    operands.push_back(init);
    auto copy = cast<linalg::LinalgOp>(mlir::clone(b, op, init.getType(), operands));
    SmallVector<OpFoldResult> offsets(op.getNumLoops(), b.getIndexAttr(0));
    offsets[loop] = offset;
    linalg::offsetIndices(b, copy, offsets);
    blocks.map(op->getResult(0), copy->getResult(0));
    return copy->getResult(0);
  }

  RewriterBase &b;
  SoftmaxProduct softmax;
  Location loc;
  Value offset;
  OpFoldResult size;
  IRMapping blocks;
};

std::optional<SoftmaxProduct> findInBlocks(linalg::LinalgOp product) {
  if (!linalg::isaContractionOpInterface(product) || product.getNumDpsInputs() != 2)
    return std::nullopt;
  std::optional<SoftmaxProduct> softmax = SoftmaxProduct::of(product, product.getDpsInputs()[0]);
  if (!softmax)
    return std::nullopt;
  const int64_t keys = softmax->powers.getStaticLoopRanges().back();
  return ShapedType::isDynamic(keys) || keys > mostKeysAtOnce ? softmax : std::nullopt;
}

} // namespace

bool isDoneInBlocks(linalg::LinalgOp product) {
  return findInBlocks(product).has_value();
}

bool doInBlocks(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<SoftmaxProduct> found;
  function.walk([&](linalg::LinalgOp op) {
    if (std::optional<SoftmaxProduct> softmax = findInBlocks(op))
      found.push_back(*softmax);
  });
  for (SoftmaxProduct &softmax : found)
    Blocks(rewriter, softmax).run();
  return !found.empty();
}

} // namespace kiln
