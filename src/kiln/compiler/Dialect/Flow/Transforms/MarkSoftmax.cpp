#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Interfaces/FloatBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_MARKSOFTMAXPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {

// What each dimension of a tensor runs along: a dimension of the tensor whose maxima it holds, or nothing that counts.
constexpr int64_t kNothing = -1;
using Along = SmallVector<int64_t>;

// The largest elements along some dimensions of one tensor.
struct Maxima {
  arith::MaximumFOp combiner;
  Value of;
  Along along;

  static std::optional<Maxima> find(linalg::LinalgOp op) {
    if (op.getNumReductionLoops() == 0 || op->getNumResults() != 1 || op.getNumDpsInputs() != 1 ||
        !op.hasPureTensorSemantics())
      return std::nullopt;
    Block &body = *op.getBlock();
    auto combiner = body.getTerminator()->getOperand(0).getDefiningOp<arith::MaximumFOp>();
    AffineMap input = op.getIndexingMapsArray()[0], result = op.getIndexingMapsArray()[1];
    if (!combiner || !input.isPermutation() || !result.isProjectedPermutation() ||
        !llvm::is_contained(combiner->getOperands(), body.getArgument(0)) ||
        !llvm::is_contained(combiner->getOperands(), body.getArgument(1)))
      return std::nullopt;
    Maxima maxima{combiner, op.getDpsInputs()[0], {}};
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

class Marker {
public:
  explicit Marker(Maxima maxima) : maxima(std::move(maxima)) {}

  void run(Value result) {
    followMaxima(result, maxima.along);
    // The exponential of x - 0.0 is that of x + 0.0.
    if (onlyInExponentials)
      maxima.combiner.setFastmath(maxima.combiner.getFastmath() | arith::FastMathFlags::nsz);
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
    llvm::DenseMap<unsigned, int64_t> alongOf; // by loop
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
        Along passed;
        for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults()) {
          auto loop = dyn_cast<AffineDimExpr>(expr);
          auto known = loop ? alongOf.find(loop.getPosition()) : alongOf.end();
          passed.push_back(known == alongOf.end() ? kNothing : known->second);
        }
        followMaxima(op.getTiedOpResult(&init), passed);
        continue;
      }
      auto difference = dyn_cast<arith::SubFOp>(inner.getOwner());
      if (!difference || inner.getOperandNumber() != 1 || !isElementOf(op, difference.getLhs(), alongOf))
        return false;
      followDifference(difference.getResult());
    }
    return true;
  }

  // Whether a value of the body is an element of those that the maximum there is the largest of.
  bool isElementOf(linalg::LinalgOp op, Value element, const llvm::DenseMap<unsigned, int64_t> &alongOf) {
    auto argument = dyn_cast<BlockArgument>(element);
    if (!argument || argument.getOwner() != op.getBlock())
      return false;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    if (!op.isDpsInput(operand) || operand->get() != maxima.of)
      return false;
    AffineMap map = op.getMatchingIndexingMap(operand);
    return llvm::all_of(maxima.along, [&](int64_t dim) {
      auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
      auto known = loop ? alongOf.find(loop.getPosition()) : alongOf.end();
      return known != alongOf.end() && known->second == dim;
    });
  }

  // What is at most zero.
  void followDifference(Value value) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<math::ExpOp>(user)) {
        user->setAttr(kAtMostZeroAttr, UnitAttr::get(user->getContext()));
      } else if (isa<linalg::YieldOp>(user)) {
        auto op = cast<linalg::LinalgOp>(user->getParentOp());
        followDifference(op.getTiedOpResult(&op.getDpsInitsMutable()[use.getOperandNumber()]));
      } else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user)) {
        followDifference(user->getResult(0));
      } else if (auto op = dyn_cast<linalg::LinalgOp>(user);
                 op && isa<TensorType>(value.getType()) && op.isDpsInput(&use)) {
        followDifference(op.getMatchingBlockArgument(&use));
      } else {
        onlyInExponentials = false;
      }
    }
  }

  Maxima maxima;
  bool onlyInExponentials = true;
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
