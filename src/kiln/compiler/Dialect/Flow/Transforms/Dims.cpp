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

static bool haveSameDims(OpBuilder &builder, Value a, Value b);

// A tensor that a loop carries keeps the extents it starts with, where the loop gives them back unchanged.
static Dims dimsOfLoopArgument(OpBuilder &builder, Value tensor, Value init, Value yielded) {
  if (yielded != tensor && !haveSameDims(builder, yielded, tensor)) {
    Operation *loop = yielded.getParentRegion()->getParentOp();
    return loop->emitError() << "carries a tensor of type " << tensor.getType()
                             << " whose extents change from one iteration to the next, which is not supported; give it "
                                "a static shape";
  }
  return dynamicDims(builder, init);
}

static Dims dimsOfBlockArgument(OpBuilder &builder, BlockArgument arg) {
  Operation *parent = arg.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    OpOperand *init = loop.getTiedLoopInit(arg);
    OpOperand *yielded = loop.getTiedLoopYieldedValue(arg);
    if (init && yielded)
      return dimsOfLoopArgument(builder, arg, init->get(), yielded->get());
  }
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    unsigned i = arg.getArgNumber();
    if (arg.getOwner() == loop.getBeforeBody())
      return dynamicDims(builder, loop.getInits()[i]);
    return dynamicDims(builder, loop.getConditionOp().getArgs()[i]);
  }
  return unknown(arg);
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
    // What reification asks of another tensor is answered by that tensor's own dims.
    auto dim = value.getDefiningOp<tensor::DimOp>();
    while (dim && dim.getConstantIndex()) {
      Dims source = allDims(builder, dim.getSource());
      if (failed(source))
        return failure();
      value = (*source)[*dim.getConstantIndex()];
      dim = value.getDefiningOp<tensor::DimOp>();
    }
    dims.push_back(value);
  }
  return dims;
}

Dims dynamicDims(OpBuilder &builder, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.hasStaticShape())
    return SmallVector<Value>();
  if (auto arg = dyn_cast<BlockArgument>(tensor))
    return dimsOfBlockArgument(builder, arg);
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
  if (isa<Util::OptimizationBarrierOp>(op))
    return dynamicDims(builder, op->getOperand(result.getResultNumber()));
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return dynamicDims(builder, loop.getInitArgs()[result.getResultNumber()]);
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    Value carried = loop.getConditionOp().getArgs()[result.getResultNumber()];
    return dynamicDims(builder, carried);
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

// Whether `a`, computed inside of a loop, has the extents of the loop's argument `b` for certain: its producers pass
// them on from that argument.
static bool haveSameDims(OpBuilder &builder, Value a, Value b) {
  while (a != b) {
    Operation *op = a.getDefiningOp();
    if (!op || a.getType() != b.getType())
      return false;
    if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      // Made with the extents that are asked of the argument itself.
      unsigned dimension = 0;
      auto type = cast<RankedTensorType>(b.getType());
      for (Value size : empty.getDynamicSizes()) {
        while (!type.isDynamicDim(dimension))
          ++dimension;
        auto dim = size.getDefiningOp<tensor::DimOp>();
        if (!dim || dim.getConstantIndex() != dimension || !haveSameDims(builder, dim.getSource(), b))
          return false;
        ++dimension;
      }
      return true;
    }
    auto destination = dyn_cast<DestinationStyleOpInterface>(op);
    if (!destination)
      return false;
    a = destination.getTiedOpOperand(cast<OpResult>(a))->get();
  }
  return true;
}

} // namespace kiln::Flow
