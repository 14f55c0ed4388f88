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

// What adds to init `index`, if that is a sum of narrow floats.
static Operation *findNarrowSum(linalg::LinalgOp op, unsigned index) {
  if (!isNarrow(op.getDpsInits()[index].getType()))
    return nullptr;
  return dyn_cast_or_null<arith::AddFOp>(findCombiner(op, index));
}

static Value termOf(linalg::LinalgOp op, unsigned index) {
  Operation *sum = findNarrowSum(op, index);
  BlockArgument init = op.getBlock()->getArgument(op.getNumDpsInputs() + index);
  return sum->getOperand(sum->getOperand(0) == init ? 1 : 0);
}

// The product that is the term of a sum, and nothing else uses.
static arith::MulFOp findProduct(linalg::LinalgOp op, unsigned index) {
  auto product = termOf(op, index).getDefiningOp<arith::MulFOp>();
  return product && product->hasOneUse() && product->getBlock() == op.getBlock() ? product : arith::MulFOp();
}

static void widen(RewriterBase &rewriter, linalg::LinalgOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inits(op.getDpsInits());
  SmallVector<unsigned> sums;
  llvm::SmallPtrSet<Operation *, 4> replaced;
  for (auto [index, init] : llvm::enumerate(inits)) {
    Operation *sum = findNarrowSum(op, index);
    if (!sum)
      continue;
    sums.push_back(index);
    replaced.insert(sum);
    if (arith::MulFOp product = findProduct(op, index))
      replaced.insert(product);
    init = widenInit(rewriter, loc, init);
  }
  auto generic = linalg::GenericOp::create(
      rewriter, loc, ValueRange(inits).getTypes(), op.getDpsInputs(), inits, op.getIndexingMapsArray(),
      op.getIteratorTypesArray(), [&](OpBuilder &builder, Location innerLoc, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(op.getBlock()->getArguments(), arguments);
        auto extend = [&](Value narrow) -> Value {
          return arith::ExtFOp::create(builder, innerLoc, builder.getF32Type(), mapping.lookupOrDefault(narrow));
        };
        for (Operation &inner : op.getBlock()->without_terminator())
          if (!replaced.contains(&inner))
            builder.clone(inner, mapping);
        for (unsigned index : sums) {
          arith::MulFOp product = findProduct(op, index);
          Value term =
              product ? arith::MulFOp::create(builder, innerLoc, extend(product.getLhs()), extend(product.getRhs()))
                            .getResult()
                      : extend(termOf(op, index));
          Value total = arith::AddFOp::create(builder, innerLoc, arguments[op.getNumDpsInputs() + index], term);
          mapping.map(findNarrowSum(op, index)->getResult(0), total);
        }
        SmallVector<Value> yielded;
        for (Value value : op.getBlock()->getTerminator()->getOperands())
          yielded.push_back(mapping.lookupOrDefault(value));
        linalg::YieldOp::create(builder, innerLoc, yielded);
      });
  SmallVector<Value> results(generic.getResults());
  for (unsigned index : sums)
    results[index] = convert(rewriter, loc, results[index], getElementTypeOrSelf(op.getDpsInits()[index].getType()));
  rewriter.replaceOp(op, results);
}

void widenNarrowSums(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) {
    auto isNarrowSum = [&](unsigned index) { return findNarrowSum(op, index) != nullptr; };
    if (op.getNumReductionLoops() != 0 && op.hasPureTensorSemantics() &&
        llvm::any_of(llvm::seq<unsigned>(op.getNumDpsInits()), isNarrowSum))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops)
    widen(rewriter, op);
}

} // namespace kiln
