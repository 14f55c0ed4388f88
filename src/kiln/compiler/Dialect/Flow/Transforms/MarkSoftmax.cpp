#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Interfaces/FloatBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_MARKSOFTMAXPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {

// What each dimension of a tensor runs along: a dimension of the tensor whose maxima it holds, or nothing that counts.
constexpr int64_t kNothing = -1;
using Along = SmallVector<int64_t>;
using Loops = llvm::SmallDenseMap<unsigned, int64_t>; // the same of loops of an operation

// The largest elements along some dimensions of one tensor.
struct Maxima {
  arith::ArithFastMathInterface combiner; // who ignores NaNs has them in their own exponentials
  Value of;
  Along along;

  static std::optional<Maxima> find(linalg::LinalgOp op) {
    if (op.getNumReductionLoops() == 0 || op->getNumResults() != 1 || op.getNumDpsInputs() != 1 ||
        !op.hasPureTensorSemantics())
      return std::nullopt;
    Block &body = *op.getBlock();
    Operation *combiner = body.getTerminator()->getOperand(0).getDefiningOp();
    AffineMap input = op.getIndexingMapsArray()[0], result = op.getIndexingMapsArray()[1];
    if (!isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(combiner) || !input.isPermutation() ||
        !result.isProjectedPermutation() || !llvm::is_contained(combiner->getOperands(), body.getArgument(0)) ||
        !llvm::is_contained(combiner->getOperands(), body.getArgument(1)))
      return std::nullopt;
    Maxima maxima{cast<arith::ArithFastMathInterface>(combiner), op.getDpsInputs()[0], {}};
    for (AffineExpr expr : result.getResults())
      maxima.along.push_back(*input.getResultPosition(expr));
    return maxima;
  }
};

// A reshape that moves dimensions of one element only.
std::optional<Along> reshape(ArrayRef<int64_t> along, ShapedType wide, ArrayRef<ReassociationIndices> groups,
                             bool expands) {
  Along result(expands ? wide.getRank() : groups.size(), kNothing);
  for (auto [narrow, group] : llvm::enumerate(groups)) {
    std::optional<int64_t> longDim;
    for (int64_t dim : group)
      if (wide.getDimSize(dim) != 1 && std::exchange(longDim, dim))
        return std::nullopt;
    const int64_t dim = longDim.value_or(group.front());
    (expands ? result[dim] : result[narrow]) = along[expands ? narrow : dim];
  }
  return result;
}

static void setFlag(arith::ArithFastMathInterface op, arith::FastMathFlags flag) {
  arith::FastMathFlags flags =
      op.getFastMathFlagsAttr() ? op.getFastMathFlagsAttr().getValue() : arith::FastMathFlags::none;
  op->setAttr(op.getFastMathAttrName(), arith::FastMathFlagsAttr::get(op->getContext(), flags | flag));
}

class Marker {
public:
  explicit Marker(Maxima maxima) : maxima(std::move(maxima)) {}

