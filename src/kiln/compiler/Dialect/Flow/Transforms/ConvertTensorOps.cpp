#include "kiln/compiler/Dialect/Flow/Transforms/Dims.h"
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_CONVERTTENSOROPSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {
class ConvertTensorOpsPass : public impl::ConvertTensorOpsPassBase<ConvertTensorOpsPass> {
public:
  void runOnOperation() override {
    remarked.clear();
    for (Operation &func : *getOperation().getBody()) {
      if (!isa<FunctionOpInterface, Util::InitializerOp>(func))
        continue;
      SmallVector<Operation *> ops;
      func.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<DispatchRegionOp>(op))
          return WalkResult::skip();
        ops.push_back(op);
        return WalkResult::advance();
      });
      for (Operation *op : ops)
        if (failed(convert(op)))
          return signalPassFailure();
      if (failed(resolveDims(&func)))
        return signalPassFailure();
      // Producers were only converted, not used up; what is dead goes, users first.
      for (Operation *op : llvm::reverse(ops))
        if (isOpTriviallyDead(op))
          op->erase();
    }
  }

private:
  // A loop of the host that takes single elements waits in each turn for all that computes the tensor.
  void remarkInLoop(tensor::ExtractOp extract) {
    auto loop = extract->getParentOfType<LoopLikeOpInterface>();
    auto function = extract->getParentOfType<FunctionOpInterface>();
    if (loop && remarked.insert(loop).second)
      Util::addRemark(getOperation(), Util::Cost::ScalarLoop, extract.getLoc(), function ? function.getName() : "",
                      "takes an element of a tensor to the host in each turn of a loop");
  }

  LogicalResult convert(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp, tensor::BitcastOp, tensor::ReshapeOp>(op))
      return replace(op, builder, [&](Type type, ValueRange dims) {
        return TensorReshapeOp::create(builder, loc, type, op->getOperand(0), dims);
      });
    if (isa<tensor::EmptyOp>(op))
      return replace(op, builder,
                     [&](Type type, ValueRange dims) { return TensorEmptyOp::create(builder, loc, type, dims); });
    if (auto fill = dyn_cast<linalg::FillOp>(op))
      return replace(op, builder, [&](Type type, ValueRange dims) {
        return TensorSplatOp::create(builder, loc, type, fill.getInputs()[0], dims);
      });
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      remarkInLoop(extract);
      extract.replaceAllUsesWith(
          TensorLoadOp::create(builder, loc, extract.getType(), extract.getTensor(), extract.getIndices()).getResult());
      return success();
    }
    return success();
  }

  static LogicalResult replace(Operation *op, OpBuilder &builder,
                               function_ref<Operation *(Type type, ValueRange dims)> create) {
    FailureOr<SmallVector<Value>> dims = dynamicDims(builder, op->getResult(0));
    if (failed(dims))
      return failure();
    op->getResult(0).replaceAllUsesWith(create(op->getResult(0).getType(), *dims)->getResult(0));
    return success();
  }

  llvm::DenseSet<Operation *> remarked; // loops
};
} // namespace
} // namespace kiln::Flow
