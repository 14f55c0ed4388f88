#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/LoopSteps.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

// Whether the results lie beside each other as what they are reduced from does.
static bool isAlongColumns(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1)
    return false;
  AffineMap input = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return input.getNumResults() != 0 && result.getNumResults() != 0 &&
         input.getResults().back() == result.getResults().back();
}

// The largest number of equal parts that are worth it; 1: none are.
static int64_t countParts(linalg::LinalgOp op, const ReductionSplit &split) {
  auto results = countSteps(op, utils::IteratorType::parallel), length = countSteps(op, utils::IteratorType::reduction);
  if (!results || !length || *results == 0)
    return 1;
  int64_t together = isAlongColumns(op) ? std::min(split.neighbours, *results) : 1;
  int64_t groups = llvm::divideCeil(*results, together), longest;
  if (groups > split.fewResults || llvm::MulOverflow(*length, together, longest))
    return 1;
  int64_t parts = std::min({split.mostParts / groups, longest / split.shortestPart, *length});
  while (parts > 1 && *length % parts != 0)
    --parts;
  return std::max<int64_t>(parts, 1);
}

// Named operations are left for specs to match, but for linalg.reduce; what says something of itself is about the whole
// operation. Partial sums of narrow floats would be rounded once more.
static bool canSplit(linalg::LinalgOp op) {
  if (!isa<linalg::GenericOp, linalg::ReduceOp>(op) || !op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.hasIndexSemantics() || op.getNumReductionLoops() == 0 || !op->getDiscardableAttrDictionary().empty())
    return false;
  Type element = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  if (!element.isIntOrFloat() || (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32))
    return false;
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); });
}

// Several reductions as one, which upstream asks for; null where the operands do not allow it.
static linalg::LinalgOp collapseReductions(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  if (reductions.size() == 1)
    return op;
  ReassociationIndices group(reductions.begin(), reductions.end());
  bool isSequence =
      llvm::all_of(llvm::seq<size_t>(1, group.size()), [&](size_t i) { return group[i] == group[i - 1] + 1; });
  if (!isSequence || !linalg::areDimSequencesPreserved(op.getIndexingMapsArray(), {group}))
    return nullptr;
  SmallVector<ReassociationIndices> groups;
  for (int64_t loop = 0; loop < op.getNumLoops(); ++loop) {
    if (loop == group.front())
      groups.push_back(group);
    else if (!llvm::is_contained(group, loop))
      groups.push_back({loop});
  }
  FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(collapsed))
    return nullptr;
  rewriter.replaceOp(op, collapsed->results);
  return collapsed->collapsedOp;
}

namespace {
class SplitReductionsPass : public impl::SplitReductionsPassBase<SplitReductionsPass> {
public:
  explicit SplitReductionsPass(const CompilerContext &context) : context(&context) {}

  void runOnOperation() override {
    FailureOr<DispatchLimits> ofTargets = context->dispatchLimits(getOperation().getLoc());
    if (failed(ofTargets))
      return signalPassFailure();
    limits = ofTargets->split;
    IRRewriter rewriter(&getContext());
    for (Operation &func : *getOperation().getBody()) {
      if (!isa<FunctionOpInterface, Util::InitializerOp>(func))
        continue;
      SmallVector<linalg::LinalgOp> ops;
      func.walk([&](linalg::LinalgOp op) {
        if (canSplit(op) && countParts(op, limits) > 1)
          ops.push_back(op);
      });
      for (linalg::LinalgOp op : ops)
        split(rewriter, op);
    }
  }

private:
  // A reduction that upstream cannot split, because it is no single operation, stays as it is.
  void split(RewriterBase &rewriter, linalg::LinalgOp op) const {
    int64_t parts = countParts(op, limits);
    bool alongColumns = limits.neighbours > 1 && isAlongColumns(op);
    rewriter.setInsertionPoint(op);
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      FailureOr<linalg::GenericOp> generalized = linalg::generalizeNamedOp(rewriter, op);
      if (failed(generalized))
        return;
      generic = *generalized;
    }
    rewriter.setInsertionPoint(generic);
    linalg::LinalgOp single = collapseReductions(rewriter, generic);
    if (!single)
      return;
    auto control = [&](linalg::LinalgOp) {
      linalg::SplitReductionOptions options;
      options.ratio = parts;
      // Parts lie as what they are reduced to does, so that all are written in whole vectors.
      options.index = alongColumns ? 0 : single.getRank(single.getDpsInitOperand(0));
      return options;
    };
    rewriter.setInsertionPoint(single);
    FailureOr<linalg::SplitReductionResult> halves = linalg::splitReduction(rewriter, single, control);
    if (failed(halves))
      return;
    // Upstream starts sums of floats with 0.0, which makes 0.0 of a sum of -0.0.
    OpOperand &start = halves->fillOp->getOpOperand(0);
    auto added = cast<TypedAttr>(cast<arith::ConstantOp>(start.get().getDefiningOp()).getValue());
    if (auto number = dyn_cast<FloatAttr>(added); number && number.getValue().isPosZero()) {
      rewriter.setInsertionPoint(halves->fillOp);
      start.set(arith::ConstantOp::create(rewriter, op.getLoc(), FloatAttr::get(number.getType(), -0.0)));
    }
  }

  const CompilerContext *context;
  ReductionSplit limits;
};
} // namespace

std::unique_ptr<Pass> createSplitReductionsPass(const CompilerContext &context) {
  return std::make_unique<SplitReductionsPass>(context);
}
} // namespace kiln::Flow
