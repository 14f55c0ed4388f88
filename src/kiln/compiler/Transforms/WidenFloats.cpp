#include "kiln/compiler/Transforms/Transforms.h"

#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_WIDENFLOATSPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace {
class WidenFloatsPass : public impl::WidenFloatsPassBase<WidenFloatsPass> {
public:
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (failed(widen(function)))
        return signalPassFailure();
  }

private:
  // With f64 for each float; null for what holds none that is narrower.
  static Type widened(Type type) {
    Type element = getElementTypeOrSelf(type);
    if (!isa<FloatType>(element) || element.isF64())
      return {};
    Type wide = Float64Type::get(type.getContext());
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? Type(tensor.clone(wide)) : wide;
  }

  LogicalResult widen(func::FuncOp function) {
    if (!function.getBody().hasOneBlock())
      return function.emitError() << "@" << function.getSymName()
                                  << " has no body of one block, whose floats could be widened to f64";
    SmallVector<Operation *> inside;
    function.getBody().walk([&](Operation *op) { inside.push_back(op); });
    SmallVector<Type> returned(function.getResultTypes());
    for (Operation *op : inside)
      if (failed(widenOp(op)))
        return failure();
    // The boundary stays as it is.
    OpBuilder builder(function.getBody());
    for (BlockArgument argument : function.getArguments())
      if (Type wide = widened(argument.getType())) {
        auto entered = arith::ExtFOp::create(builder, argument.getLoc(), wide, argument, arith::FastMathFlagsAttr());
        argument.replaceAllUsesExcept(entered, entered);
      }
    Operation *end = function.front().getTerminator();
    builder.setInsertionPoint(end);
    for (auto [operand, type] : llvm::zip_equal(end->getOpOperands(), returned))
      if (widened(type))
        operand.set(arith::TruncFOp::create(builder, end->getLoc(), type, operand.get()));
    return success();
  }

  LogicalResult widenOp(Operation *op) {
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (Type wide = widened(argument.getType()))
          argument.setType(wide);
    if (isa<arith::BitcastOp, tensor::BitcastOp>(op)) {
      if (isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType())) ||
          isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
        return op->emitError() << "'" << op->getName() << "' reads the bits of floats, which are others in f64";
      return success();
    }
    if (isa<Util::GlobalLoadOp, Util::GlobalStoreOp>(op))
      return op->emitError() << "'" << op->getName() << "' uses a global, whose floats are not widened";
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return widenConstant(constant);
    if (isa<arith::ExtFOp>(op)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
      return success();
    }
    // A rounding that the program asks for takes place; what it gives is a number of f64, too.
    if (auto round = dyn_cast<arith::TruncFOp>(op)) {
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      auto wide = arith::ExtFOp::create(builder, op->getLoc(), widened(round.getType()), round.getResult(),
                                        arith::FastMathFlagsAttr());
      round.getResult().replaceAllUsesExcept(wide, wide);
      return success();
    }
    for (OpResult result : op->getResults())
      if (Type wide = widened(result.getType()))
        result.setType(wide);
    return success();
  }

  static LogicalResult widenConstant(arith::ConstantOp op) {
    Type wide = widened(op.getType());
    if (!wide)
      return success();
    auto convert = [](APFloat value) {
      bool exact = false;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &exact);
      return value;
    };
    TypedAttr value;
    if (auto number = dyn_cast<FloatAttr>(op.getValue())) {
      value = FloatAttr::get(wide, convert(number.getValue()));
    } else if (auto numbers = dyn_cast<DenseFPElementsAttr>(op.getValue())) {
      value = numbers.mapValues(getElementTypeOrSelf(wide),
                                [&](const APFloat &one) { return convert(one).bitcastToAPInt(); });
    } else if (auto resource = dyn_cast<DenseF32ResourceElementsAttr>(op.getValue())) {
      std::optional<ArrayRef<float>> all = resource.tryGetAsArrayRef();
      if (!all)
        return op.emitError() << "its numbers are not in the file";
      SmallVector<double> converted(all->begin(), all->end());
      value = DenseElementsAttr::get(cast<ShapedType>(wide), ArrayRef<double>(converted));
    } else {
      return op.emitError() << "a constant of this form cannot be widened to f64";
    }
    op.setValueAttr(value);
    op.getResult().setType(wide);
    return success();
  }
};
} // namespace
} // namespace kiln
