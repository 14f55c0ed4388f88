#include "kiln/compiler/Transforms/StableHLOElements.h"

#include "kiln/compiler/Transforms/TensorOps.h"

#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::StableHLO {

static Type withElement(Type like, Type element) {
  auto shaped = dyn_cast<ShapedType>(like);
  return shaped ? shaped.clone(element) : element;
}

namespace {
class Elements {
public:
  Elements(OpBuilder &b, Operation *op, ValueRange operands, Type type)
      : b(b), op(op), loc(op->getLoc()), operands(operands), type(type),
        element(operands.empty() ? Type() : getElementTypeOrSelf(operands[0].getType())),
        isFloat(isa_and_nonnull<FloatType>(element)), isTruth(element && element.isInteger(1)) {}

  Value lower() {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](AbsOp) { return unary<math::AbsFOp, math::AbsIOp>(); })
        .Case([&](CbrtOp) { return unary<math::CbrtOp>(); })
        .Case([&](CeilOp) { return unary<math::CeilOp>(); })
        .Case([&](CosineOp) { return unary<math::CosOp>(); })
        .Case([&](ExpOp) { return unary<math::ExpOp>(); })
        .Case([&](Expm1Op) { return unary<math::ExpM1Op>(); })
        .Case([&](FloorOp) { return unary<math::FloorOp>(); })
        .Case([&](LogOp) { return unary<math::LogOp>(); })
        .Case([&](Log1pOp) { return unary<math::Log1pOp>(); })
        .Case([&](RoundOp) { return unary<math::RoundOp>(); })
        .Case([&](RoundEvenOp) { return unary<math::RoundEvenOp>(); })
        .Case([&](RsqrtOp) { return unary<math::RsqrtOp>(); })
        .Case([&](SineOp) { return unary<math::SinOp>(); })
        .Case([&](SqrtOp) { return unary<math::SqrtOp>(); })
        .Case([&](TanOp) { return unary<math::TanOp>(); })
        .Case([&](TanhOp) { return unary<math::TanhOp>(); })
        .Case([&](ClzOp) { return unary<void, math::CountLeadingZerosOp>(); })
        .Case([&](PopulationCountOp) { return unary<void, math::CtPopOp>(); })
        .Case([&](NegOp) { return isFloat ? unary<arith::NegFOp>() : sub(constant(0), operands[0]); })
        .Case([&](NotOp) { return isFloat ? refuse() : arith::XOrIOp::create(b, loc, operands[0], constant(-1)); })
        .Case([&](IsFiniteOp) {
          return isFloat ? math::IsFiniteOp::create(b, loc, type, operands[0]).getResult() : refuse();
        })
        .Case([&](LogisticOp) { return logistic(); })
        .Case([&](SignOp) { return sign(); })
        .Case([&](ConvertOp) { return convert(); })
        .Case([&](AddOp) { return binary<arith::AddFOp, arith::AddIOp, arith::OrIOp>(); })
        .Case([&](AndOp) { return binary<void, arith::AndIOp>(); })
        .Case([&](Atan2Op) { return binary<math::Atan2Op>(); })
        .Case([&](DivOp) { return binary<arith::DivFOp, arith::DivSIOp>(); })
        .Case([&](MaxOp) { return binary<arith::MaximumFOp, arith::MaxSIOp, arith::OrIOp>(); })
        .Case([&](MinOp) { return binary<arith::MinimumFOp, arith::MinSIOp, arith::AndIOp>(); })
        .Case([&](MulOp) { return binary<arith::MulFOp, arith::MulIOp, arith::AndIOp>(); })
        .Case([&](OrOp) { return binary<void, arith::OrIOp>(); })
        .Case([&](PowOp) { return binary<math::PowFOp, math::IPowIOp>(); })
        .Case([&](RemOp) { return binary<arith::RemFOp, arith::RemSIOp>(); })
        .Case([&](ShiftLeftOp) { return binary<void, arith::ShLIOp>(); })
        .Case([&](ShiftRightOp) { return binary<void, arith::ShRSIOp>(); })
        .Case([&](ShiftRightLogicalOp) { return binary<void, arith::ShRUIOp>(); })
        .Case([&](SubtractOp) { return binary<arith::SubFOp, arith::SubIOp>(); })
        .Case([&](XorOp) { return binary<void, arith::XOrIOp>(); })
        .Case([&](CompareOp compare) { return this->compare(compare); })
        .Case([&](SelectOp) { return select(operands[0], operands[1], operands[2]); })
        .Case([&](ClampOp) { return clamp(); })
        .Default(Value());
  }

