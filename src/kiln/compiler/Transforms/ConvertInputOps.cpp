#include "kiln/compiler/Transforms/NameInSource.h"
#include "kiln/compiler/Transforms/TensorOps.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Transforms/Transforms.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_CONVERTINPUTOPSPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

Value likeAll(OpBuilder &builder, Value value, TypedAttr scalar) {
  Location loc = value.getLoc();
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type)
    return arith::ConstantOp::create(builder, loc, scalar);
  if (type.hasStaticShape())
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, scalar));
  Value element = arith::ConstantOp::create(builder, loc, scalar);
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, value), scalar.getType());
  return linalg::FillOp::create(builder, loc, element, empty).getResult(0);
}

namespace {
class ConvertInputOpsPass : public impl::ConvertInputOpsPassBase<ConvertInputOpsPass> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // A program that was written behind this phase, such as a dumped benchmark, has these forms no more.
    if (!module.getOps<Flow::ExecutableOp>().empty())
      return;
    for (auto func : llvm::make_early_inc_range(module.getOps<Util::FuncOp>()))
      convertFunction(func);
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(convert(op)))
        return signalPassFailure();
    // Uses may come before them in the text, in blocks that are in another order than they run.
    module.walk([](Util::GlobalAddressOp address) {
      if (address.use_empty())
        address.erase();
    });
    for (auto global : llvm::make_early_inc_range(module.getOps<Util::GlobalOp>()))
      convertGlobal(global);
  }

