#include "kiln/compiler/Interfaces/SoftmaxProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {
namespace {

bool isElementwise(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 && op->getNumResults() == 1 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0));
}

bool readsRows(linalg::GenericOp op, OpOperand *input) {
  const unsigned loops = op.getNumLoops();
  return op.getMatchingIndexingMap(input) ==
         AffineMap::getMultiDimIdentityMap(loops, op.getContext()).getMajorSubMap(loops - 1);
}

// The only operation of a body, which reduces the last dimension of one input, from a fill.
template <typename... OpTy> Operation *findReduction(linalg::GenericOp op) {
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 || op->getNumResults() != 1 ||
      op.getNumReductionLoops() != 1 || !op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isIdentity() ||
      !readsRows(op, op.getDpsInitOperand(0)) || !op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    return nullptr;
  Operation *inner = &op.getBody()->front();
  const bool isAll = isa<OpTy...>(inner) && inner->getNextNode() == op.getBody()->getTerminator() &&
                     inner->getNumOperands() == 2 && inner->getOperand(0) != inner->getOperand(1) &&
                     llvm::all_of(inner->getOperands(), llvm::IsaPred<BlockArgument>) &&
                     op.getBody()->getTerminator()->getOperand(0) == inner->getResult(0);
  return isAll ? inner : nullptr;
}

// Whether a condition is that a number is this constant.
bool isEqual(Value condition, Value number, llvm::function_ref<bool(const APFloat &)> isConstant) {
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  APFloat constant(0.0);
  return compare && compare.getPredicate() == arith::CmpFPredicate::OEQ && compare.getLhs() == number &&
         matchPattern(compare.getRhs(), m_ConstantFloat(&constant)) && isConstant(constant);
}

// What a value is where a row sees a key: where it sees none, its largest score is -inf, and the value may be 0.
Value whereSeen(Value value, Value largest) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  return select && matchPattern(select.getTrueValue(), m_AnyZeroFloat()) &&
                 isEqual(select.getCondition(), largest,
                         [](const APFloat &it) { return it.isInfinity() && it.isNegative(); })
             ? select.getFalseValue()
             : value;
}

// The inputs of exponentials of how far elements are below a number of their row: which are the elements, and which the
// rows' numbers.
std::optional<std::pair<OpOperand *, OpOperand *>> inputsOfPowers(linalg::GenericOp op) {
  if (!isElementwise(op) || op.getNumDpsInputs() != 2)
    return std::nullopt;
  OpOperand *elements = op.getDpsInputOperand(0), *rows = op.getDpsInputOperand(1);
  if (!op.getMatchingIndexingMap(elements).isIdentity())
    std::swap(elements, rows);
  if (!op.getMatchingIndexingMap(elements).isIdentity() || !readsRows(op, rows))
    return std::nullopt;
  Value largest = op.getMatchingBlockArgument(rows);
  Operation *power = whereSeen(op.getBody()->getTerminator()->getOperand(0), largest).getDefiningOp();
  auto difference = isa_and_nonnull<math::ExpOp, math::Exp2Op>(power)
                        ? power->getOperand(0).getDefiningOp<arith::SubFOp>()
                        : arith::SubFOp();
  if (!difference || difference.getLhs() != op.getMatchingBlockArgument(elements) ||
      whereSeen(difference.getRhs(), largest) != largest)
    return std::nullopt;
  return std::pair(elements, rows);
}

bool isProduct(Operation *op) {
  auto product = dyn_cast_or_null<linalg::LinalgOp>(op);
  return product && product.hasPureTensorSemantics() && linalg::isaContractionOpInterface(product) &&
         product.getNumDpsInputs() == 2 && product.getNumReductionLoops() == 1 &&
         llvm::all_of(product.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); });
}

} // namespace

std::optional<SoftmaxProduct> SoftmaxProduct::of(linalg::LinalgOp result, Value weights) {
  SoftmaxProduct found;
  found.result = result;
  found.powers = weights.getDefiningOp<linalg::GenericOp>();
  auto inputs = found.powers ? inputsOfPowers(found.powers) : std::nullopt;
  if (!isProduct(result) || !inputs)
    return std::nullopt;
  found.largest = inputs->second->get().getDefiningOp<linalg::GenericOp>();
  Value scores = inputs->first->get();
  if (!findReduction<arith::MaximumFOp, arith::MaxNumFOp>(found.largest) || found.largest.getDpsInputs()[0] != scores)
    return std::nullopt;
  llvm::SmallPtrSet<Operation *, 8> users{found.largest, found.powers};
  for (Operation *user : found.powers->getUsers())
    if (auto sum = dyn_cast<linalg::GenericOp>(user); sum && findReduction<arith::AddFOp>(sum)) {
      if (found.sum)
        return std::nullopt;
      found.sum = sum;
    }
  const auto startsFilled = [](linalg::LinalgOp op) { return op.getDpsInits()[0].getDefiningOp<linalg::FillOp>(); };
  if (!found.sum || !startsFilled(result) || !found.powers.getResult(0).hasNUses(2))
    return std::nullopt;
  // Back to the product, with all that is computed of its elements.
  while (auto op = scores.getDefiningOp<linalg::GenericOp>()) {
    if (isProduct(op))
      break;
    if (!isElementwise(op) || op.getNumLoops() != found.powers.getNumLoops() ||
        !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); }) ||
        !llvm::all_of(op->getUsers(), [&](Operation *user) { return users.contains(user); }))
      return std::nullopt;
    users.insert(op);
    found.between.insert(found.between.begin(), op);
    Value next;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!isa_and_nonnull<linalg::LinalgOp>(input->get().getDefiningOp()) ||
          isa<linalg::FillOp>(input->get().getDefiningOp()) || !op.getMatchingIndexingMap(input).isIdentity())
        continue;
      if (next && next != input->get())
        return std::nullopt;
      next = input->get();
    }
    if (!next)
      return std::nullopt;
    scores = next;
  }
  found.scores = scores.getDefiningOp<linalg::LinalgOp>();
  const bool isWhole = found.scores && isProduct(found.scores) && startsFilled(found.scores) &&
                       found.scores.getNumLoops() == found.powers.getNumLoops() + 1 &&
                       llvm::all_of(found.scores->getUsers(), [&](Operation *user) { return users.contains(user); });
  return isWhole ? std::optional(found) : std::nullopt;
}

} // namespace kiln
