#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/Transforms/ReadLoops.h"
#include "kiln/compiler/Interfaces/ConvolutionLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"

#include <numeric>

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_GATHERWINDOWSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {

// A convolution as a product: a row for each pixel of the result, a column for each filter.
class WindowProduct {
public:
  // Nothing where the operation is no such convolution, or its windows would take more than `mostBytes`.
  static std::optional<WindowProduct> of(linalg::LinalgOp op, int64_t mostBytes) {
    std::optional<ConvolutionLoops> loops = ConvolutionLoops::of(op);
    if (!loops || !loops->channels || !op.hasPureTensorSemantics() || op.hasDynamicShape() || op.hasIndexSemantics())
      return std::nullopt;
    linalg::ConvolutionDimensions dims = *linalg::inferConvolutionDims(op);
    if (!dims.depth.empty() || dims.outputChannel.size() != 1 || dims.outputImage.empty())
      return std::nullopt;
    if (!llvm::all_of(op->getOperandTypes(), [](Type type) { return elementOf(type).isIntOrFloat(); }))
      return std::nullopt;
    WindowProduct product(op);
    for (unsigned loop : llvm::concat<unsigned>(dims.batch, dims.outputImage))
      product.rows.push_back(loop);
    for (unsigned loop : dims.filterLoop)
      product.depth.push_back(loop);
    product.depth.push_back(*loops->channels);
    product.column = dims.outputChannel.front();
    if (product.mapOf({product.rows, {product.column}}) != op.getMatchingIndexingMap(op.getDpsInitOperand(0)) ||
        product.elements(product.rows) * product.elements(product.depth) * product.elementBytes() > mostBytes)
      return std::nullopt;
    // Where each pixel is a window of its own, rows lie in memory already.
    AffineMap image = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    for (unsigned loop : dims.filterLoop)
      if (product.extents[loop] == 1)
        image = image.replace(getAffineDimExpr(loop, op->getContext()), getAffineConstantExpr(0, op->getContext()),
                              image.getNumDims(), /*numResultSyms=*/0);
    product.isPlain = image == product.mapOf({product.rows, {product.depth.back()}});
    // A window of one pixel may be of a part of the image.
    auto type = cast<RankedTensorType>(op.getDpsInputOperand(0)->get().getType());
    for (auto [dim, loop] : llvm::enumerate(product.rows))
      product.isPlain = product.isPlain && type.getDimSize(dim) == product.extents[loop];
    return product;
  }

  void rewrite(IRRewriter &rewriter) {
    rewriter.setInsertionPoint(op);
    Value image = op.getDpsInputOperand(0)->get(), filter = op.getDpsInputOperand(1)->get();
    Value lhs = matrix(rewriter, isPlain ? image : gathered(rewriter, image), rows, depth);
    Value rhs = matrix(rewriter, inOrder(rewriter, filter), depth, {column});
    Value init = op.getDpsInits()[0], start;
    if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
      Value empty =
          tensor::EmptyOp::create(rewriter, op.getLoc(), {elements(rows), extents[column]}, elementOf(init.getType()));
      start = linalg::FillOp::create(rewriter, op.getLoc(), fill.getInputs()[0], empty).getResult(0);
    } else {
      start = matrix(rewriter, init, rows, {column});
    }
    AffineExpr m, n, k;
    bindDims(rewriter.getContext(), m, n, k);
    SmallVector<AffineMap> maps =
        AffineMap::inferFromExprList(ArrayRef<ArrayRef<AffineExpr>>{{m, k}, {k, n}, {m, n}}, rewriter.getContext());
    constexpr auto kParallel = utils::IteratorType::parallel, kReduction = utils::IteratorType::reduction;
    auto generic = linalg::GenericOp::create(rewriter, op.getLoc(), start.getType(), ValueRange{lhs, rhs}, start, maps,
                                             {kParallel, kParallel, kReduction});
    rewriter.cloneRegionBefore(op->getRegion(0), generic.getRegion(), generic.getRegion().begin());
    generic->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
    linalg::LinalgOp named = generic;
    if (isOfMatmul(*generic.getBody()))
      if (FailureOr<linalg::LinalgOp> product = linalg::specializeGenericOp(rewriter, generic); succeeded(product))
        named = *product;
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, named->getResult(0),
                                                       groupsOf({int64_t(rows.size()), 1}));
  }

