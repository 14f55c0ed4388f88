#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/Transforms/ElementwiseFusion.h"
#include "kiln/compiler/Dialect/Flow/Transforms/SiblingReductions.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/InitUse.h"
#include "kiln/compiler/Interfaces/SoundPatterns.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_MERGEREDUCTIONSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

// The assertions of the host between the first reduction and the last: one of them may be what lets a later reduction,
// or what it needs, be computed at all. nullopt where they cannot move in front of the first.
static std::optional<SmallVector<Operation *>> findAssertions(ArrayRef<linalg::LinalgOp> reductions) {
  SmallVector<Operation *> assertions;
  bool hasEffects = false;
  for (Operation &op : llvm::make_range(reductions.front()->getIterator(), reductions.back()->getIterator())) {
    if (isa<cf::AssertOp>(op)) {
      if (hasEffects) // Nothing must happen less often than before.
        return std::nullopt;
      assertions.push_back(&op);
      continue;
    }
    if (isMemoryEffectFree(&op) || hasSingleEffect<MemoryEffects::Read>(&op))
      continue;
    // An assertion in a loop or a branch may guard what follows; one in a kernel says nothing of what follows.
    bool isKernel = isa<linalg::LinalgOp, tensor::PadOp, tensor::GenerateOp>(op);
    bool canFail = !isKernel && op.walk([](cf::AssertOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (canFail)
      return std::nullopt;
    hasEffects |= !isKernel;
  }
  return assertions;
}

// What the other reductions need and has to move in front of the first one, in its order, with the assertions that come
// before; nullopt where they need one another, or where that cannot move.
static std::optional<SmallVector<Operation *>> findNeeded(ArrayRef<linalg::LinalgOp> reductions) {
  std::optional<SmallVector<Operation *>> assertions = findAssertions(reductions);
  if (!assertions)
    return std::nullopt;
  Operation *place = reductions.front();
  llvm::SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation *other) {
    return other->getBlock() == place->getBlock() && (other == place || place->isBeforeInBlock(other));
  };
  SmallVector<Operation *> ops(*assertions);
  llvm::append_range(ops, llvm::drop_begin(reductions));
  for (Operation *op : ops)
    if (failed(getBackwardSlice(op, &needed, options)))
      return std::nullopt;
  for (Operation *other : needed)
    if (!isMemoryEffectFree(other) || llvm::is_contained(reductions, other))
      return std::nullopt;
  needed.insert(assertions->begin(), assertions->end());
  SmallVector<Operation *> ordered = llvm::to_vector(needed);
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

// One operation with the results of all, in place of the first.
static void merge(RewriterBase &rewriter, MutableArrayRef<linalg::LinalgOp> ops) {
  SmallVector<Value> inputs, inits, results;
  SmallVector<AffineMap> inputMaps, maps;
  SmallVector<Location> places;
  for (linalg::LinalgOp op : ops) {
    llvm::append_range(inputs, op.getDpsInputs());
    llvm::append_range(inits, op.getDpsInits());
    for (OpOperand *input : op.getDpsInputOperands())
      inputMaps.push_back(op.getMatchingIndexingMap(input));
    for (OpOperand &init : op.getDpsInitsMutable())
      maps.push_back(op.getMatchingIndexingMap(&init));
    llvm::append_range(results, op->getResults());
    places.push_back(op.getLoc());
  }
  inputMaps.append(maps);
  rewriter.setInsertionPoint(ops.front());
  auto merged = linalg::GenericOp::create(
      rewriter, rewriter.getFusedLoc(places), ValueRange(inits).getTypes(), inputs, inits, inputMaps,
      ops.front().getIteratorTypesArray(), [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        ValueRange elements = arguments.take_front(inputs.size()), sums = arguments.drop_front(inputs.size());
        SmallVector<Value> yielded;
        for (linalg::LinalgOp op : ops) {
          IRMapping mapping;
          auto own = op.getBlock()->getArguments();
          mapping.map(own.take_front(op.getNumDpsInputs()), elements.take_front(op.getNumDpsInputs()));
          mapping.map(own.drop_front(op.getNumDpsInputs()), sums.take_front(op.getNumDpsInits()));
          elements = elements.drop_front(op.getNumDpsInputs());
          sums = sums.drop_front(op.getNumDpsInits());
          for (Operation &inner : op.getBlock()->without_terminator())
            builder.clone(inner, mapping);
          for (Value value : op.getBlock()->getTerminator()->getOperands())
            yielded.push_back(mapping.lookupOrDefault(value));
        }
        linalg::YieldOp::create(builder, loc, yielded);
      });
  rewriter.replaceAllUsesWith(results, merged.getResults());
  for (linalg::LinalgOp op : ops)
    rewriter.eraseOp(op);
}

// Merges the users of `value` if nothing else uses it; whether it did.
static bool mergeUsers(RewriterBase &rewriter, Value value, const DispatchLimits &limits) {
  SmallVector<linalg::LinalgOp> reductions = findSiblingReductions(value);
  unsigned operands = 0;
  for (linalg::LinalgOp op : reductions)
    operands += op->getNumOperands();
  if (reductions.empty() || operands > limits.mostOperands)
    return false;
  std::optional<SmallVector<Operation *>> needed = findNeeded(reductions);
  if (!needed)
    return false;
  for (Operation *op : *needed)
    rewriter.moveOpBefore(op, reductions.front());
  merge(rewriter, reductions);
  return true;
}

// What merge makes, or a program has, such as the largest element and its place.
static bool reducesSeveralWays(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() != 0 && generic.getNumResults() > 1;
}

static bool isReshape(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

// What a value's only user, if it is a reshape, makes of it, and so on.
static Value throughReshapes(Value value) {
  while (value.hasOneUse() && isReshape(*value.user_begin()))
    value = value.user_begin()->getResult(0);
  return value;
}

// Whether the operand is reshaped for such an operation and nothing else.
static bool isOnTheWay(OpOperand *operand) {
  Value end = throughReshapes(operand->get());
  return isReshape(operand->getOwner()) && end != operand->get() && end.hasOneUse() &&
         reducesSeveralWays(*end.user_begin());
}

namespace {
class MergeReductionsPass : public impl::MergeReductionsPassBase<MergeReductionsPass> {
public:
  explicit MergeReductionsPass(const CompilerContext &context) : context(&context) {}

  void runOnOperation() override {
    FailureOr<DispatchLimits> limits = context->dispatchLimits(getOperation().getLoc());
    if (failed(limits))
      return signalPassFailure();
    for (Operation &func : *getOperation().getBody())
      if (isa<FunctionOpInterface, Util::InitializerOp>(func) && failed(runOnFunction(&func, *limits)))
        return signalPassFailure();
  }

private:
  LogicalResult runOnFunction(Operation *func, const DispatchLimits &limits) {
    SmallVector<linalg::GenericOp> producers;
    func->walk([&](linalg::GenericOp op) {
      if (op.getNumLoops() == op.getNumParallelLoops() && op->getNumResults() == 1 && op.hasPureTensorSemantics())
        producers.push_back(op);
    });
    IRRewriter rewriter(func->getContext());
    bool hasMerged = false;
    for (linalg::GenericOp producer : producers) {
      hasMerged |= mergeUsers(rewriter, throughReshapes(producer.getResult(0)), limits);
    }
    if (!hasMerged)
      return success();

    // A reduction that was split sees its producer reshaped; the producer takes that shape, and then goes into it.
    RewritePatternSet patterns(func->getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isOnTheWay);
    linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, isOnTheWay);
    linalg::populateElementwiseOpsFusionPatterns(patterns, [&](OpOperand *operand) {
      return canTakeIn(operand, limits) && reducesSeveralWays(operand->getOwner());
    });
    populateDropUnneededInitsPatterns(patterns);
    GreedyRewriteConfig untilDone;
    untilDone.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(applyPatternsGreedily(func, {std::move(patterns), unsoundPatterns()}, untilDone)))
      return func->emitError() << "merging its reductions did not come to an end";
    return success();
  }

  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createMergeReductionsPass(const CompilerContext &context) {
  return std::make_unique<MergeReductionsPass>(context);
}
} // namespace kiln::Flow
