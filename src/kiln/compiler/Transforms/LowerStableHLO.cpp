#include "kiln/compiler/Transforms/LinalgExtLowering.h"
#include "kiln/compiler/Transforms/StableHLOElements.h"
#include "kiln/compiler/Transforms/StableHLOLowering.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_LOWERSTABLEHLOPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace StableHLO {

bool areDimensions(Numbers dimensions, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= rank || seen.test(dimension))
      return false;
    seen.set(dimension);
  }
  return true;
}

RankedTensorType Lowering::resultType() {
  return tensorType(op->getResult(0));
}

Value Lowering::empty(const Sizes &sizes, Type element) {
  return tensor::EmptyOp::create(b, loc, sizes, element);
}

Sizes Lowering::sizesOf(Value tensor) {
  return tensor::getMixedSizes(b, loc, tensor);
}

Sizes Lowering::staticSizes() {
  return getAsIndexOpFoldResult(b.getContext(), resultType().getShape());
}

FailureOr<Values> Lowering::lower() {
  if (isElementwise(op))
    return one(elementwise());
  return llvm::TypeSwitch<Operation *, FailureOr<Values>>(op)
      .Case([&](ConstantOp constant) -> FailureOr<Values> {
        auto value = dyn_cast<TypedAttr>(constant.getValue());
        return value ? one(arith::ConstantOp::create(b, loc, value)) : refuse("needs a value with a type");
      })
      .Case([&](IotaOp iota) { return lowerIota(iota); })
      .Case([&](ReshapeOp reshape) { return lowerReshape(reshape); })
      .Case([&](BitcastConvertOp cast) { return lowerBitcast(cast); })
      .Case([&](BroadcastOp broadcast) {
        int64_t first = broadcast.getBroadcastSizes().size();
        return broadcastTo(broadcast.getOperand(),
                           llvm::to_vector(llvm::seq(first, first + rankOf(broadcast.getOperand()))));
      })
      .Case([&](BroadcastInDimOp broadcast) {
        return broadcastTo(broadcast.getOperand(), broadcast.getBroadcastDimensions());
      })
      .Case([&](TransposeOp transpose) { return lowerTranspose(transpose); })
      .Case([&](ReverseOp reverse) { return lowerReverse(reverse); })
      .Case([&](SliceOp slice) { return lowerSlice(slice); })
      .Case([&](PadOp pad) { return lowerPad(pad); })
      .Case([&](ConcatenateOp concatenate) { return lowerConcatenate(concatenate); })
      .Case([&](DynamicSliceOp slice) { return lowerDynamicSlice(slice); })
      .Case([&](DynamicUpdateSliceOp update) { return lowerDynamicUpdateSlice(update); })
      .Case([&](GatherOp gather) { return lowerGather(gather); })
      .Case([&](TorchIndexSelectOp select) { return lowerIndexSelect(select); })
      .Case([&](DotOp dot) {
        int64_t left = rankOf(dot.getLhs());
        if (left < 1 || left > 2 || rankOf(dot.getRhs()) < 1 || rankOf(dot.getRhs()) > 2)
          return refuse("needs vectors or matrices");
        return contract(dot.getLhs(), dot.getRhs(), {}, {}, {left - 1}, {0});
      })
      .Case([&](DotGeneralOp dot) {
        DotDimensionsAttr dims = dot.getDotDimensionNumbers();
        return contract(dot.getLhs(), dot.getRhs(), dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions(),
                        dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions());
      })
      .Case([&](ConvolutionOp convolution) { return lowerConvolution(convolution); })
      .Case([&](ReduceOp reduce) { return lowerReduce(reduce); })
      .Case([&](ReduceWindowOp reduce) { return lowerReduceWindow(reduce); })
      .Case([&](SortOp sort) { return lowerSort(sort); })
      .Case([&](WhileOp loop) { return lowerWhile(loop); })
      .Default([&](Operation *) { return refuse("is not supported"); });
}

