#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h"

#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

using namespace mlir;

namespace kiln::Stream {
#define GEN_PASS_DEF_MATERIALIZECOPIESPASS
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h.inc"

// Memory that this program has just written and that nothing else can see.
static bool isFresh(Value value) {
  return isa_and_nonnull<AsyncAllocaOp, AsyncSplatOp, AsyncCloneOp, AsyncDispatchOp>(value.getDefiningOp());
}

namespace {
class MaterializeCopiesPass : public impl::MaterializeCopiesPassBase<MaterializeCopiesPass> {
public:
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (auto dispatch = dyn_cast<AsyncDispatchOp>(op)) {
        MutableOperandRange resources = dispatch.getResourcesMutable();
        for (int64_t tied : dispatch.getTied())
          if (tied >= 0)
            own(resources[tied], dispatch.getResourceSizes()[tied]);
      } else if (auto exportOp = dyn_cast<TensorExportOp>(op)) {
        if (!mayLeave(exportOp.getSourceMutable()))
          clone(exportOp.getSourceMutable(), exportOp.getSize());
      } else if (!isa<AsyncCloneOp, AsyncLoadOp>(op)) {
        // Control flow takes whole resources; a constant is a part of one.
        for (OpOperand &operand : op->getOpOperands())
          if (auto constant = operand.get().getDefiningOp<AsyncConstantOp>();
              constant && !isa<StreamDialect>(op->getDialect()))
            clone(operand, constant.getSize());
      }
    });
  }

private:
  // A result may have been read by others, who are done before the call is. But no other result, and no global, may be
  // the same memory: what the caller does to one must not be seen in the other.
  static bool mayLeave(OpOperand &use) {
    Value value = use.get();
    bool isShared = llvm::any_of(value.getUses(), [&](OpOperand &other) {
      return &other != &use && isa<TensorExportOp, Util::GlobalStoreOp>(other.getOwner());
    });
    return isFresh(value) && !isShared && value.getParentBlock() == use.getOwner()->getBlock();
  }

  static void own(OpOperand &use, Value size) {
    Value value = use.get();
    bool sameBlock = value.getParentBlock() == use.getOwner()->getBlock();
    if (!isFresh(value) || !value.hasOneUse() || !sameBlock)
      clone(use, size);
  }

  static void clone(OpOperand &use, Value size) {
    OpBuilder builder(use.getOwner());
    use.set(AsyncCloneOp::create(builder, use.getOwner()->getLoc(), use.get().getType(), use.get(), size));
  }
};
} // namespace
} // namespace kiln::Stream
