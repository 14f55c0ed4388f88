#include "kiln/compiler/TransformOps/DispatchBufferization.h"

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace kiln {

//===--- Reshapes of bindings -------------------------------------------------------------------------------------===//

// A view of the same binding with another shape. Bindings are contiguous, so that any reshape of one is one.
static Value reshapeBinding(OpBuilder &builder, HAL::InterfaceBindingSubspanOp subspan, ArrayRef<OpFoldResult> sizes) {
  auto [shape, dynamicSizes] = decomposeMixedValues(SmallVector<OpFoldResult>(sizes));
  auto type = cast<MemRefType>(subspan.getType());
  return HAL::InterfaceBindingSubspanOp::create(
      builder, subspan.getLoc(), MemRefType::get(shape, type.getElementType(), AffineMap(), type.getMemorySpace()),
      subspan.getBindingAttr(), subspan.getAccessAttr(), dynamicSizes);
}

static SmallVector<OpFoldResult> bindingSizes(OpBuilder &builder, HAL::InterfaceBindingSubspanOp subspan) {
  return getMixedValues(cast<MemRefType>(subspan.getType()).getShape(), subspan.getDynamicDims(), builder);
}

// The extents after groups of dimensions have become one dimension each.
static SmallVector<OpFoldResult> collapseSizes(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes,
                                               ArrayRef<ReassociationIndices> groups) {
  SmallVector<OpFoldResult> collapsed;
  for (const ReassociationIndices &group : groups) {
    SmallVector<OpFoldResult> factors;
    AffineExpr product = builder.getAffineConstantExpr(1);
    for (int64_t dim : group) {
      product = product * builder.getAffineSymbolExpr(factors.size());
      factors.push_back(sizes[dim]);
    }
    collapsed.push_back(affine::makeComposedFoldedAffineApply(builder, loc, product, factors));
  }
  return collapsed;
}

static HAL::InterfaceBindingSubspanOp bindingOf(Value buffer) {
  auto subspan = buffer.getDefiningOp<HAL::InterfaceBindingSubspanOp>();
  return subspan && cast<MemRefType>(subspan.getType()).getLayout().isIdentity() ? subspan
                                                                                 : HAL::InterfaceBindingSubspanOp();
}

namespace {
// reshape(to_tensor(binding)) -> to_tensor(binding of the reshaped type)
template <typename ReshapeOp> class FoldReshapeOfBinding : public OpRewritePattern<ReshapeOp> {
public:
  using OpRewritePattern<ReshapeOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto toTensor = op.getSrc().template getDefiningOp<bufferization::ToTensorOp>();
    HAL::InterfaceBindingSubspanOp subspan =
        toTensor ? bindingOf(toTensor.getBuffer()) : HAL::InterfaceBindingSubspanOp();
    // Two writable tensors of one binding would hide that they are the same memory.
    if (!subspan || !toTensor.getRestrict() || (toTensor.getWritable() && !toTensor->hasOneUse()))
      return failure();
    SmallVector<OpFoldResult> sizes;
    if constexpr (std::is_same_v<ReshapeOp, tensor::CollapseShapeOp>) {
      rewriter.setInsertionPointAfter(subspan);
      sizes = collapseSizes(rewriter, op.getLoc(), bindingSizes(rewriter, subspan), op.getReassociationIndices());
    } else {
      sizes = op.getMixedOutputShape();
    }
    Value binding = reshapeBinding(rewriter, subspan, sizes);
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, op.getType(), binding, toTensor.getRestrict(),
                                                           toTensor.getWritable());
    return success();
  }
};

