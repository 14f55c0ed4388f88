#include "kiln/compiler/Interfaces/InitUse.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln {

// The loops that say where the output is stored to; nullopt where those places are not all of it.
static std::optional<llvm::SmallBitVector> loopsThatReachAll(OpOperand &init) {
  auto op = cast<linalg::LinalgOp>(init.getOwner());
  llvm::SmallBitVector found(op.getNumLoops());
  auto type = dyn_cast<ShapedType>(init.get().getType());
  if (!type)
    return found;
  for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&init).getResults())) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
      if (number.getValue() != 0 || type.getDimSize(dim) != 1)
        return std::nullopt;
      continue;
    }
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || found.test(loop.getPosition()))
      return std::nullopt;
    found.set(loop.getPosition());
  }
  return found;
}

bool reachesWholeResult(OpOperand &init) {
  return loopsThatReachAll(init).has_value();
}

bool needsInit(OpOperand &init) {
  auto op = dyn_cast<linalg::LinalgOp>(init.getOwner());
  if (!op || op.payloadUsesValueFromOperand(&init))
    return true;
  std::optional<llvm::SmallBitVector> loops = loopsThatReachAll(init);
  if (!loops)
    return true;
  // A loop that says nothing of the place may have no step, and then nothing is stored.
  for (auto [loop, extent] : llvm::enumerate(op.getStaticLoopRanges()))
    if (!loops->test(loop) && (ShapedType::isDynamic(extent) || extent == 0))
      return true;
  return false;
}

namespace {
struct DropUnneededInits : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    bool isChanged = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      auto type = dyn_cast<RankedTensorType>(init.get().getType());
      // An empty tensor of an extent that is a constant becomes a cast of one that is known: as good, and another empty
      // tensor in its place would become the same again.
      auto cast = init.get().getDefiningOp<tensor::CastOp>();
      Value start = cast ? cast.getSource() : init.get();
      if (!type || needsInit(init) || start.getDefiningOp<tensor::EmptyOp>())
        continue;
      SmallVector<OpFoldResult> extents = tensor::getMixedSizes(rewriter, op.getLoc(), init.get());
      Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), extents, type.getElementType(), type.getEncoding());
      rewriter.modifyOpInPlace(op, [&] { init.set(empty); });
      isChanged = true;
    }
    return success(isChanged);
  }
};

// The body reads the init of a result that nobody uses: that is an input.
struct ReadInitsOfUnusedResults : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumDpsInits() < 2 || op.getNumReductionLoops() != 0 || !op.hasPureTensorSemantics())
      return failure();
    for (OpOperand &init : op.getDpsInitsMutable())
      if (op.getTiedOpResult(&init).use_empty() && op.payloadUsesValueFromOperand(&init))
        return makeInput(op, init, rewriter), success();
    return failure();
  }

private:
  static void makeInput(linalg::GenericOp op, OpOperand &init, PatternRewriter &rewriter) {
    unsigned number = init.getOperandNumber(), inputCount = op.getNumDpsInputs(), output = number - inputCount;
    SmallVector<Value> inputs(op.getInputs()), outputs(op.getOutputs());
    inputs.push_back(init.get());
    outputs.erase(outputs.begin() + output);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    std::rotate(maps.begin() + inputCount, maps.begin() + number, maps.begin() + number + 1);
    SmallVector<Value> used(op.getResults());
    used.erase(used.begin() + output);
    auto generic = linalg::GenericOp::create(rewriter, op.getLoc(), TypeRange(ValueRange(used)), inputs, outputs, maps,
                                             op.getIteratorTypesArray());
    generic->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.inlineRegionBefore(op.getRegion(), generic.getRegion(), generic.getRegion().begin());

    Block &body = *generic.getBody();
    BlockArgument last = body.getArgument(number);
    BlockArgument first = body.insertArgument(inputCount, last.getType(), last.getLoc());
    rewriter.replaceAllUsesWith(last, first);
    body.eraseArgument(last.getArgNumber());
    rewriter.modifyOpInPlace(body.getTerminator(), [&] { body.getTerminator()->eraseOperand(output); });
    for (auto [before, after] : llvm::zip(used, generic.getResults()))
      rewriter.replaceAllUsesWith(before, after);
    rewriter.eraseOp(op);
  }
};
} // namespace

void populateDropUnneededInitsPatterns(RewritePatternSet &patterns) {
  patterns.add<DropUnneededInits, ReadInitsOfUnusedResults>(patterns.getContext());
}

} // namespace kiln