private:
  LogicalResult convert(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](ml_program::GlobalOp global) { return convertMLProgramGlobal(global); })
        .Case<ml_program::GlobalLoadOp, ml_program::GlobalLoadConstOp>([&](auto load) {
          return replace(load, Util::GlobalLoadOp::create(builder, loc, load.getType(), nameOf(load.getGlobal())));
        })
        .Case([&](ml_program::GlobalStoreOp store) {
          return replace(store, Util::GlobalStoreOp::create(builder, loc, store.getValue(), nameOf(store.getGlobal())));
        })
        .Case([&](Util::GlobalLoadIndirectOp load) {
          auto address = load.getAddress().getDefiningOp<Util::GlobalAddressOp>();
          if (!address)
            return rejectAddress(load);
          return replace(load, Util::GlobalLoadOp::create(builder, loc, load.getType(), address.getGlobal()));
        })
        .Case([&](Util::GlobalStoreIndirectOp store) {
          auto address = store.getAddress().getDefiningOp<Util::GlobalAddressOp>();
          if (!address)
            return rejectAddress(store);
          return replace(store, Util::GlobalStoreOp::create(builder, loc, store.getValue(), address.getGlobal()));
        })
        .Case([&](Flow::TensorDynamicConstantOp constant) { return convertDynamicConstant(constant); })
        .Case([&](Flow::TensorBitcastOp cast) { return convertBitcast(cast); })
        .Case([&](tensor::ReshapeOp reshape) { return convertReshape(reshape); })
        .Case<math::IsNaNOp, math::IsInfOp, math::IsFiniteOp, math::IsNormalOp>(
            [&](auto question) { return replace(question, classify(builder, question)); })
        // Divisions and products, which have vector forms, and lowerings behind the one of affine operations.
        .Case([&](affine::AffineDelinearizeIndexOp split) {
          IRRewriter rewriter(builder);
          return affine::lowerAffineDelinearizeIndexOp(rewriter, split);
        })
        .Case([&](affine::AffineLinearizeIndexOp join) {
          IRRewriter rewriter(builder);
          return affine::lowerAffineLinearizeIndexOp(rewriter, join);
        })
        .Case<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>([&](auto) { return defineShift(op); })
        .Case([&](Flow::TensorEmptyOp empty) {
          return replaceKeepingName(empty,
                                    tensor::EmptyOp::create(builder, loc, empty.getType(), empty.getResultDims()));
        })
        .Case([&](Flow::TensorSplatOp splat) {
          auto empty = tensor::EmptyOp::create(builder, loc, splat.getType(), splat.getResultDims());
          keepNameInSource(empty, splat);
          return replace(splat, linalg::FillOp::create(builder, loc, splat.getValue(), empty.getResult()));
        })
        .Case([&](Flow::TensorLoadOp load) {
          return replaceKeepingName(load, tensor::ExtractOp::create(builder, loc, load.getSource(), load.getIndices()));
        })
        .Default([&](Operation *) { return takeMagnitudes(op); });
  }

  // f8E8M0FNU has no sign, which MLIR's constants of it may have, and its folds make: what is computed in it is
  // computed in f32, and its magnitude is taken.
  static LogicalResult takeMagnitudes(Operation *op) {
    auto isScale = [](Type type) { return isa<Float8E8M0FNUType>(getElementTypeOrSelf(type)); };
    OpBuilder builder(op);
    if (auto round = dyn_cast<arith::TruncFOp>(op); round && isScale(round.getType()))
      round.setOperand(math::AbsFOp::create(builder, op->getLoc(), round.getIn()));
    if (op->getNumResults() != 1 || !isScale(op->getResult(0).getType()) ||
        !op->hasTrait<OpTrait::SameOperandsAndResultType>() ||
        !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || isa<arith::ConstantOp>(op))
      return success();
    Type type = op->getResult(0).getType(), wide = builder.getF32Type();
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      wide = tensor.clone(wide);
    IRMapping operands;
    for (Value operand : op->getOperands())
      if (!operands.contains(operand))
        operands.map(operand, arith::ExtFOp::create(builder, op->getLoc(), wide, operand));
    Operation *computed = builder.clone(*op, operands);
    computed->getResult(0).setType(wide);
    Value magnitude = math::AbsFOp::create(builder, op->getLoc(), computed->getResult(0));
    return replace(op, arith::TruncFOp::create(builder, op->getLoc(), type, magnitude));
  }

  static LogicalResult replace(Operation *op, Operation *with) {
    op->replaceAllUsesWith(with);
    op->erase();
    return success();
  }

  static LogicalResult rejectAddress(Operation *op) {
    return op->emitError() << "'" << op->getName()
                           << "' has an address that only the call knows; name the global with 'util.global.address'";
  }

  // For what kiln-insert-checks may find wrong.
  static LogicalResult replaceKeepingName(Operation *op, Operation *with) {
    keepNameInSource(with, op);
    return replace(op, with);
  }

  static StringRef nameOf(SymbolRefAttr symbol) { return symbol.getLeafReference().getValue(); }

  // A function on tensors; the abi phase gives it the boundary that callers see.
  static void convertFunction(Util::FuncOp func) {
    OpBuilder builder(func);
    auto made = func::FuncOp::create(builder, func.getLoc(), func.getSymName(), func.getFunctionType());
    made->setAttrs(func->getAttrs());
    made.getBody().takeBody(func.getBody());
    func.erase();
    made.walk([](Operation *op) {
      OpBuilder inner(op);
      if (auto call = dyn_cast<Util::CallOp>(op))
        (void)replace(call, func::CallOp::create(inner, op->getLoc(), call.getResultTypes(), call.getCallee(),
                                                 call.getOperands()));
      else if (isa<Util::ReturnOp>(op))
        (void)replace(op, func::ReturnOp::create(inner, op->getLoc(), op->getOperands()));
    });
  }

  static LogicalResult convertMLProgramGlobal(ml_program::GlobalOp global) {
    OpBuilder builder(global);
    TypedAttr value;
    if (global.getValueAttr()) {
      value = dyn_cast<TypedAttr>(global.getValueAttr());
      if (!value || isa<ml_program::ExternAttr>(value))
        return global.emitError() << "'" << global.getSymName() << "' has the initial value " << global.getValueAttr()
                                  << ", which Kiln does not compile; give its elements";
    }
    auto made = Util::GlobalOp::create(builder, global.getLoc(), global.getSymName(), global.getType());
    made.setIsMutable(global.getIsMutable());
    if (value)
      made.setInitialValueAttr(value);
    global.erase();
    return success();
  }

  // The extents are elements of another tensor. Nothing is to be asked or checked where they are known.
  static LogicalResult convertReshape(tensor::ReshapeOp op) {
    auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(op.getType());
    if (!from || !to || (from.hasStaticShape() && to.hasStaticShape()))
      return success();
    OpBuilder builder(op);
    Location loc = op.getLoc();
    SmallVector<Value> dims;
    for (int64_t dim = 0; dim < to.getRank(); ++dim) {
      if (!to.isDynamicDim(dim))
        continue;
      Value place = arith::ConstantIndexOp::create(builder, loc, dim);
      Value extent = tensor::ExtractOp::create(builder, loc, op.getShape(), place);
      if (!extent.getType().isIndex())
        extent = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), extent);
      dims.push_back(extent);
    }
    return replaceKeepingName(op, Flow::TensorReshapeOp::create(builder, loc, to, op.getSource(), dims));
  }

  // A shift by as many bits as there are, or more, is undefined in arith: here nothing but zeros, or the sign, is left.
  static LogicalResult defineShift(Operation *op) {
    Value amount = op->getOperand(1);
    Type element = getElementTypeOrSelf(amount.getType());
    if (!element.isIntOrIndex())
      return success(); // which is refused
    unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    APInt one;
    DenseIntElementsAttr many;
    if (matchPattern(amount, m_ConstantInt(&one)) && one.ult(width))
      return success();
    if (matchPattern(amount, m_Constant(&many)) &&
        llvm::all_of(many.getValues<APInt>(), [&](const APInt &each) { return each.ult(width); }))
      return success();
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto constant = [&](int64_t value) { return likeAll(builder, amount, builder.getIntegerAttr(element, value)); };
    if (isa<arith::ShRSIOp>(op)) {
      op->setOperand(1, arith::MinUIOp::create(builder, loc, amount, constant(width - 1)));
      return success();
    }
    Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, amount, constant(width));
    Value zero = constant(0);
    builder.setInsertionPointAfter(op);
    auto result = arith::SelectOp::create(builder, loc, isInside, op->getResult(0), zero);
    op->getResult(0).replaceAllUsesExcept(result, result);
    return success();
  }

  // What kind of number a float is, by comparisons, which all devices and the host have.
  static Operation *classify(OpBuilder &builder, Operation *op) {
    Location loc = op->getLoc();
    Value number = op->getOperand(0);
    Type type = number.getType();
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    auto constant = [&](const APFloat &value) { return likeAll(builder, number, FloatAttr::get(element, value)); };
    using arith::CmpFPredicate;
    if (isa<math::IsNaNOp>(op))
      return arith::CmpFOp::create(builder, loc, CmpFPredicate::UNO, number, number);
    Value magnitude = math::AbsFOp::create(builder, loc, number);
    Value largest = constant(APFloat::getLargest(element.getFloatSemantics()));
    if (isa<math::IsInfOp>(op))
      return arith::CmpFOp::create(builder, loc, CmpFPredicate::OGT, magnitude, largest);
    auto isFinite = arith::CmpFOp::create(builder, loc, CmpFPredicate::OLE, magnitude, largest);
    if (isa<math::IsFiniteOp>(op))
      return isFinite;
    Value smallest = constant(APFloat::getSmallestNormalized(element.getFloatSemantics()));
    Value isLargeEnough = arith::CmpFOp::create(builder, loc, CmpFPredicate::OGE, magnitude, smallest);
    return arith::AndIOp::create(builder, loc, isFinite, isLargeEnough);
  }

  // The extents of the constant become values that no fold sees.
  static LogicalResult convertDynamicConstant(Flow::TensorDynamicConstantOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Value value = Util::UnfoldableConstantOp::create(builder, loc, cast<TypedAttr>(op.getValue()));
    SmallVector<Value> dims;
    for (auto [dim, extent] : llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape())) {
      if (!type.isDynamicDim(dim))
        continue;
      Value known = arith::ConstantIndexOp::create(builder, loc, extent);
      dims.push_back(Util::OptimizationBarrierOp::create(builder, loc, known.getType(), known).getResult(0));
    }
    return replace(op, Flow::TensorReshapeOp::create(builder, loc, type, value, dims));
  }

  // Where elements take whole bytes, it is a reshape; else it stays until tensors have bytes for their elements.
  static LogicalResult convertBitcast(Flow::TensorBitcastOp op) {
    auto from = cast<RankedTensorType>(op.getSource().getType()), to = cast<RankedTensorType>(op.getType());
    auto bitsOf = [](RankedTensorType type) { return HAL::packedBitWidth(type); };
    if (from.hasStaticShape() && to.hasStaticShape()) {
      int64_t given = llvm::divideCeil(from.getNumElements() * bitsOf(from), 8);
      int64_t wanted = llvm::divideCeil(to.getNumElements() * bitsOf(to), 8);
      if (given != wanted)
        return op.emitError() << "'flow.tensor.bitcast' of " << from << ", which has " << given << " bytes, to " << to
                              << ", which has " << wanted;
    }
    if (bitsOf(from) % 8 != 0 || bitsOf(to) % 8 != 0)
      return success();
    OpBuilder builder(op);
    return replaceKeepingName(
        op, Flow::TensorReshapeOp::create(builder, op.getLoc(), to, op.getSource(), op.getResultDims()));
  }

  //===--- Globals -----------------------------------------------------------------------------------------------===//

  void convertGlobal(Util::GlobalOp global) {
    SmallVector<Util::GlobalLoadOp> loads;
    SmallVector<Util::GlobalStoreOp> stores;
    getOperation().walk([&](Operation *op) {
      if (auto load = dyn_cast<Util::GlobalLoadOp>(op); load && load.getGlobal() == global.getSymName())
        loads.push_back(load);
      if (auto store = dyn_cast<Util::GlobalStoreOp>(op); store && store.getGlobal() == global.getSymName())
        stores.push_back(store);
    });
    // What nothing ever sets is a constant.
    TypedAttr value = global.getInitialValueAttr();
    if (value && stores.empty() && value.getType() == global.getType()) {
      for (Util::GlobalLoadOp load : loads) {
        OpBuilder builder(load);
        (void)replace(load, constantOf(builder, load.getLoc(), value).getDefiningOp());
      }
      return global.erase();
    }
    auto type = dyn_cast<RankedTensorType>(global.getType());
    if (type)
      carryExtents(global, loads, stores);
    // The null that a tensor would start as has no memory.
    if (value || type)
      initialize(global, value ? value : zeros(type));
  }

  static Value constantOf(OpBuilder &builder, Location loc, TypedAttr value) {
    if (auto parameter = dyn_cast<Flow::NamedParameterAttr>(value))
      return Flow::TensorParameterOp::create(builder, loc, parameter);
    return arith::ConstantOp::create(builder, loc, value);
  }

  static std::string nameOfExtent(Util::GlobalOp global, int64_t dim) {
    return (global.getSymName() + "__extent_" + Twine(dim)).str();
  }

  // Dynamic extents are globals beside the tensor.
  static void carryExtents(Util::GlobalOp global, ArrayRef<Util::GlobalLoadOp> loads,
                           ArrayRef<Util::GlobalStoreOp> stores) {
    auto type = cast<RankedTensorType>(global.getType());
    OpBuilder builder(global);
    Type index = builder.getIndexType();
    SmallVector<std::pair<int64_t, std::string>> extents;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim))
        continue;
      extents.emplace_back(dim, nameOfExtent(global, dim));
      Util::GlobalOp::create(builder, global.getLoc(), extents.back().second, index).setIsMutable(true);
    }
    if (extents.empty())
      return;
    for (Util::GlobalLoadOp load : loads) {
      builder.setInsertionPointAfter(load);
      SmallVector<Value> dims;
      for (auto &[dim, name] : extents)
        dims.push_back(Util::GlobalLoadOp::create(builder, load.getLoc(), index, name));
      auto tie = Flow::TensorTieShapeOp::create(builder, load.getLoc(), type, load.getResult(), dims);
      load.getResult().replaceAllUsesExcept(tie, tie);
    }
    for (Util::GlobalStoreOp store : stores) {
      builder.setInsertionPoint(store);
      for (auto &[dim, name] : extents)
        Util::GlobalStoreOp::create(builder, store.getLoc(),
                                    tensor::DimOp::create(builder, store.getLoc(), store.getValue(), dim), name);
    }
  }

  static TypedAttr zeros(RankedTensorType type) {
    SmallVector<int64_t> shape;
    for (int64_t extent : type.getShape())
      shape.push_back(ShapedType::isDynamic(extent) ? 0 : extent);
    auto known = RankedTensorType::get(shape, type.getElementType());
    return cast<TypedAttr>(Builder(type.getContext()).getZeroAttr(known));
  }

  // In an initializer that runs before all others of the source.
  static void initialize(Util::GlobalOp global, TypedAttr value) {
    OpBuilder builder(global->getContext());
    builder.setInsertionPointAfter(global);
    Location loc = global.getLoc();
    auto initializer = Util::InitializerOp::create(builder, loc);
    builder.setInsertionPointToStart(&initializer.getBody().emplaceBlock());
    Value start = constantOf(builder, loc, value);
    if (start.getType() != global.getType()) {
      auto type = cast<RankedTensorType>(global.getType());
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        if (!type.isDynamicDim(dim))
          continue;
        Value extent =
            arith::ConstantIndexOp::create(builder, loc, cast<RankedTensorType>(start.getType()).getDimSize(dim));
        Util::GlobalStoreOp::create(builder, loc, extent, nameOfExtent(global, dim));
      }
      start = tensor::CastOp::create(builder, loc, type, start);
    }
    Util::GlobalStoreOp::create(builder, loc, start, global.getSymName());
    Util::ReturnOp::create(builder, loc);
    global.removeInitialValueAttr();
  }
};
} // namespace
} // namespace kiln
