#include "kiln/compiler/Dialect/Flow/Transforms/ElementwiseFusion.h"

#include "kiln/compiler/Interfaces/LoopSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::Flow {

std::optional<int64_t> countUses(linalg::LinalgOp consumer, OpOperand *input) {
  AffineMap map = consumer.getMatchingIndexingMap(input);
  int64_t uses = 1;
  for (auto [loop, extent] : llvm::enumerate(consumer.getStaticLoopRanges()))
    if (!map.isFunctionOfDim(loop) && (ShapedType::isDynamic(extent) || llvm::MulOverflow(uses, extent, uses)))
      return std::nullopt;
  return uses;
}

// Whether each element of the producer's result is computed once where it is used, if it does not go away there: it
// stays where the producer updates its output, or where it alone says how far loops go.
static bool keepsResultWhole(Operation *producer, OpOperand *operand) {
  auto from = dyn_cast<linalg::GenericOp>(producer);
  auto to = dyn_cast<linalg::GenericOp>(operand->getOwner());
  return !from || !to || linalg::getPreservedProducerResults(from, to, operand).empty() ||
         (to.getNumReductionLoops() == 0 && to.getMatchingIndexingMap(operand).isPermutation());
}

static int64_t bitsOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}

bool isComputedAgain(OpOperand *operand, const DispatchLimits &limits) {
  auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!producer || !consumer || producer.getNumReductionLoops() != 0 || !consumer.isDpsInput(operand) ||
      consumer.getMatchingIndexingMap(operand).isPermutation())
    return false;
  // The small input of a product of few rows is used for each of its columns.
  // A convolution uses an element for each place of its filter besides.
  auto isPlain = [](AffineMap map) { return map.isProjectedPermutation(); };
  int64_t mostUses = kManyUses - 1;
  if (isLikeLargeProduct(consumer))
    mostUses = llvm::all_of(consumer.getIndexingMapsArray(), isPlain) ? limits.mostUses : 0;
  if (!isLikeProduct(consumer) || countUses(consumer, operand).value_or(kManyUses) <= mostUses)
    return false;
  bool isMoved = llvm::all_of(producer.getBlock()->without_terminator(),
                              llvm::IsaPred<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>);
  int64_t bits = bitsOf(operand->get().getType());
  bool isWider = bits >= 32 && producer.getNumDpsInputs() != 0 &&
                 llvm::all_of(producer.getDpsInputs(), [&](Value input) { return bitsOf(input.getType()) < bits; });
  return !isMoved && !isWider;
}

// Whether a value is what an operation reduces rows to, also with other dimensions of one element.
static bool isOfRows(Value value) {
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  return op && op.getNumReductionLoops() != 0 && op.getNumDpsInputs() == 1;
}

// Whether a value is computed of elements and what their rows were reduced to, as weights of a softmax are.
static bool isComputedOfRows(Value value) {
  constexpr int mostOps = 8;
  for (int count = 0; count < mostOps; ++count) {
    auto op = value.getDefiningOp<linalg::LinalgOp>();
    if (!op || op.getNumReductionLoops() != 0 || op.getNumDpsInputs() == 0)
      return false;
    if (llvm::any_of(op.getDpsInputs(), isOfRows))
      return true;
    value = op.getDpsInputs()[0];
  }
  return false;
}

// Whether an operand is weights of an attention, which are better kept for the product than computed in it, or what is
// computed before others share it.
static bool isBetterKept(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!producer || !consumer)
    return false;
  const auto computesNothing = [](linalg::LinalgOp op) { return llvm::range_size(*op.getBlock()) == 1; };
  if (consumer.getNumReductionLoops() == 0)
    return computesNothing(consumer) && !computesNothing(producer) &&
           consumer.getMatchingIndexingMap(operand).getNumResults() < consumer.getNumLoops();
  // A product that reads a part of another tensor is none that others are looked for beside.
  const bool isPart =
      linalg::isaContractionOpInterface(consumer) && llvm::any_of(producer.getIndexingMapsArray(), [](AffineMap map) {
        return llvm::any_of(map.getResults(), llvm::IsaPred<AffineConstantExpr>);
      });
  return consumer.getNumParallelLoops() >= 3 &&
         (isPart || (isLikeProduct(consumer) && isComputedOfRows(operand->get())));
}

bool canTakeIn(OpOperand *operand, const DispatchLimits &limits) {
  Operation *producer = operand->get().getDefiningOp(), *consumer = operand->getOwner();
  return producer && !(limits.keptRowBytes != 0 && isBetterKept(operand)) && producer->hasOneUse() &&
         producer->getBlock() == consumer->getBlock() && keepsResultWhole(producer, operand) &&
         !isComputedAgain(operand, limits) &&
         producer->getNumOperands() + consumer->getNumOperands() <= limits.mostOperands;
}

bool takesInFactor(linalg::LinalgOp product, const DispatchLimits &limits) {
  if (!linalg::isaContractionOpInterface(product) || !product.hasPureTensorSemantics() ||
      !product->getDiscardableAttrDictionary().empty())
    return false;
  return llvm::any_of(product.getDpsInputOperands(), [&](OpOperand *input) {
    auto producer = input->get().getDefiningOp<linalg::LinalgOp>();
    return producer && !isa<linalg::FillOp>(producer) && producer.getNumReductionLoops() == 0 &&
           countUses(product, input).value_or(kManyUses) <= limits.mostUses && canTakeIn(input, limits);
  });
}

void dropBroadcastDims(IRRewriter &rewriter, linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics())
    return;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> inputs(op.getDpsInputs());
  bool isChanged = false;
  for (auto [input, map] : llvm::zip(inputs, maps)) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (!type || map.isPermutation())
      continue;
    // Of a loop of one turn, whose extent the result still says, there is none either; but beside the next loop's it
    // becomes one with that where loops are collapsed.
    const auto isLoopOfOne = [&](int64_t dim) {
      auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
      if (!loop || extents[loop.getPosition()] != 1 || op.getNumReductionLoops() != 0 || isOfRows(input))
        return false;
      return dim + 1 == type.getRank() || map.getResult(dim + 1) != rewriter.getAffineDimExpr(loop.getPosition() + 1);
    };
    const auto isDropped = [&](int64_t dim) {
      return type.getDimSize(dim) == 1 && (isa<AffineConstantExpr>(map.getResult(dim)) || isLoopOfOne(dim));
    };
    SmallVector<int64_t> shape;
    SmallVector<AffineExpr> exprs;
    SmallVector<ReassociationIndices> groups;
    ReassociationIndices first; // dropped ones before any that stays
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (isDropped(dim)) {
        (groups.empty() ? first : groups.back()).push_back(dim);
        continue;
      }
      groups.push_back(std::exchange(first, {}));
      groups.back().push_back(dim);
      shape.push_back(type.getDimSize(dim));
      exprs.push_back(map.getResult(dim));
    }
    if (static_cast<int64_t>(shape.size()) == type.getRank())
      continue;
    rewriter.setInsertionPoint(op);
    auto to = RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
    input = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), to, input, groups);
    map = AffineMap::get(map.getNumDims(), 0, exprs, op.getContext());
    isChanged = true;
  }
  if (!isChanged)
    return;
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputsMutable().assign(inputs);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

} // namespace kiln::Flow