// materialize(expand(x), binding) -> materialize(x, binding of x's type); and so for collapse.
class FoldReshapeIntoStore : public OpRewritePattern<bufferization::MaterializeInDestinationOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(bufferization::MaterializeInDestinationOp op,
                                PatternRewriter &rewriter) const override {
    HAL::InterfaceBindingSubspanOp subspan = bindingOf(op.getDest());
    if (!subspan)
      return failure();
    Value source;
    SmallVector<OpFoldResult> sizes;
    if (auto expand = op.getSource().getDefiningOp<tensor::ExpandShapeOp>()) {
      source = expand.getSrc();
      rewriter.setInsertionPointAfter(subspan);
      sizes = collapseSizes(rewriter, op.getLoc(), bindingSizes(rewriter, subspan), expand.getReassociationIndices());
    } else if (auto collapse = op.getSource().getDefiningOp<tensor::CollapseShapeOp>()) {
      source = collapse.getSrc();
      sizes = tensor::getMixedSizes(rewriter, op.getLoc(), source);
    } else {
      return failure();
    }
    Value binding = reshapeBinding(rewriter, subspan, sizes);
    rewriter.setInsertionPoint(op);
    auto store = bufferization::MaterializeInDestinationOp::create(rewriter, op.getLoc(), Type(), source, binding);
    store.setRestrict(op.getRestrict());
    store.setWritable(op.getWritable());
    rewriter.eraseOp(op);
    return success();
  }
};

//===--- Extents of bindings --------------------------------------------------------------------------------------===//

template <typename DimOp> class FoldBindingDim : public OpRewritePattern<DimOp> {
public:
  using OpRewritePattern<DimOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(DimOp op, PatternRewriter &rewriter) const override {
    std::optional<int64_t> index = op.getConstantIndex();
    Value source = op.getSource();
    if (auto toTensor = source.getDefiningOp<bufferization::ToTensorOp>())
      source = toTensor.getBuffer();
    auto subspan = source.getDefiningOp<HAL::InterfaceBindingSubspanOp>();
    if (!subspan || !index)
      return failure();
    auto type = cast<MemRefType>(subspan.getType());
    if (*index >= type.getRank() || !type.isDynamicDim(*index))
      return failure();
    rewriter.replaceOp(op, subspan.getDynamicDims()[type.getDynamicDimIndex(*index)]);
    return success();
  }
};

//===--- Fills ----------------------------------------------------------------------------------------------------===//

class FoldFillIntoPad : public OpRewritePattern<tensor::PadOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op, PatternRewriter &rewriter) const override {
    auto fill = op.getSource().getDefiningOp<linalg::FillOp>();
    Value padding = op.getConstantPaddingValue();
    if (!fill || !padding || !isSameValue(padding, fill.value()))
      return failure();
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), op.getSource());
    for (auto [size, low, high] : llvm::zip(sizes, op.getMixedLowPad(), op.getMixedHighPad())) {
      AffineExpr a, b, c;
      bindSymbols(rewriter.getContext(), a, b, c);
      size = affine::makeComposedFoldedAffineApply(rewriter, op.getLoc(), a + b + c, {size, low, high});
    }
    Value empty =
        tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, op.getResultType().getElementType()).getResult();
    Value larger = linalg::FillOp::create(rewriter, op.getLoc(), fill.value(), empty).getResult(0);
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getResultType(), larger);
    return success();
  }

private:
  static bool isSameValue(Value a, Value b) {
    Attribute first, second;
    return a == b || (matchPattern(a, m_Constant(&first)) && matchPattern(b, m_Constant(&second)) && first == second);
  }
};
} // namespace

void populateFoldReshapeIntoInterfacePatterns(RewritePatternSet &patterns) {
  patterns.add<FoldReshapeOfBinding<tensor::CollapseShapeOp>, FoldReshapeOfBinding<tensor::ExpandShapeOp>,
               FoldReshapeIntoStore>(patterns.getContext());
}

void populateFoldInterfaceDimPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldBindingDim<tensor::DimOp>, FoldBindingDim<memref::DimOp>>(patterns.getContext());
}

void populateFoldFillIntoPadPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldFillIntoPad>(patterns.getContext());
}

} // namespace kiln
