#include "kiln/compiler/Dialect/Flow/Transforms/SameInEachCall.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::Flow {

bool isSameInEachCall(Value tensor) {
  constexpr size_t mostOps = 64;
  SmallVector<Value> values{tensor};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || seen.size() > mostOps)
      return false;
    if (!seen.insert(op).second || isa<TensorParameterOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!isa<linalg::LinalgOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::EmptyOp, tensor::ExtractSliceOp,
             tensor::PadOp>(op))
      return false;
    // What a body reads from outside counts as well.
    op->walk([&](Operation *inner) { llvm::append_range(values, inner->getOperands()); });
    llvm::erase_if(values, [&](Value value) {
      Operation *parent = value.getParentBlock()->getParentOp();
      return op->isAncestor(parent);
    });
  }
  return true;
}

} // namespace kiln::Flow