private:
  explicit WindowProduct(linalg::LinalgOp op) : op(op), extents(op.getStaticLoopRanges()) {}

  // Whether a body is what linalg.matmul has for its types: upstream's naming looks at the shape of the operation
  // alone, and what is made wider without a sign, or after it was multiplied, would be lost.
  static bool isOfMatmul(Block &body) {
    auto sum = body.getTerminator()->getOperand(0).getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum) || sum->getResult(0).getType().isInteger(1))
      return false;
    const bool isFloat = isa<arith::AddFOp>(sum);
    Operation *product = nullptr;
    for (Operation &op : body.without_terminator()) {
      const bool isProduct = isFloat ? isa<arith::MulFOp>(op) : isa<arith::MulIOp>(op);
      const bool isWider = isFloat ? isa<arith::ExtFOp>(op) : isa<arith::ExtSIOp>(op);
      if (isProduct && !product && op.getResult(0).getType() == sum->getResult(0).getType())
        product = &op;
      else if (!isWider && &op != sum)
        return false;
    }
    return product && llvm::is_contained(sum->getOperands(), product->getResult(0)) &&
           llvm::is_contained(sum->getOperands(), Value(body.getArguments().back()));
  }

  static Type elementOf(Type type) { return cast<RankedTensorType>(type).getElementType(); }
  int64_t elementBytes() {
    return llvm::divideCeil(elementOf(op.getDpsInputOperand(0)->get().getType()).getIntOrFloatBitWidth(), 8);
  }
  int64_t elements(ArrayRef<unsigned> loops) const {
    return std::accumulate(loops.begin(), loops.end(), int64_t(1),
                           [&](int64_t product, unsigned loop) { return product * extents[loop]; });
  }
  AffineMap mapOf(ArrayRef<ArrayRef<unsigned>> groups) {
    SmallVector<AffineExpr> results;
    for (ArrayRef<unsigned> group : groups)
      for (unsigned loop : group)
        results.push_back(getAffineDimExpr(loop, op->getContext()));
    return AffineMap::get(op.getNumLoops(), 0, results, op->getContext());
  }
  static SmallVector<ReassociationIndices> groupsOf(ArrayRef<int64_t> sizes) {
    SmallVector<ReassociationIndices> groups;
    for (int64_t next = 0; int64_t size : sizes) {
      groups.push_back(llvm::to_vector<2>(llvm::seq(next, next + size)));
      next += size;
    }
    return groups;
  }

  // A tensor with a dimension for each of both groups of loops, of which each becomes one.
  Value matrix(IRRewriter &rewriter, Value value, ArrayRef<unsigned> outer, ArrayRef<unsigned> inner) {
    auto type = cast<RankedTensorType>(value.getType());
    // Of an image that is plain, windows of one pixel have no dimension.
    const int64_t innerRank = type.getRank() - int64_t(outer.size());
    auto flat = RankedTensorType::get({elements(outer), elements(inner)}, type.getElementType());
    return tensor::CollapseShapeOp::create(rewriter, op.getLoc(), flat, value,
                                           groupsOf({int64_t(outer.size()), innerRank}));
  }

  // The window of each pixel of the result.
  Value gathered(IRRewriter &rewriter, Value image) {
    SmallVector<AffineExpr> places(op.getNumLoops(), rewriter.getAffineConstantExpr(0));
    SmallVector<int64_t> shape;
    for (unsigned loop : llvm::concat<unsigned>(rows, depth)) {
      places[loop] = rewriter.getAffineDimExpr(shape.size());
      shape.push_back(extents[loop]);
    }
    AffineMap from = op.getMatchingIndexingMap(op.getDpsInputOperand(0))
                         .replaceDimsAndSymbols(places, {}, shape.size(), /*numSymbols=*/0);
    return readInLoops(rewriter, op.getLoc(), image, shape, from.getResults()).getResult(0);
  }

  // The filters with their pixels first, then their channels, and which one it is last.
  Value inOrder(IRRewriter &rewriter, Value filter) {
    SmallVector<int64_t> order;
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
    for (AffineExpr expr : mapOf({depth, {column}}).getResults())
      order.push_back(llvm::find(map.getResults(), expr) - map.getResults().begin());
    if (isIdentityPermutation(order))
      return filter;
    auto type = cast<RankedTensorType>(filter.getType());
    Value empty =
        tensor::EmptyOp::create(rewriter, op.getLoc(), applyPermutation(type.getShape(), order), type.getElementType());
    return linalg::TransposeOp::create(rewriter, op.getLoc(), filter, empty, order)->getResult(0);
  }

  linalg::LinalgOp op;
  SmallVector<int64_t> extents;
  SmallVector<unsigned> rows, depth; // loops
  unsigned column = 0;
  bool isPlain = false;
};

class GatherWindowsPass : public impl::GatherWindowsPassBase<GatherWindowsPass> {
public:
  explicit GatherWindowsPass(const CompilerContext &context) : context(&context) {}
  GatherWindowsPass(const GatherWindowsPass &other) : GatherWindowsPassBase(other), context(other.context) {}

  void runOnOperation() override {
    FailureOr<DispatchLimits> limits = context->dispatchLimits(getOperation().getLoc());
    if (failed(limits))
      return signalPassFailure();
    if (limits->mostWindowBytes == 0)
      return;
    SmallVector<WindowProduct> products;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (std::optional<WindowProduct> product = WindowProduct::of(op, limits->mostWindowBytes))
        products.push_back(*product);
    });
    IRRewriter rewriter(&getContext());
    for (WindowProduct &product : products)
      product.rewrite(rewriter);
  }

private:
  const CompilerContext *context;
};

} // namespace

std::unique_ptr<Pass> createGatherWindowsPass(const CompilerContext &context) {
  return std::make_unique<GatherWindowsPass>(context);
}

} // namespace kiln::Flow
