#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/compiler/Codegen/DispatchRoot.h"
#include "kiln/compiler/Codegen/KeyBlocks.h"
#include "kiln/compiler/Interfaces/InitUse.h"
#include "kiln/compiler/Interfaces/SoundPatterns.h"
#include "kiln/compiler/TransformOps/DispatchBufferization.h"
#include "kiln/compiler/TransformOps/WorkgroupDistribution.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_DISTRIBUTEDISPATCH
#include "kiln/compiler/Codegen/CodegenPasses.h.inc"

namespace {

//===--- Tiles
//-----------------------------------------------------------------------------------------------------===//

// Tiles of an operation that shares values with the root, directly or through others: the root's tiles as they lie on
// its operands and results, carried along indexing maps. Loops that the root does not know are not cut, so that no tile
// of the root, or of what the root reads, is computed twice.
class TileMap {
public:
  void set(linalg::LinalgOp op, ArrayRef<int64_t> loopTiles) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<ShapedType>(operand.get().getType()))
        continue;
      SmallVector<int64_t> tiles;
      for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        bool isCut = dim && op.getIteratorTypesArray()[dim.getPosition()] == utils::IteratorType::parallel;
        tiles.push_back(isCut ? loopTiles[dim.getPosition()] : 0);
      }
      known.try_emplace(valueOf(op, operand), tiles);
    }
  }

  std::optional<SmallVector<int64_t>> follow(TilingInterface tilable) const {
    auto op = dyn_cast<linalg::LinalgOp>(tilable.getOperation());
    if (!op)
      return std::nullopt;
    // What the dispatch computes comes first: an argument may be read elsewhere in another way, as a row that the root
    // sums up is by what scales the root's result by it.
    for (bool ofArguments : {false, true})
      for (OpOperand &operand : op->getOpOperands())
        if (isArgument(op, operand) == ofArguments)
          if (std::optional<SmallVector<int64_t>> tiles = follow(op, operand))
            return tiles;
    return std::nullopt;
  }

private:
  static bool isArgument(linalg::LinalgOp op, OpOperand &operand) {
    return !op.isDpsInit(&operand) && !operand.get().getDefiningOp<TilingInterface>();
  }

  std::optional<SmallVector<int64_t>> follow(linalg::LinalgOp op, OpOperand &operand) const {
    auto found = known.find(valueOf(op, operand));
    if (found == known.end())
      found = known.find(operand.get());
    AffineMap map = isa<ShapedType>(operand.get().getType()) ? op.getMatchingIndexingMap(&operand) : AffineMap();
    if (found == known.end() || !map || !map.isProjectedPermutation())
      return std::nullopt;
    SmallVector<int64_t> tiles(op.getNumLoops(), 0);
    for (auto [expr, tile] : llvm::zip(map.getResults(), found->second)) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      if (op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel)
        tiles[loop] = tile;
    }
    return tiles;
  }

  // What an init becomes is what others use.
  static Value valueOf(linalg::LinalgOp op, OpOperand &operand) {
    return op.isDpsInit(&operand) ? op.getTiedOpResult(&operand) : operand.get();
  }

  llvm::DenseMap<Value, SmallVector<int64_t>> known;
};

bool isStore(Operation *op) {
  return isa<bufferization::MaterializeInDestinationOp, tensor::InsertSliceOp>(op);
}

// Operations at the top of the function that can be tiled, and of which no other such one uses a result.
SmallVector<TilingInterface> findLast(func::FuncOp function) {
  SmallVector<TilingInterface> last;
  for (Operation &inner : function.getFunctionBody().getOps()) {
    auto op = dyn_cast<TilingInterface>(inner);
    if (op && llvm::none_of(inner.getUsers(), [](Operation *user) { return isa<TilingInterface>(user); }))
      last.push_back(op);
  }
  return last;
}

//===--- Distribution
//----------------------------------------------------------------------------------------------===//

