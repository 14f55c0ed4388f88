#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_NORMALIZEOPSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

static bool hasNoElements(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && llvm::is_contained(type.getShape(), 0);
}

// What stands for the results of an operation that computes no element of them; nothing for others.
static SmallVector<Value> valuesWithoutWork(OpBuilder &builder, Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.hasPureTensorSemantics() && llvm::is_contained(linalgOp.getStaticLoopRanges(), 0)
               ? SmallVector<Value>(linalgOp.getDpsInits())
               : SmallVector<Value>();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return hasNoElements(insert.getSource()) ? SmallVector<Value>{insert.getDest()} : SmallVector<Value>();
  ReifiedRankedShapedTypeDims shapes;
  if (!isa<tensor::ExtractSliceOp, tensor::PadOp, tensor::GenerateOp>(op) || !hasNoElements(op->getResult(0)) ||
      failed(reifyResultShapes(builder, op, shapes)))
    return {};
  Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  return {tensor::EmptyOp::create(builder, op->getLoc(), shapes[0], element)};
}

// Where one element is taken, how far the next one would be does not matter; folds that compare strides want 1.
template <typename SliceOp> static void normalizeStrides(SliceOp op) {
  SmallVector<int64_t> strides(op.getStaticStrides());
  for (auto [stride, size] : llvm::zip(strides, op.getStaticSizes()))
    if (size == 1 && !ShapedType::isDynamic(stride))
      stride = 1;
  op.setStaticStrides(strides);
}

static SmallVector<Value> dynamicExtents(OpBuilder &builder, Operation *op, ArrayRef<OpFoldResult> shape) {
  SmallVector<Value> extents;
  for (auto [extent, size] : llvm::zip(cast<RankedTensorType>(op->getResult(0).getType()).getShape(), shape))
    if (ShapedType::isDynamic(extent))
      extents.push_back(getValueOrCreateConstantIndexOp(builder, op->getLoc(), size));
  return extents;
}

// Whether nothing of the source is in the result: it has no elements, or must have none for the extents to be what they
// are.
static bool isPaddingAlone(tensor::PadOp op) {
  if (hasNoElements(op.getSource()))
    return true;
  for (auto [extent, low, high] : llvm::zip(op.getType().getShape(), op.getStaticLow(), op.getStaticHigh()))
    for (int64_t padding : {low, high})
      if (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(padding) && padding >= extent)
        return true;
  return false;
}

// Code generation would cut a tile that is padding alone out of the source where that ends.
static void replacePadding(IRRewriter &rewriter, tensor::PadOp op) {
  ReifiedRankedShapedTypeDims shapes;
  if (!isPaddingAlone(op) || failed(reifyResultShapes(rewriter, op, shapes)))
    return;
  Value value = cast<tensor::YieldOp>(op.getBody()->getTerminator()).getValue();
  if (!op->isAncestor(value.getParentRegion()->getParentOp())) {
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), op.getType(), dynamicExtents(rewriter, op, shapes[0]));
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, value, empty);
    return;
  }
  auto made = tensor::GenerateOp::create(rewriter, op.getLoc(), op.getType(), dynamicExtents(rewriter, op, shapes[0]));
  rewriter.inlineRegionBefore(op.getRegion(), made.getBody(), made.getBody().begin());
  rewriter.replaceOp(op, made);
}

// How dimensions of the tensor become those of the slice, if it loses some and which is not plain to see: others of one
// element stay.
static std::optional<SmallVector<ReassociationIndices>> groupsOfSlice(OffsetSizeAndStrideOpInterface op,
                                                                      const llvm::SmallBitVector &dropped) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices group;
  bool isPlain = true;
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes())) {
    group.push_back(dim);
    if (dropped.test(dim))
      continue;
    isPlain &= getConstantIntValue(size) != 1;
    groups.push_back(std::exchange(group, {}));
  }
  if (isPlain || dropped.none())
    return std::nullopt;
  llvm::append_range(groups.back(), group);
  return groups;
}

// The slice keeps its dimensions, and loses them by a reshape: subviews in memory know dimensions by their strides,
// which may be equal.
static void separateReshape(IRRewriter &rewriter, tensor::ExtractSliceOp op) {
  auto groups = groupsOfSlice(op, op.getDroppedDims());
  if (!groups)
    return;
  rewriter.setInsertionPoint(op);
  Value slice = tensor::ExtractSliceOp::create(rewriter, op.getLoc(), op.getSource(), op.getMixedOffsets(),
                                               op.getMixedSizes(), op.getMixedStrides());
  rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, op.getType(), slice, *groups);
}

static void separateReshape(IRRewriter &rewriter, tensor::InsertSliceOp op) {
  auto groups = groupsOfSlice(op, op.getDroppedDims());
  if (!groups)
    return;
  rewriter.setInsertionPoint(op);
  SmallVector<int64_t> shape;
  for (OpFoldResult size : op.getMixedSizes())
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, op.getSourceType().getElementType());
  Value source =
      tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type, op.getSource(), *groups, op.getMixedSizes());
  auto insert = tensor::InsertSliceOp::create(rewriter, op.getLoc(), source, op.getDest(), op.getMixedOffsets(),
                                              op.getMixedSizes(), op.getMixedStrides());
  insert->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, insert);
}

// Upstream gives a transpose the type that its result is cast to, and one that leaves all in its place then folds into
// an input of another type.
static void removeIfIdentity(IRRewriter &rewriter, linalg::TransposeOp op) {
  if (op.hasPureTensorSemantics() && isIdentityPermutation(op.getPermutation()))
    rewriter.replaceOp(op, op.getInput());
}

namespace {
class NormalizeOpsPass : public impl::NormalizeOpsPassBase<NormalizeOpsPass> {
public:
  using NormalizeOpsPassBase::NormalizeOpsPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (Operation &func : *getOperation().getBody()) {
      if (!isa<FunctionOpInterface, Util::InitializerOp>(func))
        continue;
      func.walk([&](Operation *op) {
        if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
          normalizeStrides(extract);
        if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
          normalizeStrides(insert);
        rewriter.setInsertionPoint(op);
        SmallVector<Value> values = keepEmpty ? SmallVector<Value>() : valuesWithoutWork(rewriter, op);
        for (auto [value, result] : llvm::zip(values, op->getResults()))
          if (value.getType() != result.getType())
            value = tensor::CastOp::create(rewriter, op->getLoc(), result.getType(), value);
        if (!values.empty())
          rewriter.replaceOp(op, values);
        else if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
          separateReshape(rewriter, extract);
        else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
          separateReshape(rewriter, insert);
        else if (auto pad = dyn_cast<tensor::PadOp>(op); pad && !keepEmpty)
          replacePadding(rewriter, pad);
        else if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
          removeIfIdentity(rewriter, transpose);
      });
    }
  }
};
} // namespace
} // namespace kiln::Flow
