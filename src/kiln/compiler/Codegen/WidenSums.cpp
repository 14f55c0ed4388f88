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

// An elementwise conversion of tensors of one shape to elements of other types.
static ResultRange convert(OpBuilder &builder, Location loc, ArrayRef<Value> tensors, ArrayRef<Type> elements) {
  SmallVector<Value> empties;
  for (auto [tensor, element] : llvm::zip_equal(tensors, elements))
    empties.push_back(
        tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, tensors.front()), element));
  int64_t rank = cast<RankedTensorType>(tensors.front().getType()).getRank();
  SmallVector<AffineMap> maps(2 * tensors.size(), builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, ValueRange(empties).getTypes(), tensors, empties, maps, loops,
      [&](OpBuilder &inner, Location innerLoc, ValueRange arguments) {
        SmallVector<Value> converted;
        for (auto [value, element] : llvm::zip(arguments, elements)) {
          bool wider = element.getIntOrFloatBitWidth() > value.getType().getIntOrFloatBitWidth();
          converted.push_back(wider ? arith::ExtFOp::create(inner, innerLoc, element, value).getResult()
                                    : arith::TruncFOp::create(inner, innerLoc, element, value).getResult());
        }
        linalg::YieldOp::create(inner, innerLoc, converted);
      });
  return generic.getResults();
}

static Value widenInit(OpBuilder &builder, Location loc, Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return convert(builder, loc, init, {builder.getF32Type()}).front();
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

// Takes sums back to the types that they had. Those of one shape together: each operation that ends a dispatch gets
// loops of its own over the tiles, which would compute the reduction once more.
static void narrow(OpBuilder &builder, linalg::LinalgOp op, ArrayRef<unsigned> sums, MutableArrayRef<Value> results) {
  llvm::MapVector<AffineMap, SmallVector<unsigned>> alike;
  for (unsigned index : sums)
    alike[op.getMatchingIndexingMap(op.getDpsInitOperand(index))].push_back(index);
  for (auto &[map, indices] : alike) {
    SmallVector<Value> wide;
    SmallVector<Type> elements;
    for (unsigned index : indices) {
      wide.push_back(results[index]);
      elements.push_back(getElementTypeOrSelf(op.getDpsInits()[index].getType()));
    }
    for (auto [index, value] : llvm::zip(indices, convert(builder, op.getLoc(), wide, elements)))
      results[index] = value;
  }
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
  narrow(rewriter, op, sums, results);
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