  void run(Value result) {
    followMaxima(result, maxima.along);
    // The exponential of x - 0.0 is that of x + 0.0.
    if (onlyInExponentials)
      setFlag(maxima.combiner, arith::FastMathFlags::nsz);
    if (onlySummed && llvm::all_of(elements, isOnlyDivided))
      for (Operation *exponential : exponentials)
        exponential->setAttr(kVanishesAttr, UnitAttr::get(exponential->getContext()));
  }

private:
  void followMaxima(Value value, ArrayRef<int64_t> along) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      std::optional<Along> reshaped;
      if (auto op = dyn_cast<tensor::ExpandShapeOp>(user))
        reshaped = reshape(along, op.getResultType(), op.getReassociationIndices(), /*expands=*/true);
      else if (auto op = dyn_cast<tensor::CollapseShapeOp>(user))
        reshaped = reshape(along, op.getSrcType(), op.getReassociationIndices(), /*expands=*/false);
      if (reshaped)
        followMaxima(user->getResult(0), *reshaped);
      else if (auto op = dyn_cast<linalg::LinalgOp>(user); !op || !followInto(op, use, along))
        onlyInExponentials = false;
    }
  }

  // Whether the operation subtracts the maxima from what they are of, or passes them on.
  bool followInto(linalg::LinalgOp op, OpOperand &use, ArrayRef<int64_t> along) {
    if (!op.isAllParallelLoops() || !op.hasPureTensorSemantics() || op.isDpsInit(&use))
      return false;
    Loops alongOf;
    for (auto [expr, dim] : llvm::zip(op.getMatchingIndexingMap(&use).getResults(), along)) {
      if (dim == kNothing)
        continue;
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || !alongOf.try_emplace(loop.getPosition(), dim).second)
        return false;
    }
    BlockArgument maximum = op.getMatchingBlockArgument(&use);
    for (OpOperand &inner : maximum.getUses()) {
      if (auto yield = dyn_cast<linalg::YieldOp>(inner.getOwner())) {
        OpOperand &init = op.getDpsInitsMutable()[inner.getOperandNumber()];
        followMaxima(op.getTiedOpResult(&init), alongOfResult(op, init, alongOf));
        continue;
      }
      auto difference = dyn_cast<arith::SubFOp>(inner.getOwner());
      OpOperand *elements =
          difference && inner.getOperandNumber() == 1 ? findElements(op, difference.getLhs(), alongOf) : nullptr;
      if (!elements)
        return false;
      Along all = llvm::to_vector(llvm::seq<int64_t>(0, cast<ShapedType>(maxima.of.getType()).getRank()));
      followElements(difference, /*areExponentials=*/false, {}, loopsOf(op.getMatchingIndexingMap(elements), all));
    }
    return true;
  }

  // The input of which a value of the body is an element, if the maximum there is the largest of its row; or null.
  OpOperand *findElements(linalg::LinalgOp op, Value element, const Loops &alongOf) {
    auto argument = dyn_cast<BlockArgument>(element);
    if (!argument || argument.getOwner() != op.getBlock())
      return nullptr;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    if (!op.isDpsInput(operand) || operand->get() != maxima.of)
      return nullptr;
    AffineMap map = op.getMatchingIndexingMap(operand);
    const bool isOfRow = llvm::all_of(maxima.along, [&](int64_t dim) {
      auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
      auto known = loop ? alongOf.find(loop.getPosition()) : alongOf.end();
      return known != alongOf.end() && known->second == dim;
    });
    return isOfRow ? operand : nullptr;
  }

  static Along alongOfResult(linalg::LinalgOp op, OpOperand &init, const Loops &alongOf) {
    Along along;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults()) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      auto known = loop ? alongOf.find(loop.getPosition()) : alongOf.end();
      along.push_back(known == alongOf.end() ? kNothing : known->second);
    }
    return along;
  }

  static Loops loopsOf(AffineMap map, ArrayRef<int64_t> along) {
    Loops loops;
    for (auto [expr, dim] : llvm::zip(map.getResults(), along))
      if (auto loop = dyn_cast<AffineDimExpr>(expr); loop && dim != kNothing)
        loops.try_emplace(loop.getPosition(), dim);
    return loops;
  }

  // Differences, which are at most zero, or exponentials of them: a tensor, whose dimensions are `along`, or a value of
  // a body with these loops around.
  void followElements(Value value, bool areExponentials, ArrayRef<int64_t> along, const Loops &loops) {
    const bool isElement = areExponentials && !isa<TensorType>(value.getType());
    if (isElement)
      elements.push_back(value);
    for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
      Operation *user = use.getOwner();
      if (isa<math::ExpOp>(user) && !areExponentials) {
        user->setAttr(kAtMostZeroAttr, UnitAttr::get(user->getContext()));
        exponentials.push_back(user);
        followElements(user->getResult(0), /*areExponentials=*/true, {}, loops);
      } else if (isa<linalg::YieldOp>(user)) {
        auto op = cast<linalg::LinalgOp>(user->getParentOp());
        OpOperand &init = op.getDpsInitsMutable()[use.getOperandNumber()];
        followElements(op.getTiedOpResult(&init), areExponentials, alongOfResult(op, init, loops), Loops());
      } else if (auto op = dyn_cast<tensor::ExpandShapeOp>(user)) {
        followElements(op, areExponentials, reshaped(op, along, op.getResultType(), /*expands=*/true), Loops());
      } else if (auto op = dyn_cast<tensor::CollapseShapeOp>(user)) {
        followElements(op, areExponentials, reshaped(op, along, op.getSrcType(), /*expands=*/false), Loops());
      } else if (auto op = dyn_cast<linalg::LinalgOp>(user);
                 op && isa<TensorType>(value.getType()) && op.isDpsInput(&use)) {
        Loops inside = loopsOf(op.getMatchingIndexingMap(&use), along);
        if (!areExponentials || op.getNumReductionLoops() == 0)
          followElements(op.getMatchingBlockArgument(&use), areExponentials, {}, inside);
        else if (sumsUp(op, use, inside))
          followSums(op->getResult(0));
      } else {
        onlyInExponentials &= areExponentials;
        onlySummed &= !areExponentials || isElement;
      }
    }
  }

  // Of an exponential in a body: whether it goes on as it is, or is divided by a sum of at least one, which followSums
  // has made a multiplication by then.
  static bool isOnlyDivided(Value element) {
    return llvm::all_of(element.getUses(), [](OpOperand &use) {
      Operation *user = use.getOwner();
      auto reciprocal = isa<arith::MulFOp>(user)
                            ? user->getOperand(1 - use.getOperandNumber()).getDefiningOp<arith::DivFOp>()
                            : arith::DivFOp();
      return isa<linalg::YieldOp>(user) || (reciprocal && matchPattern(reciprocal.getLhs(), m_OneFloat()));
    });
  }

  template <typename Op> static Along reshaped(Op op, ArrayRef<int64_t> along, ShapedType wide, bool expands) {
    std::optional<Along> known = reshape(along, wide, op.getReassociationIndices(), expands);
    return known ? *known : Along(cast<ShapedType>(op->getResult(0).getType()).getRank(), kNothing);
  }

  // Whether each result is a sum, from zero, of all elements of which one maximum is the largest, or of several times
  // so many: it is at least one, since the exponential of that element is, or no number.
  bool sumsUp(linalg::LinalgOp op, OpOperand &use, const Loops &loops) {
    Block &body = *op.getBlock();
    auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
    auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    if (op->getNumResults() != 1 || op.getNumDpsInputs() != 1 || !add || !add.getType().isF32() || !fill ||
        !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) || !op.getMatchingIndexingMap(&use).isPermutation() ||
        !llvm::is_contained(add->getOperands(), body.getArgument(0)) ||
        !llvm::is_contained(add->getOperands(), body.getArgument(1)))
      return false;
    llvm::SmallDenseSet<int64_t> summed;
    for (auto [loop, dim] : loops)
      if (op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction)
        summed.insert(dim);
    return llvm::all_of(llvm::seq<int64_t>(0, cast<ShapedType>(maxima.of.getType()).getRank()),
                        [&](int64_t dim) { return llvm::is_contained(maxima.along, dim) || summed.contains(dim); });
  }

  // Many elements are divided by each of these: the reciprocal, which is a normal number, is computed once.
  void followSums(Value sums) {
    for (OpOperand &use : llvm::make_early_inc_range(sums.getUses())) {
      Operation *user = use.getOwner();
      if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user)) {
        followSums(user->getResult(0));
        continue;
      }
      auto op = dyn_cast<linalg::LinalgOp>(user);
      if (!op || !op.isAllParallelLoops() || !op.hasPureTensorSemantics() || op.isDpsInit(&use))
        continue;
      BlockArgument sum = op.getMatchingBlockArgument(&use);
      const bool isShared = !op.getMatchingIndexingMap(&use).isPermutation();
      for (OpOperand &inner : llvm::make_early_inc_range(sum.getUses())) {
        if (auto yield = dyn_cast<linalg::YieldOp>(inner.getOwner())) {
          followSums(op.getTiedOpResult(&op.getDpsInitsMutable()[inner.getOperandNumber()]));
          continue;
        }
        auto divide = dyn_cast<arith::DivFOp>(inner.getOwner());
        if (!divide || inner.getOperandNumber() != 1 || !isShared)
          continue;
        OpBuilder builder(divide);
        Value one = arith::ConstantOp::create(builder, divide.getLoc(), builder.getF32FloatAttr(1.0f));
        Value reciprocal = arith::DivFOp::create(builder, divide.getLoc(), one, sum);
        Value product = arith::MulFOp::create(builder, divide.getLoc(), divide.getLhs(), reciprocal);
        divide.replaceAllUsesWith(product);
        divide.erase();
      }
    }
  }

  Maxima maxima;
  bool onlyInExponentials = true;
  SmallVector<Operation *> exponentials;
  SmallVector<Value> elements; // exponentials in bodies
  bool onlySummed = true;      // tensors of them
};

class MarkSoftmaxPass : public impl::MarkSoftmaxPassBase<MarkSoftmaxPass> {
public:
  void runOnOperation() override {
    getOperation().walk([](linalg::LinalgOp op) {
      if (std::optional<Maxima> maxima = Maxima::find(op))
        Marker(*maxima).run(op->getResult(0));
    });
  }
};
} // namespace
} // namespace kiln::Flow