// Tiling asks for each tile of a tensor.pad whether it is padding alone, and makes it apart then. What fills a tile and
// copies what there is to copy needs no such question: here the copy is one of no elements, at the end of the tile.
void dropPadGuard(RewriterBase &rewriter, Operation *tiled) {
  auto pad = dyn_cast<tensor::PadOp>(tiled);
  auto guard = pad ? dyn_cast<scf::IfOp>(pad->getParentOp()) : scf::IfOp();
  if (!guard || guard.getNumResults() != 1 || guard.elseBlock() != pad->getBlock())
    return;
  Value padded = guard.elseYield().getOperand(0);
  rewriter.eraseOp(guard.elseYield());
  rewriter.inlineBlockBefore(guard.elseBlock(), guard);
  rewriter.replaceOp(guard, padded);

  rewriter.setInsertionPoint(pad);
  Location loc = pad.getLoc();
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
  SmallVector<OpFoldResult> extents = tensor::getMixedSizes(rewriter, loc, pad.getSource());
  AffineExpr a, b, c;
  bindDims(rewriter.getContext(), a, b, c);
  for (auto [before, extent, after] : llvm::zip(low, extents, high)) {
    OpFoldResult tile = affine::makeComposedFoldedAffineApply(rewriter, loc, a + b + c, {before, extent, after});
    before = affine::makeComposedFoldedAffineMin(
        rewriter, loc, AffineMap::getMultiDimIdentityMap(2, rewriter.getContext()), {before, tile});
    after = affine::makeComposedFoldedAffineApply(rewriter, loc, a - b - c, {tile, before, extent});
  }
  auto fitted = tensor::PadOp::create(rewriter, loc, pad.getType(), pad.getSource(), low, high,
                                      pad.getConstantPaddingValue(), pad.getNofold());
  rewriter.replaceOp(pad, fitted);
}

// Consecutive workgroups, of which a worker takes some, differ in the tiles of other loops first, where there are slow
// ones.
SmallVector<Attribute> mapInOrder(MLIRContext *context, ArrayRef<int64_t> tiles, ArrayRef<int64_t> isSlow) {
  SmallVector<unsigned> slow, others; // among the loops that are cut
  for (auto [loop, tile] : llvm::enumerate(tiles))
    if (tile != 0)
      (!isSlow.empty() && isSlow[loop] ? slow : others).push_back(slow.size() + others.size());
  SmallVector<Attribute> places = workgroupMapping(context, slow.size() + others.size()), mapping(places);
  for (auto [place, loop] : llvm::zip(places, llvm::concat<unsigned>(slow, others)))
    mapping[loop] = place;
  return mapping;
}

LogicalResult tileAndFuse(RewriterBase &rewriter, TilingInterface op, ArrayRef<int64_t> tiles,
                          ArrayRef<int64_t> isSlow) {
  scf::SCFTilingOptions tiling;
  tiling.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  tiling.setTileSizes(getAsIndexOpFoldResult(rewriter.getContext(), tiles));
  tiling.setMapping(mapInOrder(rewriter.getContext(), tiles, isSlow));
  scf::SCFTileAndFuseOptions options;
  options.setTilingOptions(tiling);
  options.setFusionControlFn([](tensor::ExtractSliceOp, OpResult producer, bool) {
    scf::SCFTileAndFuseOptions::ControlFnResult fuse;
    fuse.yieldProducerReplacement = llvm::any_of(producer.getOwner()->getUsers(), isStore);
    return std::make_optional(fuse);
  });
  rewriter.setInsertionPoint(op);
  FailureOr<scf::SCFTileAndFuseResult> result = scf::tileConsumerAndFuseProducersUsingSCF(rewriter, op, options);
  if (failed(result) || result->loops.empty())
    return failure();
  // What else uses a producer computes it again: workgroups must not wait for what others have stored.
  for (auto [before, after] : result->replacements)
    rewriter.replaceUsesWithIf(before, after,
                               [&](OpOperand &use) { return before.getDefiningOp() == op || isStore(use.getOwner()); });
  for (Operation *tiled : result->tiledAndFusedOps)
    dropPadGuard(rewriter, tiled);
  auto loop = dyn_cast<scf::ForallOp>(result->loops.front().getOperation());
  return loop ? populateWorkgroupCount(rewriter, loop) : failure();
}

// Whether the operation stores to some elements of a tensor that another operation of the dispatch computes: that one
// has to be done as a whole before.
bool updatesPartOfComputed(TilingInterface tilable) {
  auto op = dyn_cast<linalg::LinalgOp>(tilable.getOperation());
  return op && llvm::any_of(op.getDpsInitsMutable(), [](OpOperand &init) {
           return isa_and_nonnull<TilingInterface>(init.get().getDefiningOp()) && !reachesWholeResult(init);
         });
}

// The loops of a product along which its larger input lies: a worker whose workgroups have the same tile of it reads it
// once.
SmallVector<int64_t> findSlowLoops(TilingInterface tilable) {
  auto op = dyn_cast<linalg::LinalgOp>(tilable.getOperation());
  if (!op || op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2)
    return {};
  OpOperand *larger = nullptr;
  int64_t most = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<ShapedType>(input->get().getType());
    if (!type || !type.hasStaticShape())
      return {};
    if (type.getNumElements() > most) {
      larger = input;
      most = type.getNumElements();
    }
  }
  SmallVector<int64_t> isSlow(op.getNumLoops(), 0);
  for (unsigned loop = 0; larger && loop < isSlow.size(); ++loop)
    isSlow[loop] = op.getMatchingIndexingMap(larger).isFunctionOfDim(loop);
  return isSlow;
}

