#include "kiln/compiler/Dialect/Flow/Transforms/Dims.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

namespace kiln::Flow {

using Dims = FailureOr<SmallVector<Value>>;

static Dims unknown(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    op = cast<BlockArgument>(tensor).getOwner()->getParentOp();
  return op->emitError() << "'" << op->getName() << "' gives a tensor of type " << tensor.getType()
                         << " whose dynamic extents cannot be known on the host";
}

static Dims dimsOfReified(OpBuilder &builder, OpResult result) {
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(builder, result.getOwner(), shapes)))
    return unknown(result);
  SmallVector<Value> dims;
  auto type = cast<RankedTensorType>(result.getType());
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i))
      continue;
    Value value = getValueOrCreateConstantIndexOp(builder, result.getLoc(), shapes[result.getResultNumber()][i]);
    dims.push_back(value);
  }
  return dims;
}

Dims dynamicDims(OpBuilder &builder, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.hasStaticShape())
    return SmallVector<Value>();
  if (isa<BlockArgument>(tensor))
    return unknown(tensor);
  auto result = cast<OpResult>(tensor);
  Operation *op = result.getOwner();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return llvm::to_vector(empty.getDynamicSizes());
  if (auto import = dyn_cast<HAL::TensorImportOp>(op))
    return llvm::to_vector(import.getDynamicDims());
  if (auto region = dyn_cast<DispatchRegionOp>(op))
    return llvm::to_vector(region.getDimsOfResult(result.getResultNumber()));
  if (auto dispatch = dyn_cast<DispatchOp>(op))
    return llvm::to_vector(dispatch.getDimsOfResult(result.getResultNumber()));
  if (auto reshape = dyn_cast<TensorReshapeOp>(op))
    return llvm::to_vector(reshape.getResultDims());
  if (auto empty = dyn_cast<TensorEmptyOp>(op))
    return llvm::to_vector(empty.getResultDims());
  if (auto splat = dyn_cast<TensorSplatOp>(op))
    return llvm::to_vector(splat.getResultDims());
  if (auto tie = dyn_cast<TensorTieShapeOp>(op))
    return llvm::to_vector(tie.getResultDims());
  if (isa<Util::OptimizationBarrierOp, TensorTransferOp>(op))
    return dynamicDims(builder, op->getOperand(result.getResultNumber()));
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Dims a = dynamicDims(builder, select.getTrueValue()), b = dynamicDims(builder, select.getFalseValue());
    if (failed(a) || failed(b))
      return failure();
    SmallVector<Value> dims;
    for (auto [ifTrue, ifFalse] : llvm::zip(*a, *b))
      dims.push_back(arith::SelectOp::create(builder, op->getLoc(), select.getCondition(), ifTrue, ifFalse));
    return dims;
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    Dims source = allDims(builder, cast.getSource());
    if (failed(source))
      return failure();
    SmallVector<Value> dims;
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (type.isDynamicDim(i))
        dims.push_back((*source)[i]);
    return dims;
  }
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return dynamicDims(builder, destination.getTiedOpOperand(result)->get());
  if (isa<ReifyRankedShapedTypeOpInterface>(op))
    return dimsOfReified(builder, result);
  return unknown(tensor);
}

Dims allDims(OpBuilder &builder, Value tensor) {
  Dims dynamic = dynamicDims(builder, tensor);
  if (failed(dynamic))
    return failure();
  SmallVector<Value> dims;
  auto next = dynamic->begin();
  for (int64_t extent : cast<RankedTensorType>(tensor.getType()).getShape())
    dims.push_back(ShapedType::isDynamic(extent)
                       ? *next++
                       : arith::ConstantIndexOp::create(builder, tensor.getLoc(), extent).getResult());
  return dims;
}

// Extents that are asked for become values of the host. An answer may ask for the extents of another tensor, nearer
// to the function's arguments, so this ends.
LogicalResult resolveDims(Operation *func) {
  while (true) {
    SmallVector<tensor::DimOp> dims;
    func->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto dim = dyn_cast<tensor::DimOp>(op))
        dims.push_back(dim);
      return isa<DispatchRegionOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    if (dims.empty())
      return success();
    for (tensor::DimOp dim : dims) {
      std::optional<int64_t> index = dim.getConstantIndex();
      auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
      if (!index || !type || *index < 0 || *index >= type.getRank())
        return dim.emitError() << "'tensor.dim' needs a constant dimension of a tensor that has it";
      OpBuilder builder(dim);
      FailureOr<SmallVector<Value>> values = allDims(builder, dim.getSource());
      if (failed(values))
        return failure();
      dim.replaceAllUsesWith((*values)[*index]);
      dim.erase();
    }
  }
}

} // namespace kiln::Flow
