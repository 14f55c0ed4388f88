#include "kiln/targets/cpu/codegen/CpuTarget.h"
#include "kiln/targets/cpu/codegen/strategy/BooleanMemory.h"
#include "kiln/targets/cpu/codegen/strategy/KernelEmitter.h"
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_EMITKERNELS
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h.inc"

namespace {

// Whether the function's configuration is about this op.
bool isMain(linalg::LinalgOp op, StringRef strategy) {
  bool reduces = op.getNumReductionLoops() != 0;
  if (strategy == "contraction")
    return reduces && op.getNumDpsInputs() >= 2;
  return strategy == "reduction" ? reduces : !reduces;
}

// The scalar that a fill just before `op` gave all elements of the init; the fill is erased. Null where there is none.
Value takeFill(RewriterBase &rewriter, linalg::LinalgOp op, OpOperand &init) {
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    auto fill = dyn_cast<linalg::FillOp>(before);
    if (fill && fill.output() == init.get()) {
      Value value = fill.value();
      rewriter.eraseOp(fill);
      return value;
    }
    bool fillsOther = fill && isa_and_nonnull<memref::AllocOp>(fill.output().getDefiningOp());
    if (!isMemoryEffectFree(before) && !isa<memref::AllocOp>(before) && !fillsOther)
      return {};
  }
  return {};
}

class EmitKernelsPass : public impl::EmitKernelsBase<EmitKernelsPass> {
public:
  using EmitKernelsBase::EmitKernelsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    IRRewriter rewriter(&getContext());
    if (failed(readLowering(function)) || failed(convertBooleanMemory(rewriter, function)))
      return signalPassFailure();
    convertCopies(rewriter, function);

    KernelTarget target = KernelTarget::of(CpuTarget::of(function));
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()) && !isa<linalg::YieldOp, linalg::IndexOp>(op))
        ops.push_back(op);
    });
    for (Operation *any : ops) {
      auto op = dyn_cast<linalg::LinalgOp>(any);
      if (!op || !op.hasPureBufferSemantics()) {
        any->emitOpError("has no lowering to loops for llvm-cpu")
            << (op ? ": it still works on tensors" : "; only structured operations on memory have one");
        return signalPassFailure();
      }
      SmallVector<Value> initialValues;
      if (op.getNumReductionLoops() != 0)
        for (OpOperand &init : op.getDpsInitsMutable())
          initialValues.push_back(takeFill(rewriter, op, init));
      KernelPlan plan = planKernel(op, target, config && isMain(op, strategy) ? &*config : nullptr);
      emitKernel(rewriter, op, plan, target, initialValues);
    }
  }

private:
  LogicalResult readLowering(func::FuncOp function) {
    config.reset();
    auto lowering = function->getAttrOfType<HAL::LoweringAttr>("lowering");
    if (!lowering)
      return success();
    llvm::Expected<TileConfig> parsed = TileConfig::parse(lowering.getConfiguration().getValue());
    if (!parsed)
      return function.emitOpError(llvm::toString(parsed.takeError()));
    strategy = lowering.getStrategy().getValue();
    config = *parsed;
    return success();
  }

  static void convertCopies(RewriterBase &rewriter, func::FuncOp function) {
    function.walk([&](memref::CopyOp copy) {
      rewriter.setInsertionPoint(copy);
      if (copy.getSource() != copy.getTarget())
        linalg::CopyOp::create(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      rewriter.eraseOp(copy);
    });
  }

  std::string strategy;
  std::optional<TileConfig> config;
};

} // namespace
} // namespace kiln