// Cuts what ends the dispatch into tiles, one for a workgroup. Fails where that leaves some of it uncut.
LogicalResult distribute(RewriterBase &rewriter, func::FuncOp function, const TileConfig &config) {
  std::optional<DispatchRoot> root = findRoot(function);
  if (!root)
    return failure();
  for (auto op : function.getFunctionBody().getOps<TilingInterface>())
    if (llvm::is_contained(LoopShape::of(op).extents, 0) || updatesPartOfComputed(op))
      return failure(); // Nothing to share.
  TileMap map;
  llvm::DenseMap<Operation *, SmallVector<int64_t>> tilesOf;
  auto setTiles = [&](Operation *op, ArrayRef<int64_t> tiles) {
    tilesOf[op].assign(tiles.begin(), tiles.end());
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      map.set(linalgOp, tiles);
  };
  setTiles(root->op, tileSizes(LoopShape::of(root->op), config));
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (Operation &inner : function.getFunctionBody().getOps()) {
      auto op = dyn_cast<TilingInterface>(inner);
      if (!op || tilesOf.contains(op))
        continue;
      if (std::optional<SmallVector<int64_t>> tiles = map.follow(op)) {
        setTiles(op, *tiles);
        isChanged = true;
      }
    }
  }
  TileMap slowLoops;
  SmallVector<int64_t> isSlow = findSlowLoops(root->op);
  if (!isSlow.empty())
    slowLoops.set(cast<linalg::LinalgOp>(root->op.getOperation()), isSlow);
  SmallVector<TilingInterface> last = findLast(function);
  SmallVector<SmallVector<int64_t>> plan;
  for (TilingInterface op : last) {
    auto known = tilesOf.find(op);
    plan.push_back(known != tilesOf.end() ? known->second : tileSizes(LoopShape::of(op), config));
    if (llvm::all_of(plan.back(), [](int64_t tile) { return tile == 0; }))
      return failure();
  }
  for (auto [op, tiles] : llvm::zip(last, plan))
    if (failed(tileAndFuse(rewriter, op, tiles,
                           op == root->op ? isSlow : slowLoops.follow(op).value_or(SmallVector<int64_t>()))))
      return failure();
  // What has become part of loops; assertions in a body would keep it.
  SmallVector<TilingInterface> ops(function.getFunctionBody().getOps<TilingInterface>());
  for (TilingInterface op : llvm::reverse(ops))
    if (op->use_empty())
      rewriter.eraseOp(op);
  return success();
}

//===--- To memory
//-------------------------------------------------------------------------------------------------===//

// Whether `op` is the last one to read a value that its own block computes.
bool isLastUse(Value value, Operation *op) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == op || (user->getBlock() == op->getBlock() && user->isBeforeInBlock(op));
  });
}

// An elementwise operation may overwrite an input that nobody wants after it, rather than fill another tile.
void reuseInputs(RewriterBase &rewriter, func::FuncOp function) {
  function.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() != 0 || !op.hasPureTensorSemantics())
      return;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      AffineMap map = op.getMatchingIndexingMap(&init);
      if (op.payloadUsesValueFromOperand(&init) || !map.isPermutation())
        continue;
      for (OpOperand *input : op.getDpsInputOperands()) {
        Operation *producer = input->get().getDefiningOp();
        if (!isa_and_nonnull<linalg::LinalgOp>(producer) || !isLastUse(input->get(), op) ||
            input->get().getType() != init.get().getType() || op.getMatchingIndexingMap(input) != map ||
            producer->getBlock() != op->getBlock())
          continue;
        rewriter.modifyOpInPlace(op, [&] { init.set(input->get()); });
        break;
      }
    }
  });
}

void padInPlace(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<tensor::PadOp> pads;
  function.walk([&](tensor::PadOp pad) { pads.push_back(pad); });
  for (tensor::PadOp pad : pads) {
    rewriter.setInsertionPoint(pad);
    (void)linalg::rewriteInDestinationPassingStyle(rewriter, pad);
  }
}

class DistributeDispatchPass : public impl::DistributeDispatchBase<DistributeDispatchPass> {
public:
  using DistributeDispatchBase::DistributeDispatchBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet tiles(context);
    populateFoldInterfaceDimPatterns(tiles);
    tensor::populateFoldTensorEmptyPatterns(tiles);
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(tiles);
    scf::populateSCFForLoopCanonicalizationPatterns(tiles);
    memref::populateResolveRankedShapedTypeResultDimsPatterns(tiles);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (isa<tensor::TensorDialect, affine::AffineDialect, arith::ArithDialect, scf::SCFDialect,
              linalg::LinalgDialect>(name.getDialect()))
        name.getCanonicalizationPatterns(tiles, context);
    afterTiling = {std::move(tiles), unsoundPatterns()};

