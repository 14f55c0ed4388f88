#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/DispatchInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_LOWERASSERTS
#include "kiln/targets/cpu/codegen/CpuPasses.h.inc"

namespace {

class LowerAsserts : public impl::LowerAssertsBase<LowerAsserts> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    SmallVector<cf::AssertOp> asserts;
    func.walk([&](cf::AssertOp op) { asserts.push_back(op); });
    if (asserts.empty())
      return;
    bool canFail = isDispatch(func) && func.getNumResults() == 0;
    for (cf::AssertOp op : asserts) {
      if (canFail && op->getParentOp() == func)
        continue;
      op.emitOpError(
          "cannot be compiled for the CPU here: only a dispatch itself can fail, outside of other operations");
      return signalPassFailure();
    }
    OpBuilder builder(func.getContext());
    Type status = builder.getI32Type();
    func.walk([&](func::ReturnOp op) {
      builder.setInsertionPoint(op);
      op->setOperands(arith::ConstantIntOp::create(builder, op.getLoc(), status, 0).getResult());
    });
    func.setFunctionType(builder.getFunctionType(func.getArgumentTypes(), status));

    llvm::MapVector<StringAttr, Block *> failures;
    for (cf::AssertOp op : asserts) {
      Block *&failure = failures[op.getMsgAttr()];
      if (!failure) {
        failure = builder.createBlock(&func.getBody(), func.getBody().end());
        Value code = arith::ConstantIntOp::create(builder, op.getLoc(), status, failures.size());
        func::ReturnOp::create(builder, op.getLoc(), code);
      }
      Block *before = op->getBlock();
      Block *after = before->splitBlock(op);
      builder.setInsertionPointToEnd(before);
      cf::CondBranchOp::create(builder, op.getLoc(), op.getArg(), after, failure);
      op.erase();
    }
    func->setAttr(assertMessagesAttr, builder.getArrayAttr(llvm::map_to_vector(
                                          failures, [](const auto &entry) -> Attribute { return entry.first; })));
  }
};

} // namespace
} // namespace kiln