private:
  OpBuilder &b;
  Operation *op;
  Location loc;
  ValueRange operands;
  Type type, element;
  bool isFloat, isTruth;

  Value refuse() {
    op->emitError() << "'" << op->getName() << "' does not take elements of " << element;
    return {};
  }

  // As the operands are.
  Value constant(int64_t number) {
    return likeAll(b, operands[0],
                   isFloat ? TypedAttr(b.getFloatAttr(element, static_cast<double>(number)))
                           : TypedAttr(b.getIntegerAttr(element, number)));
  }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }

  template <typename OfFloats, typename OfIntegers = void> Value unary() {
    if constexpr (!std::is_void_v<OfFloats>)
      if (isFloat)
        return OfFloats::create(b, loc, operands[0]);
    if constexpr (!std::is_void_v<OfIntegers>)
      if (!isFloat)
        return OfIntegers::create(b, loc, operands[0]);
    return refuse();
  }

  template <typename OfFloats, typename OfIntegers = void, typename OfTruths = OfIntegers> Value binary() {
    if constexpr (!std::is_void_v<OfFloats>)
      if (isFloat)
        return OfFloats::create(b, loc, operands[0], operands[1]);
    if constexpr (!std::is_void_v<OfTruths>)
      if (isTruth)
        return OfTruths::create(b, loc, operands[0], operands[1]);
    if constexpr (!std::is_void_v<OfIntegers>)
      if (!isFloat)
        return OfIntegers::create(b, loc, operands[0], operands[1]);
    return refuse();
  }

  Value logistic() {
    if (!isFloat)
      return refuse();
    Value power = math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, operands[0]));
    Value one = constant(1);
    return arith::DivFOp::create(b, loc, one, arith::AddFOp::create(b, loc, one, power));
  }

  Value sign() {
    Value x = operands[0], zero = constant(0), one = constant(1), minusOne = constant(-1);
    auto is = [&](arith::CmpFPredicate ofFloats, arith::CmpIPredicate ofIntegers) -> Value {
      return isFloat ? Value(arith::CmpFOp::create(b, loc, ofFloats, x, zero))
                     : Value(arith::CmpIOp::create(b, loc, ofIntegers, x, zero));
    };
    Value isPositive = is(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
    Value isNegative = is(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
    return select(isPositive, one, select(isNegative, minusOne, x));
  }

  Value clamp() {
    auto between = [&]<typename Max, typename Min>(Max, Min) -> Value {
      return Min::create(b, loc, Max::create(b, loc, operands[1], operands[0]), operands[2]);
    };
    if (isFloat)
      return between(arith::MaximumFOp(), arith::MinimumFOp());
    return isTruth ? between(arith::OrIOp(), arith::AndIOp()) : between(arith::MaxSIOp(), arith::MinSIOp());
  }

  Value compare(CompareOp op) {
    bool isUnsigned = isTruth || op.getCompareType() == ComparisonType::UNSIGNED;
    if (op.getCompareType() == ComparisonType::TOTALORDER) {
      op.emitError("in total order is not supported; compare as floats");
      return {};
    }
    using F = arith::CmpFPredicate;
    using I = arith::CmpIPredicate;
    static constexpr F ofFloats[] = {F::OEQ, F::UNE, F::OGE, F::OGT, F::OLE, F::OLT};
    static constexpr I ofSigned[] = {I::eq, I::ne, I::sge, I::sgt, I::sle, I::slt};
    static constexpr I ofUnsigned[] = {I::eq, I::ne, I::uge, I::ugt, I::ule, I::ult};
    auto direction = static_cast<size_t>(op.getComparisonDirection());
    if (isFloat)
      return arith::CmpFOp::create(b, loc, ofFloats[direction], operands[0], operands[1]);
    return arith::CmpIOp::create(b, loc, (isUnsigned ? ofUnsigned : ofSigned)[direction], operands[0], operands[1]);
  }

  Value convert() {
    Value x = operands[0];
    Type to = getElementTypeOrSelf(type);
    if (to == element)
      return x;
    auto of = [&](Type kind) { return withElement(x.getType(), kind); };
    if (to.isInteger(1))
      return isFloat ? Value(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x, constant(0)))
                     : Value(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, constant(0)));
    unsigned from = element.getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
    if (isFloat && isa<FloatType>(to)) {
      // f16 and bf16, as other pairs of one width, have f32 between them.
      if (from == width)
        x = arith::ExtFOp::create(b, loc, of(b.getF32Type()), x);
      if (width > from)
        return arith::ExtFOp::create(b, loc, type, x);
      return arith::TruncFOp::create(b, loc, type, x);
    }
    if (isFloat)
      return arith::FPToSIOp::create(b, loc, type, x);
    if (isa<FloatType>(to))
      return isTruth ? Value(arith::UIToFPOp::create(b, loc, type, x))
                     : Value(arith::SIToFPOp::create(b, loc, type, x));
    if (width < from)
      return arith::TruncIOp::create(b, loc, type, x);
    return isTruth ? Value(arith::ExtUIOp::create(b, loc, type, x)) : Value(arith::ExtSIOp::create(b, loc, type, x));
  }
};
} // namespace

