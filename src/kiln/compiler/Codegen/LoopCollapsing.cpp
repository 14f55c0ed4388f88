#include "kiln/compiler/Codegen/LoopCollapsing.h"

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace kiln {

// A binding, or nothing yet, that only `op` uses.
static bool canReshapeOperand(Value operand) {
  Operation *source = operand.getDefiningOp();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(source)) {
    if (!fill->hasOneUse())
      return false;
    source = fill.output().getDefiningOp();
  }
  auto toTensor = dyn_cast_or_null<bufferization::ToTensorOp>(source);
  if (!toTensor)
    return isa_and_nonnull<tensor::EmptyOp>(source);
  return toTensor.getRestrict() && toTensor.getBuffer().getDefiningOp<HAL::InterfaceBindingSubspanOp>() &&
         (!toTensor.getWritable() || toTensor->hasOneUse());
}

SmallVector<ReassociationIndices> findCollapsibleLoops(linalg::LinalgOp op) {
  if (op.hasIndexSemantics() || !op.hasPureTensorSemantics())
    return {};
  for (Value operand : op->getOperands())
    if (isa<ShapedType>(operand.getType()) && !canReshapeOperand(operand))
      return {};
  for (Operation *user : op->getUsers()) {
    auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(user);
    if (!store || !store.getDest().getDefiningOp<HAL::InterfaceBindingSubspanOp>())
      return {};
  }

  auto kinds = op.getIteratorTypesArray();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return {};
  SmallVector<ReassociationIndices> groups;
  for (int64_t loop = 0, end = kinds.size(); loop < end; ++loop) {
    // Loops that each operand either has side by side, in this order, or has not.
    bool continues = loop > 0 && kinds[loop - 1] == kinds[loop] &&
                     linalg::areDimSequencesPreserved(maps, {ReassociationIndices{loop - 1, loop}});
    if (continues)
      groups.back().push_back(loop);
    else
      groups.push_back({loop});
  }
  if (groups.size() == kinds.size())
    return {};
  return groups;
}

} // namespace kiln
