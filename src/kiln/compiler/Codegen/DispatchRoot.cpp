#include "kiln/compiler/Codegen/DispatchRoot.h"

#include "kiln/compiler/Codegen/LoopCollapsing.h"
#include "kiln/compiler/Interfaces/ConvolutionLoops.h"

using namespace mlir;

namespace kiln {

static StringRef strategyOf(TilingInterface op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op.getOperation());
  if (!linalgOp) // Softmax, for one, is decomposed into reductions.
    return llvm::is_contained(op.getLoopIteratorTypes(), utils::IteratorType::reduction) ? "reduction" : "default";
  if (linalgOp.getNumReductionLoops() == 0)
    return "elementwise";
  // What is the same all along the reduction, such as a row's mean in its variance, takes no part in products. Nor is
  // there a product to tile where each element of all inputs is read once, as in a sum of differences.
  SmallVector<unsigned> reductions;
  linalgOp.getReductionDims(reductions);
  SmallVector<AffineMap> reduced;
  for (OpOperand *input : linalgOp.getDpsInputOperands()) {
    AffineMap map = linalgOp.getMatchingIndexingMap(input);
    if (llvm::any_of(reductions, [&](unsigned loop) { return map.isFunctionOfDim(loop); }))
      reduced.push_back(map);
  }
  // A mask that several rows share makes none either; in a product with a vector it is the vector that they share.
  const auto isReadOnce = [](AffineMap map) { return map.isPermutation(); };
  bool readsOnce = linalgOp.getNumParallelLoops() != 0 &&
                   (linalg::isaContractionOpInterface(linalgOp) ? llvm::all_of(reduced, isReadOnce)
                                                                : llvm::any_of(reduced, isReadOnce));
  return reduced.size() >= 2 && !readsOnce ? "contraction" : "reduction";
}

std::optional<DispatchRoot> findRoot(func::FuncOp function) {
  std::optional<DispatchRoot> best;
  std::pair<int, double> bestRank;
  for (Operation &inner : function.getFunctionBody().getOps()) {
    auto op = dyn_cast<TilingInterface>(inner);
    if (!op)
      continue;
    StringRef strategy = strategyOf(op);
    int kind = strategy == "contraction" ? 3 : strategy == "reduction" ? 2 : isa<linalg::FillOp>(inner) ? 0 : 1;
    double iterations = 1;
    for (int64_t extent : LoopShape::of(op).extents)
      iterations *= ShapedType::isDynamic(extent) ? 1024 : extent;
    std::pair<int, double> rank(kind, iterations);
    if (!best || rank >= bestRank) {
      best = DispatchRoot{op, strategy};
      bestRank = rank;
    }
  }
  return best;
}

static unsigned findRowPlace(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  for (unsigned place = 1; place < loops.size(); ++place)
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (map.isFunctionOfDim(loops[0]) && !map.isFunctionOfDim(loops[place]))
        return place;
    }
  return 1;
}

// Rows are loops that do not change what is loaded along the innermost one, as the loop over blocks of columns does,
// and that of a batch: those follow.
static void putRowsFirst(linalg::LinalgOp op, ArrayRef<unsigned> groupOf, LoopShape &shape) {
  auto dependsOn = [&](OpOperand *input, unsigned group) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return llvm::any_of(llvm::seq<unsigned>(groupOf.size()),
                        [&](unsigned loop) { return groupOf[loop] == group && map.isFunctionOfDim(loop); });
  };
  SmallVector<unsigned> rows, others;
  for (unsigned loop : ArrayRef(shape.resultLoops).drop_front()) {
    bool isRows = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      return dependsOn(input, shape.resultLoops[0]) && !dependsOn(input, loop);
    });
    (isRows ? rows : others).push_back(loop);
  }
  shape.rowCount = rows.size();
  shape.resultLoops.truncate(1);
  llvm::append_range(shape.resultLoops, llvm::concat<unsigned>(rows, others));
}

// Whether vectors of a convolution's result run along its filters.
static bool runsAlongFilters(linalg::LinalgOp op) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto last = dyn_cast_or_null<AffineDimExpr>(result.getNumResults() == 0 ? AffineExpr() : result.getResults().back());
  AffineMap filters = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
  return last && filters.isFunctionOfDim(last.getPosition());
}

LoopShape LoopShape::of(TilingInterface op) {
  LoopShape shape;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op.getOperation())) {
    SmallVector<int64_t> extents = linalgOp.getStaticLoopRanges();
    auto kinds = linalgOp.getIteratorTypesArray();
    SmallVector<ReassociationIndices> groups = findCollapsibleLoops(linalgOp);
    if (groups.empty())
      for (unsigned loop = 0; loop < kinds.size(); ++loop)
        groups.push_back({static_cast<int64_t>(loop)});
    SmallVector<unsigned> groupOf(kinds.size());
    for (auto [place, group] : llvm::enumerate(groups)) {
      int64_t extent = 1;
      for (int64_t loop : group) {
        bool known = ShapedType::isStatic(extent) && ShapedType::isStatic(extents[loop]);
        extent = known ? extent * extents[loop] : ShapedType::kDynamic;
        groupOf[loop] = place;
      }
      shape.extents.push_back(extent);
      shape.parallel.push_back(kinds[group.front()] == utils::IteratorType::parallel);
    }
    AffineMap map = linalgOp.getMatchingIndexingMap(&linalgOp.getDpsInitsMutable()[0]);
    for (AffineExpr expr : llvm::reverse(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && !llvm::is_contained(shape.resultLoops, groupOf[dim.getPosition()]))
        shape.resultLoops.push_back(groupOf[dim.getPosition()]);
    }
    if (ConvolutionLoops::of(linalgOp) && !runsAlongFilters(linalgOp))
      shape.rowPlace = findRowPlace(linalgOp, shape.resultLoops);
    else if (linalgOp.getNumReductionLoops() != 0 && !shape.resultLoops.empty())
      putRowsFirst(linalgOp, groupOf, shape);
    return shape;
  }
  for (utils::IteratorType type : op.getLoopIteratorTypes())
    shape.parallel.push_back(type == utils::IteratorType::parallel);
  auto type = dyn_cast<RankedTensorType>(op->getNumResults() ? op->getResult(0).getType() : Type());
  bool loopsAreDims = type && type.getRank() == static_cast<int64_t>(shape.parallel.size());
  for (unsigned loop = 0; loop < shape.parallel.size(); ++loop)
    shape.extents.push_back(loopsAreDims ? type.getDimSize(loop) : ShapedType::kDynamic);
  for (unsigned loop = shape.parallel.size(); loop-- > 0;)
    if (shape.parallel[loop])
      shape.resultLoops.push_back(loop);
  return shape;
}

SmallVector<int64_t> tileSizes(const LoopShape &shape, const TileConfig &config) {
  SmallVector<int64_t> sizes(shape.extents.size(), 0);
  int64_t left = config.m;
  for (auto [place, loop] : llvm::enumerate(shape.resultLoops)) {
    int64_t extent = shape.extents[loop];
    int64_t &size = sizes[loop];
    bool isStatic = ShapedType::isStatic(extent);
    if (place == 0) {
      size = config.n;
    } else if (place < shape.rowPlace && !isStatic && config.m != 0) {
      size = 1;
    } else if (config.m != 0) {
      size = isStatic ? std::max<int64_t>(1, std::min(extent, left)) : left;
      left = std::max<int64_t>(1, left / size);
    }
    if (isStatic && size >= extent)
      size = 0; // One tile.
  }
  return sizes;
}

} // namespace kiln