bool isElementwise(Operation *op) {
  return isa<AbsOp, CbrtOp, CeilOp, CosineOp, ExpOp, Expm1Op, FloorOp, LogOp, Log1pOp, RoundOp, RoundEvenOp, RsqrtOp,
             SineOp, SqrtOp, TanOp, TanhOp, ClzOp, PopulationCountOp, NegOp, NotOp, IsFiniteOp, LogisticOp, SignOp,
             ConvertOp, AddOp, AndOp, Atan2Op, DivOp, MaxOp, MinOp, MulOp, OrOp, PowOp, RemOp, ShiftLeftOp,
             ShiftRightOp, ShiftRightLogicalOp, SubtractOp, XorOp, CompareOp, SelectOp, ClampOp>(op);
}

Value lowerElementwise(OpBuilder &b, Operation *op, ValueRange operands, Type type) {
  for (Value operand : operands) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (!element.isSignlessIntOrFloat()) {
      op->emitError() << "'" << op->getName() << "' does not take elements of " << element;
      return {};
    }
  }
  return Elements(b, op, operands, type).lower();
}

// The scalar that a tensor of rank 0 is, or one that is the same everywhere.
static Value scalarOf(OpBuilder &b, Location loc, Value tensor) {
  DenseElementsAttr known;
  if (matchPattern(tensor, m_Constant(&known)) && known.isSplat())
    return arith::ConstantOp::create(b, loc, known.getSplatValue<TypedAttr>());
  return tensor::ExtractOp::create(b, loc, tensor, ValueRange());
}

FailureOr<SmallVector<Value>> lowerScalarBody(OpBuilder &b, Block &body, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  auto scalar = [&](Value value) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    return isa<RankedTensorType>(value.getType()) ? scalarOf(b, value.getLoc(), value) : value;
  };
  for (Operation &op : body.without_terminator()) {
    bool isScalar = llvm::all_of(op.getResultTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return !tensor || tensor.getRank() == 0;
    });
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), scalar);
    SmallVector<Type> types =
        llvm::map_to_vector(op.getResultTypes(), [](Type type) { return getElementTypeOrSelf(type); });
    DenseElementsAttr known;
    if (isScalar && matchPattern(&op, m_Constant(&known)) && known.isSplat()) {
      mapping.map(op.getResult(0), arith::ConstantOp::create(b, op.getLoc(), known.getSplatValue<TypedAttr>()));
    } else if (auto constant = dyn_cast<ConstantOp>(op);
               isScalar && constant && (known = dyn_cast<DenseElementsAttr>(constant.getValue())) && known.isSplat()) {
      mapping.map(op.getResult(0), arith::ConstantOp::create(b, op.getLoc(), known.getSplatValue<TypedAttr>()));
    } else if (isScalar && isElementwise(&op)) {
      Value result = lowerElementwise(b, &op, operands, types[0]);
      if (!result)
        return failure();
      mapping.map(op.getResult(0), result);
    } else if (isScalar && OpTrait::hasElementwiseMappableTraits(&op)) {
      mapping.map(op.getResults(), clone(b, &op, types, operands)->getResults());
    } else if (isScalar && isa<ReshapeOp, BroadcastInDimOp>(op)) {
      mapping.map(op.getResult(0), operands[0]);
    } else {
      op.emitError() << "'" << op.getName() << "' is not supported in the body of '" << body.getParentOp()->getName()
                     << "', which is computed for single elements";
      return failure();
    }
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), scalar);
}

} // namespace kiln::StableHLO
