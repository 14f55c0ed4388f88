#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_DECOMPOSEOPSPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace {
class DecomposeOpsPass : public impl::DecomposeOpsPassBase<DecomposeOpsPass> {
public:
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<linalg::AggregatedOpInterface, linalg::PackOp, linalg::UnPackOp, tensor::ConcatOp>(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      if (failed(decompose(rewriter, op))) {
        op->emitError() << "'" << op->getName()
                        << "' of this form is not supported; write it as the ops that it stands for";
        return signalPassFailure();
      }
    }
  }

private:
  // Parts without elements have no place in the result: a slice must not start where a tensor ends.
  static FailureOr<SmallVector<Value>> decomposeConcat(RewriterBase &rewriter, tensor::ConcatOp op) {
    SmallVector<Value> parts = llvm::filter_to_vector(op.getInputs(), [](Value part) {
      return !llvm::is_contained(cast<RankedTensorType>(part.getType()).getShape(), 0);
    });
    if (parts.size() == op.getInputs().size())
      return op.decomposeOperation(rewriter);
    if (!parts.empty()) {
      auto rest = tensor::ConcatOp::create(rewriter, op.getLoc(), op.getResultType(), op.getDim(), parts);
      FailureOr<SmallVector<Value>> decomposed = rest.decomposeOperation(rewriter);
      rewriter.eraseOp(rest);
      return decomposed;
    }
    ReifiedRankedShapedTypeDims shapes;
    if (failed(op.reifyResultShapes(rewriter, shapes)))
      return failure();
    Type element = op.getResultType().getElementType();
    return SmallVector<Value>{tensor::EmptyOp::create(rewriter, op.getLoc(), shapes[0], element)};
  }

  // Upstream takes the input and the output of a softmax to be of one type, and does not say so: each may know extents
  // that the other does not.
  static void unifyTypes(RewriterBase &rewriter, linalg::SoftmaxOp op) {
    ShapedType input = op.getInputOperandType(), output = op.getOutputOperandType();
    SmallVector<int64_t> shape(input.getShape());
    for (auto [extent, other] : llvm::zip(shape, output.getShape()))
      extent = ShapedType::isDynamic(extent) ? other : extent;
    Type type = input.clone(shape);
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getType() != type)
        operand.set(tensor::CastOp::create(rewriter, op.getLoc(), type, operand.get()));
    Value result = op->getResult(0);
    if (result.getType() == type)
      return;
    rewriter.setInsertionPointAfter(op);
    auto cast = tensor::CastOp::create(rewriter, op.getLoc(), result.getType(), result);
    result.replaceAllUsesExcept(cast, cast);
    result.setType(type);
    rewriter.setInsertionPoint(op);
  }

  static LogicalResult decompose(RewriterBase &rewriter, Operation *op) {
    if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
      unifyTypes(rewriter, softmax);
    // These two replace the op themselves.
    if (auto pack = dyn_cast<linalg::PackOp>(op))
      return linalg::lowerPack(rewriter, pack);
    if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
      // Upstream's short form for a single tile takes each dimension to be tiled.
      return linalg::lowerUnPack(rewriter, unpack,
                                 /*lowerUnpadLikeWithExtractSlice=*/unpack.getMixedTiles().size() ==
                                     static_cast<size_t>(unpack.getDestType().getRank()));
    auto concat = dyn_cast<tensor::ConcatOp>(op);
    FailureOr<SmallVector<Value>> parts = concat ? decomposeConcat(rewriter, concat)
                                                 : cast<linalg::AggregatedOpInterface>(op).decomposeOperation(rewriter);
    if (succeeded(parts))
      rewriter.replaceOp(op, *parts);
    return parts;
  }
};
} // namespace
} // namespace kiln
