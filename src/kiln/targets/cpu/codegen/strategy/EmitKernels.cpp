#include "kiln/compiler/Codegen/BooleanMemory.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/Interfaces/InitUse.h"
#include "kiln/compiler/Interfaces/LoopSteps.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"
#include "kiln/targets/cpu/codegen/strategy/IndexFolding.h"
#include "kiln/targets/cpu/codegen/strategy/KernelEmitter.h"
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
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

// The fill just before `op` that gave all elements of the init their value, and that nothing else needs; null where
// there is none.
linalg::FillOp findFill(linalg::LinalgOp op, OpOperand &init) {
  if (!reachesWholeResult(init))
    return {};
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    auto fill = dyn_cast<linalg::FillOp>(before);
    if (fill && fill.output() == init.get())
      return fill;
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
    auto lowering = function->getAttrOfType<HAL::LoweringAttr>("lowering");
    if (failed(convertBooleanMemory(rewriter, function)))
      return signalPassFailure();
    convertCopies(rewriter, function);

    KernelTarget target = KernelTarget::of(CpuTarget::of(function));
    SmallVector<linalg::LinalgOp> ops;
    WalkResult result = function.walk([&](Operation *any) {
      if (!isa_and_nonnull<linalg::LinalgDialect>(any->getDialect()) || isa<linalg::YieldOp, linalg::IndexOp>(any))
        return WalkResult::advance();
      auto op = dyn_cast<linalg::LinalgOp>(any);
      if (!op || !op.hasPureBufferSemantics()) {
        any->emitOpError("has no lowering to loops for llvm-cpu")
            << (op ? ": it still works on tensors" : "; only structured operations on memory have one");
        return WalkResult::interrupt();
      }
      ops.push_back(op);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();

    // Sums that start with one value start with it in registers.
    llvm::DenseMap<Operation *, SmallVector<Value>> initialValues;
    llvm::DenseSet<Operation *> done;
    for (linalg::LinalgOp op : ops) {
      if (op.getNumReductionLoops() == 0)
        continue;
      for (OpOperand &init : op.getDpsInitsMutable()) {
        linalg::FillOp fill = findFill(op, init);
        initialValues[op].push_back(fill ? fill.value() : Value());
        if (fill)
          done.insert(fill);
      }
    }
    llvm::DenseSet<Operation *> epilogues; // which are gone
    for (linalg::LinalgOp op : ops) {
      if (epilogues.contains(op))
        continue;
      if (done.contains(op)) {
        rewriter.eraseOp(op);
        continue;
      }
      if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
        foldIndices(rewriter, generic);
      expandIndices(rewriter, op);
      const TileConfig *config =
          lowering && isMain(op, lowering.getStrategy()) ? &lowering.getConfiguration() : nullptr;
      KernelPlan plan = planKernel(op, target, config);
      if (takeApart(rewriter, op, plan, target))
        plan = planKernel(op, target, config);
      remark(function, op, plan);
      const Epilogue epilogue = findEpilogue(op, plan, target);
      if (epilogue.op)
        epilogues.insert(epilogue.op);
      emitKernel(rewriter, op, plan, target, initialValues.lookup(op), epilogue);
    }
  }

private:
  // What a reduction would take apart again and again is taken apart before it: the last two dimensions are turned.
  static bool takeApart(RewriterBase &rewriter, linalg::LinalgOp op, const KernelPlan &plan,
                        const KernelTarget &target) {
    constexpr int64_t mostBytes = int64_t(1) << 18; // of a core's own cache
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic)
      return false;
    bool isChanged = false;
    for (unsigned number : plan.reduceLanes ? ArrayRef(plan.interleaved) : ArrayRef<unsigned>()) {
      OpOperand &input = op->getOpOperand(number);
      auto type = cast<MemRefType>(input.get().getType());
      const int64_t rank = type.getRank();
      if (rank < 2 || !type.hasStaticShape() || !type.getElementType().isIntOrFloat() ||
          type.getNumElements() * type.getElementTypeBitWidth() > 8 * mostBytes)
        continue;
      rewriter.setInsertionPoint(op);
      SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank)), shape(type.getShape());
      std::swap(order[rank - 2], order[rank - 1]);
      std::swap(shape[rank - 2], shape[rank - 1]);
      Value apart = memref::AllocOp::create(rewriter, op.getLoc(), MemRefType::get(shape, type.getElementType()),
                                            rewriter.getI64IntegerAttr(64));
      auto turn = linalg::TransposeOp::create(rewriter, op.getLoc(), input.get(), apart, order);
      emitKernel(rewriter, turn, planKernel(turn, target, nullptr), target, {});
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      SmallVector<AffineExpr> places(maps[number].getResults());
      std::swap(places[rank - 2], places[rank - 1]);
      maps[number] = AffineMap::get(maps[number].getNumDims(), 0, places, op.getContext());
      rewriter.modifyOpInPlace(op, [&] {
        input.set(apart);
        generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      isChanged = true;
    }
    return isChanged;
  }

  // In a body, arithmetic on indices is like any other.
  static void expandIndices(RewriterBase &rewriter, linalg::LinalgOp op) {
    for (auto apply : llvm::make_early_inc_range(op.getBlock()->getOps<affine::AffineApplyOp>())) {
      rewriter.setInsertionPoint(apply);
      ValueRange operands = apply.getOperands();
      unsigned dims = apply.getAffineMap().getNumDims();
      rewriter.replaceOp(apply, affine::expandAffineExpr(rewriter, apply.getLoc(), apply.getAffineMap().getResult(0),
                                                         operands.take_front(dims), operands.drop_front(dims)));
    }
  }

  static std::string describe(Operation *inner) {
    if (isa<memref::LoadOp>(inner))
      return "loads from places that it computes,";
    return ("computes '" + inner->getName().getStringRef() + "'").str();
  }

  // What takes longer in this kernel than it might. Loops of few steps are nothing to talk about.
  static void remark(func::FuncOp function, linalg::LinalgOp op, const KernelPlan &plan) {
    constexpr int64_t fewSteps = 32;
    auto add = [&](Util::Cost cost, const Twine &text) {
      Util::addRemark(function, cost, op.getLoc(), function.getSymName(), text);
    };
    if (plan.vectorLoop < 0 && countSteps(op).value_or(fewSteps) >= fewSteps)
      add(Util::Cost::ScalarLoop, "computes '" + op->getName().getStringRef() + "' element by element");
    llvm::SmallDenseSet<OperationName> told;
    for (Operation *inner : plan.elementByElement)
      if (countSteps(op).value_or(fewSteps) >= fewSteps && told.insert(inner->getName()).second)
        Util::addRemark(function, Util::Cost::ScalarLoop, inner->getLoc(), function.getSymName(),
                        describe(inner) + " one element after the other, in '" + op->getName().getStringRef() + "'");
    if (plan.packedOperand >= 0)
      add(Util::Cost::Repack, "copies operand " + Twine(plan.packedOperand) + " of '" + op->getName().getStringRef() +
                                  "' into panels in each call");
  }

  static void convertCopies(RewriterBase &rewriter, func::FuncOp function) {
    function.walk([&](memref::CopyOp copy) {
      rewriter.setInsertionPoint(copy);
      if (isa_and_nonnull<memref::AllocOp>(copy.getTarget().getDefiningOp()))
        Util::addRemark(function, Util::Cost::Copy, copy.getLoc(), function.getSymName(),
                        "copies a tile into memory of its own in each call, because it is updated and read");
      if (copy.getSource() != copy.getTarget())
        linalg::CopyOp::create(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      rewriter.eraseOp(copy);
    });
  }
};

} // namespace
} // namespace kiln
