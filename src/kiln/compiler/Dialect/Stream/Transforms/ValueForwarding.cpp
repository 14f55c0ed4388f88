#include "kiln/compiler/Dialect/Stream/Transforms/ValueForwarding.h"

#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace kiln::Stream {

ValueForwarding::ValueForwarding(Operation *root) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ExecutableOp>(op))
      return WalkResult::skip();
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      add(select.getTrueValueMutable(), select.getResult());
      add(select.getFalseValueMutable(), select.getResult());
    } else if (isa<Util::OptimizationBarrierOp>(op)) {
      for (auto [operand, result] : llvm::zip(op->getOpOperands(), op->getResults()))
        add(operand, result);
    } else if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
      RegionBranchSuccessorMapping inputs;
      branch.getSuccessorOperandInputMapping(inputs);
      auto addAll = [&](Operation *from) {
        for (OpOperand &operand : from->getOpOperands())
          for (Value input : inputs.lookup(&operand))
            add(operand, input);
      };
      addAll(op);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          addAll(block.getTerminator());
    }
    return WalkResult::advance();
  });
}

ArrayRef<Value> ValueForwarding::targets(OpOperand &use) const {
  auto found = targetsOf.find(&use);
  return found == targetsOf.end() ? ArrayRef<Value>() : found->second;
}

ArrayRef<OpOperand *> ValueForwarding::sources(Value value) const {
  auto found = sourcesOf.find(value);
  return found == sourcesOf.end() ? ArrayRef<OpOperand *>() : found->second;
}

void ValueForwarding::add(OpOperand &from, Value to) {
  if (!isa<ResourceType>(to.getType()))
    return;
  targetsOf[&from].push_back(to);
  sourcesOf[to].push_back(&from);
}

} // namespace kiln::Stream
