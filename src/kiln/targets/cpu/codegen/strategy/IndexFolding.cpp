#include "kiln/targets/cpu/codegen/strategy/IndexFolding.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace kiln {

// The loop that an index is, but for loops that run once and a constant; that constant.
struct ShiftedLoop {
  unsigned loop;
  int64_t shift;
};

static std::optional<ShiftedLoop> readIndex(AffineExpr expr, ArrayRef<int64_t> extents) {
  MLIRContext *context = expr.getContext();
  SmallVector<AffineExpr> known, zeros(extents.size(), getAffineConstantExpr(0, context));
  for (auto [loop, extent] : llvm::enumerate(extents))
    known.push_back(extent == 1 ? getAffineConstantExpr(0, context) : getAffineDimExpr(loop, context));
  expr = simplifyAffineExpr(expr.replaceDims(known), extents.size(), 0);
  auto shift = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(expr.replaceDims(zeros), extents.size(), 0));
  if (!shift)
    return std::nullopt;
  auto loop = dyn_cast<AffineDimExpr>(simplifyAffineExpr(expr - shift.getValue(), extents.size(), 0));
  if (!loop || shift.getValue() < 0)
    return std::nullopt;
  return ShiftedLoop{loop.getPosition(), shift.getValue()};
}

void foldIndices(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    AffineMap &map = maps[input->getOperandNumber()];
    if (!type || map.isProjectedPermutation(/*allowZeroInResults=*/true))
      continue;
    rewriter.setInsertionPoint(op);
    SmallVector<OpFoldResult> offsets, sizes, strides(type.getRank(), rewriter.getIndexAttr(1));
    SmallVector<OpFoldResult> whole = memref::getMixedSizes(rewriter, op.getLoc(), input->get());
    SmallVector<AffineExpr> results;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      std::optional<ShiftedLoop> index = readIndex(expr, extents);
      // Only a loop whose extent is known says how large the view is.
      bool folds = index && !isa<AffineDimExpr>(expr) && ShapedType::isStatic(extents[index->loop]);
      offsets.push_back(rewriter.getIndexAttr(folds ? index->shift : 0));
      sizes.push_back(folds ? rewriter.getIndexAttr(extents[index->loop]) : whole[dim]);
      results.push_back(folds ? getAffineDimExpr(index->loop, op.getContext()) : expr);
    }
    AffineMap folded = AffineMap::get(map.getNumDims(), 0, results, op.getContext());
    if (folded == map)
      continue;
    map = folded;
    Value view = memref::SubViewOp::create(rewriter, op.getLoc(), input->get(), offsets, sizes, strides);
    rewriter.modifyOpInPlace(op, [&] { input->set(view); });
  }
  rewriter.modifyOpInPlace(op, [&] { op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps)); });
}

} // namespace kiln