FailureOr<Values> Lowering::refuse(const Twine &why) {
  op->emitError() << "'" << op->getName() << "' " << why;
  return failure();
}

FailureOr<Values> Lowering::one(Value value) {
  if (!value)
    return failure();
  return Values{value};
}

Value Lowering::zeros(const Sizes &sizes, Type element) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  return linalg::FillOp::create(b, loc, zero, empty(sizes, element)).getResult(0);
}

SmallVector<utils::IteratorType> Lowering::parallelLoops(int64_t count) {
  return SmallVector<utils::IteratorType>(count, utils::IteratorType::parallel);
}

Value Lowering::generate(const Sizes &sizes, Type element, function_ref<Value(OpBuilder &, ValueRange)> compute) {
  return LinalgExt::generate(b, loc, empty(sizes, element), [&](OpBuilder &inner, ValueRange at, ValueRange) {
    return Values{compute(inner, at)};
  })[0];
}

Value Lowering::toIndex(OpBuilder &inner, Value number) {
  return number.getType().isIndex() ? number
                                    : arith::IndexCastOp::create(inner, loc, inner.getIndexType(), number).getResult();
}

Value Lowering::heldInside(OpBuilder &inner, Value start, Value extent, Value size) {
  Value most = arith::SubIOp::create(inner, loc, extent, size);
  Value low = arith::MaxSIOp::create(inner, loc, toIndex(inner, start), LinalgExt::constantIndex(inner, loc, 0));
  return arith::MinSIOp::create(inner, loc, low, most);
}

Value Lowering::elementwise() {
  Values operands(op->getOperands());
  // A condition, or limits, of rank 0 are for all elements.
  if (isa<SelectOp, ClampOp>(op))
    for (Value &operand : operands)
      if (rankOf(operand) == 0 && resultType().getRank() != 0) {
        Value scalar = operand;
        operand = generate(sizesOf(op->getOperand(1)), tensorType(operand).getElementType(),
                           [&](OpBuilder &inner, ValueRange) {
                             return tensor::ExtractOp::create(inner, loc, scalar, ValueRange()).getResult();
                           });
      }
  for (Value operand : operands)
    if (rankOf(operand) != resultType().getRank()) {
      (void)refuse("needs operands of the result's shape");
      return {};
    }
  return lowerElementwise(b, op, operands, resultType());
}

} // namespace StableHLO

namespace {
class LowerStableHLOPass : public impl::LowerStableHLOPassBase<LowerStableHLOPass> {
public:
  void runOnOperation() override {
    if (failed(lowerRegions(getOperation())))
      signalPassFailure();
  }

private:
  static LogicalResult lowerRegions(Operation *parent) {
    for (Region &region : parent->getRegions())
      for (Block &block : region)
        for (Operation &op : llvm::make_early_inc_range(block))
          if (failed(lower(&op)))
            return failure();
    return success();
  }

  static LogicalResult lower(Operation *op) {
    bool isOurs = isa_and_nonnull<StableHLO::StableHLODialect>(op->getDialect());
    // Bodies of others are computed for single elements, and lowered with them.
    if ((!isOurs || isa<StableHLO::WhileOp>(op)) && failed(lowerRegions(op)))
      return failure();
    if (!isOurs || isa<StableHLO::ReturnOp>(op))
      return success();
    OpBuilder b(op);
    FailureOr<SmallVector<Value>> values = StableHLO::Lowering(b, op).lower();
    if (failed(values))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
      if (value.getType() != result.getType()) {
        if (!tensor::CastOp::areCastCompatible(TypeRange(value.getType()), TypeRange(result.getType())))
          return op->emitError() << "'" << op->getName() << "' gives " << value.getType() << ", and not "
                                 << result.getType();
        b.setInsertionPoint(op);
        value = tensor::CastOp::create(b, op->getLoc(), result.getType(), value);
      }
      result.replaceAllUsesWith(value);
    }
    op->erase();
    return success();
  }
};
} // namespace
} // namespace kiln
