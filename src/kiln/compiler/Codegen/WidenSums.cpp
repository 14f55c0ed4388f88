#include "kiln/compiler/Codegen/WidenSums.h"

#include "kiln/compiler/Codegen/Combiner.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {

static bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

// An elementwise conversion of a tensor to elements of another type.
static Value convert(OpBuilder &builder, Location loc, Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, tensor), element);
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  bool wider = element.getIntOrFloatBitWidth() > type.getElementType().getIntOrFloatBitWidth();
  auto generic = linalg::GenericOp::create(
      builder, loc, empty.getType(), tensor, empty, ArrayRef<AffineMap>{map, map}, loops,
      [&](OpBuilder &inner, Location innerLoc, ValueRange arguments) {
        Value value = wider ? arith::ExtFOp::create(inner, innerLoc, element, arguments[0]).getResult()
                            : arith::TruncFOp::create(inner, innerLoc, element, arguments[0]).getResult();
        linalg::YieldOp::create(inner, innerLoc, value);
      });
  return generic.getResult(0);
}

static Value widenInit(OpBuilder &builder, Location loc, Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return convert(builder, loc, init, builder.getF32Type());
  Value value = arith::ExtFOp::create(builder, loc, builder.getF32Type(), fill.value());
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, init), builder.getF32Type());
  return linalg::FillOp::create(builder, loc, value, empty).getResult(0);
}

static void widen(RewriterBase &rewriter, linalg::LinalgOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Type wide = rewriter.getF32Type();
  Operation *sum = findCombiner(op, 0);
  Value wideInit = widenInit(rewriter, loc, op.getDpsInits()[0]);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, wideInit.getType(), op.getDpsInputs(), wideInit, op.getIndexingMapsArray(),
      op.getIteratorTypesArray(), [&](OpBuilder &builder, Location innerLoc, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(op.getBlock()->getArguments(), arguments);
        auto extend = [&](Value narrow) -> Value {
          return arith::ExtFOp::create(builder, innerLoc, wide, mapping.lookupOrDefault(narrow));
        };
        Value init = op.getBlock()->getArguments().back();
        Value term = sum->getOperand(0) == init ? sum->getOperand(1) : sum->getOperand(0);
        auto product = term.getDefiningOp<arith::MulFOp>();
        if (product && (!product->hasOneUse() || product->getBlock() != op.getBlock()))
          product = {};
        for (Operation &inner : op.getBlock()->without_terminator())
          if (&inner != sum && &inner != product)
            builder.clone(inner, mapping);
        Value wideTerm =
            product ? arith::MulFOp::create(builder, innerLoc, extend(product.getLhs()), extend(product.getRhs()))
                          .getResult()
                    : extend(term);
        Value total = arith::AddFOp::create(builder, innerLoc, arguments.back(), wideTerm);
        linalg::YieldOp::create(builder, innerLoc, total);
      });
  Type narrow = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  rewriter.replaceOp(op, convert(rewriter, loc, generic.getResult(0), narrow));
}

void widenNarrowSums(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() != 0 && op.getNumDpsInits() == 1 && op.hasPureTensorSemantics() &&
        isNarrow(op.getDpsInits()[0].getType()) && isa_and_nonnull<arith::AddFOp>(findCombiner(op, 0)))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops)
    widen(rewriter, op);
}

} // namespace kiln
