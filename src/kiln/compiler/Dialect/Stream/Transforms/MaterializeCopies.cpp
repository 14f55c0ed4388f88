#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h"

#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

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
          clone(exportOp.getSourceMutable(), exportOp.getSize(),
                "a result of the program is memory of its own, which nothing else shares");
      } else if (auto store = dyn_cast<Util::GlobalStoreOp>(op)) {
        // What a global holds is never written again.
        if (isa<ResourceType>(store.getValue().getType()) && !isFresh(store.getValue()))
          return (void)(store.emitError()
                        << "stores a tensor that is not computed in the same place; compute it there"),
                 signalPassFailure();
      } else if (!isa<AsyncCloneOp, AsyncLoadOp>(op)) {
        // Control flow takes whole resources; a constant is a part of one.
        for (OpOperand &operand : op->getOpOperands())
          if (auto constant = operand.get().getDefiningOp<AsyncConstantOp>();
              constant && !isa<StreamDialect>(op->getDialect()))
            clone(operand, constant.getSize(), "control flow passes a constant on");
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

  void own(OpOperand &use, Value size) {
    Value value = use.get();
    bool sameBlock = value.getParentBlock() == use.getOwner()->getBlock();
    if (!isFresh(value) || !sameBlock)
      clone(use, size, "a dispatch updates a tensor that was not computed in the same block");
    else if (!value.hasOneUse())
      clone(use, size, "a dispatch updates a tensor that is still needed");
  }

  void clone(OpOperand &use, Value size, StringRef reason) {
    Operation *user = use.getOwner();
    auto function = user->getParentOfType<Util::FuncOp>();
    std::optional<int64_t> bytes = getConstantIntValue(size);
    std::string what = bytes ? std::to_string(*bytes) + " bytes" : "a tensor";
    Util::addRemark(getOperation(), Util::Cost::Copy, user->getLoc(), function ? function.getSymName() : "",
                    "copies " + what + " in each call: " + reason);
    OpBuilder builder(user);
    use.set(AsyncCloneOp::create(builder, user->getLoc(), use.get().getType(), use.get(), size));
  }
};
} // namespace
} // namespace kiln::Stream