    RewritePatternSet buffers(context);
    populateFoldInterfaceDimPatterns(buffers);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (isa<memref::MemRefDialect, affine::AffineDialect, arith::ArithDialect, scf::SCFDialect>(name.getDialect()))
        name.getCanonicalizationPatterns(buffers, context);
    afterBufferization = std::move(buffers);
    return success();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp function) {
      if (!function.isExternal())
        functions.push_back(function);
    });
    for (func::FuncOp function : functions)
      if (failed(run(rewriter, function)))
        return signalPassFailure();
  }

private:
  LogicalResult run(RewriterBase &rewriter, func::FuncOp function) {
    HAL::ExecutableExportOp exportOp = findExport(function);
    if (!exportOp)
      return success(); // A function that dispatches call.
    if (function->hasAttr(distributedAttr))
      return success(); // By a pass before.
    if (!exportOp.getWorkgroupCount().empty())
      return function.emitOpError("is distributed already: its export has a workgroup count");
    auto lowering = function->getAttrOfType<HAL::LoweringAttr>("lowering");
    TileConfig config = lowering ? lowering.getConfiguration() : TileConfig();

    // Whether workgroups can do without each other is known at the end; where not, it is one workgroup after all.
    OwningOpRef<func::FuncOp> original = function.clone();
    bool distributed;
    {
      ScopedDiagnosticHandler quiet(&getContext(), [thread = llvm::get_threadid()](Diagnostic &) {
        return success(llvm::get_threadid() == thread);
      });
      distributed = succeeded(distribute(rewriter, function, config)) && succeeded(toMemory(rewriter, function)) &&
                    succeeded(forallToWorkgroup(rewriter, function));
    }
    if (!distributed) {
      exportOp.getWorkgroupCount().getBlocks().clear();
      function.getFunctionBody().takeBody(original->getFunctionBody());
      populateSingleWorkgroup(rewriter, exportOp);
      if (failed(toMemory(rewriter, function)))
        return failure();
    }
    (void)applyPatternsGreedily(function, afterBufferization);
    if (failed(verifyNoTensors(function)))
      return failure();
    eraseHALDescriptorTypes(function);
    DominanceInfo dominance;
    eliminateCommonSubExpressions(rewriter, dominance, function);
    return success();
  }

  static LogicalResult verifyNoTensors(func::FuncOp function) {
    WalkResult result = function.walk([](Operation *op) {
      auto isTensor = [](Type type) { return isa<TensorType>(type); };
      bool isConversion = isa<bufferization::ToTensorOp, bufferization::ToBufferOp>(op);
      if (isConversion ||
          (llvm::none_of(op->getOperandTypes(), isTensor) && llvm::none_of(op->getResultTypes(), isTensor)))
        return WalkResult::advance();
      op->emitOpError("cannot be part of a dispatch: it works on tensors, and has no form on memory");
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  void simplify(RewriterBase &rewriter, func::FuncOp function) {
    (void)applyPatternsGreedily(function, afterTiling);
    DominanceInfo dominance;
    eliminateCommonSubExpressions(rewriter, dominance, function);
  }

  LogicalResult toMemory(RewriterBase &rewriter, func::FuncOp function) {
    simplify(rewriter, function);
    if (doInBlocks(rewriter, function))
      simplify(rewriter, function);
    padInPlace(rewriter, function);
    reuseInputs(rewriter, function);
    if (failed(kiln::eliminateEmptyTensors(rewriter, function)))
      return failure();
    if (failed(bufferizeDispatch(rewriter, function)))
      return failure();
    eraseCopiesToSelf(rewriter, function);
    return success();
  }

  // Of what was computed where it goes in another shape: the copy goes there and back.
  static void eraseCopiesToSelf(RewriterBase &rewriter, func::FuncOp function) {
    function.walk([&](memref::CopyOp copy) {
      auto collapse = copy.getSource().getDefiningOp<memref::CollapseShapeOp>();
      auto expand = collapse ? collapse.getSrc().getDefiningOp<memref::ExpandShapeOp>() : memref::ExpandShapeOp();
      if (expand && expand.getSrc() == copy.getTarget() &&
          collapse.getReassociationIndices() == expand.getReassociationIndices())
        rewriter.eraseOp(copy);
    });
  }

  FrozenRewritePatternSet afterTiling, afterBufferization;
};

} // namespace
} // namespace kiln
