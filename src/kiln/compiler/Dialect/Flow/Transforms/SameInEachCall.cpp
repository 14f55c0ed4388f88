#include "kiln/compiler/Dialect/Flow/Transforms/SameInEachCall.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::Flow {

static int64_t bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isIntOrIndexOrFloat()
             ? llvm::divideCeil(type.getNumElements() * HAL::packedBitWidth(type), 8)
             : 0;
}

// Whether the result takes so much more memory than what it is made of that each call computes it anew.
static bool isTooLarge(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || isa<linalg::FillOp>(op))
    return false;
  int64_t taken = 0, made = 0;
  for (Value input : linalgOp.getDpsInputs())
    taken += bytesOf(input);
  for (Value result : op->getResults())
    made += bytesOf(result);
  return made > mostBytesKept(taken);
}

static bool dependsOnConstants(Value tensor, bool isKept) {
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
             tensor::PadOp>(op) ||
        (isKept && isTooLarge(op)))
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

bool isSameInEachCall(Value tensor) {
  return dependsOnConstants(tensor, /*isKept=*/false);
}

bool isComputedOnce(Value tensor) {
  return dependsOnConstants(tensor, /*isKept=*/true);
}

} // namespace kiln::Flow
