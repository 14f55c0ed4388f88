// Of the emitter: scalars in bodies.
#include "kiln/compiler/Input/Onnx/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace kiln::onnx {

static bool isFloatValue(mlir::Value value) {
  return isa<FloatType>(value.getType());
}

mlir::Value Scalars::constant(double number, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APFloat value(number);
    bool losesInfo = false;
    value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return arith::ConstantOp::create(b, loc, FloatAttr::get(type, value));
  }
  return arith::ConstantOp::create(b, loc, IntegerAttr::get(type, static_cast<int64_t>(number)));
}

mlir::Value Scalars::index(int64_t number) {
  return arith::ConstantIndexOp::create(b, loc, number);
}

mlir::Value Scalars::add(mlir::Value x, mlir::Value y) {
  return isFloatValue(x) ? make<arith::AddFOp>(x, y) : make<arith::AddIOp>(x, y);
}
mlir::Value Scalars::sub(mlir::Value x, mlir::Value y) {
  return isFloatValue(x) ? make<arith::SubFOp>(x, y) : make<arith::SubIOp>(x, y);
}
mlir::Value Scalars::mul(mlir::Value x, mlir::Value y) {
  return isFloatValue(x) ? make<arith::MulFOp>(x, y) : make<arith::MulIOp>(x, y);
}
mlir::Value Scalars::div(mlir::Value x, mlir::Value y) {
  if (isFloatValue(x))
    return make<arith::DivFOp>(x, y);
  return isUnsigned ? make<arith::DivUIOp>(x, y) : make<arith::DivSIOp>(x, y);
}
mlir::Value Scalars::rem(mlir::Value x, mlir::Value y, bool hasSignOfDivisor) {
  mlir::Value rest;
  if (isFloatValue(x))
    rest = make<arith::RemFOp>(x, y);
  else if (isUnsigned)
    return make<arith::RemUIOp>(x, y);
  else
    rest = make<arith::RemSIOp>(x, y);
  if (!hasSignOfDivisor)
    return rest;
  mlir::Value zero = like(0, x);
  mlir::Value isOther = make<arith::XOrIOp>(less(rest, zero), less(y, zero));
  mlir::Value moves = make<arith::AndIOp>(isOther, logicalNot(equal(rest, zero)));
  return select(moves, add(rest, y), rest);
}
mlir::Value Scalars::max(mlir::Value x, mlir::Value y) {
  if (isFloatValue(x)) // ONNX says nothing of the signs of zeros.
    return make<arith::MaximumFOp>(x, y, arith::FastMathFlags::nsz);
  return isUnsigned ? make<arith::MaxUIOp>(x, y) : make<arith::MaxSIOp>(x, y);
}
mlir::Value Scalars::min(mlir::Value x, mlir::Value y) {
  if (isFloatValue(x))
    return make<arith::MinimumFOp>(x, y, arith::FastMathFlags::nsz);
  return isUnsigned ? make<arith::MinUIOp>(x, y) : make<arith::MinSIOp>(x, y);
}
mlir::Value Scalars::neg(mlir::Value x) {
  return isFloatValue(x) ? make<arith::NegFOp>(x) : sub(like(0, x), x);
}
mlir::Value Scalars::less(mlir::Value x, mlir::Value y) {
  if (isFloatValue(x))
    return make<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, y);
  const bool plain = !isUnsigned || isa<IndexType>(x.getType());
  return make<arith::CmpIOp>(plain ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult, x, y);
}
mlir::Value Scalars::lessOrEqual(mlir::Value x, mlir::Value y) {
  if (isFloatValue(x))
    return make<arith::CmpFOp>(arith::CmpFPredicate::OLE, x, y);
  const bool plain = !isUnsigned || isa<IndexType>(x.getType());
  return make<arith::CmpIOp>(plain ? arith::CmpIPredicate::sle : arith::CmpIPredicate::ule, x, y);
}
mlir::Value Scalars::equal(mlir::Value x, mlir::Value y) {
  if (isFloatValue(x))
    return make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, y);
  return make<arith::CmpIOp>(arith::CmpIPredicate::eq, x, y);
}
mlir::Value Scalars::select(mlir::Value condition, mlir::Value x, mlir::Value y) {
  return make<arith::SelectOp>(condition, x, y);
}
mlir::Value Scalars::logicalNot(mlir::Value x) {
  return make<arith::XOrIOp>(x, constant(1, x.getType()));
}
mlir::Value Scalars::sigmoid(mlir::Value x) {
  mlir::Value one = like(1, x);
  return div(one, add(one, make<math::ExpOp>(neg(x))));
}
// log(1 + exp(x)) without an overflow.
mlir::Value Scalars::softplus(mlir::Value x) {
  mlir::Value rest = make<math::Log1pOp>(make<math::ExpOp>(neg(make<math::AbsFOp>(x))));
  return add(max(x, like(0, x)), rest);
}
mlir::Value Scalars::gelu(mlir::Value x, bool isTanh) {
  mlir::Value gate;
  if (isTanh) {
    mlir::Value cube = mul(mul(x, x), x);
    mlir::Value inner = mul(like(std::sqrt(2 / std::numbers::pi), x), add(x, mul(like(0.044715, x), cube)));
    gate = make<math::TanhOp>(inner);
  } else {
    gate = make<math::ErfOp>(mul(x, like(std::numbers::sqrt2 / 2, x)));
  }
  return mul(mul(like(0.5, x), x), add(like(1, x), gate));
}

mlir::Value Scalars::toIndex(mlir::Value integer) {
  if (isa<IndexType>(integer.getType()))
    return integer;
  return make<arith::IndexCastOp>(b.getIndexType(), integer);
}
mlir::Value Scalars::toFloat(mlir::Value number, Type type) {
  if (isa<IndexType>(number.getType()))
    number = make<arith::IndexCastOp>(b.getI64Type(), number);
  return make<arith::SIToFPOp>(type, number);
}

mlir::Value Scalars::convert(mlir::Value x, bool fromUnsigned, Type type, bool toUnsigned) {
  Type from = x.getType();
  if (from == type)
    return x;
  const unsigned before = from.getIntOrFloatBitWidth(), after = type.getIntOrFloatBitWidth();
  if (type.isInteger(1))
    return isFloatValue(x) ? make<arith::CmpFOp>(arith::CmpFPredicate::UNE, x, like(0, x))
                           : make<arith::CmpIOp>(arith::CmpIPredicate::ne, x, like(0, x));
  if (isFloatValue(x) && isa<FloatType>(type)) {
    if (after > before)
      return make<arith::ExtFOp>(type, x);
    if (after < before)
      return make<arith::TruncFOp>(type, x);
    return make<arith::TruncFOp>(type, make<arith::ExtFOp>(b.getF32Type(), x));
  }
  if (isFloatValue(x)) {
    // By way of a wide integer, of which the lowest bits are kept, as other runtimes do.
    Type wide = b.getI64Type();
    mlir::Value integer = toUnsigned && after == 64 ? make<arith::FPToUIOp>(wide, x) : make<arith::FPToSIOp>(wide, x);
    return after == 64 ? integer : make<arith::TruncIOp>(type, integer);
  }
  if (isa<FloatType>(type))
    return fromUnsigned ? make<arith::UIToFPOp>(type, x) : make<arith::SIToFPOp>(type, x);
  if (after < before)
    return make<arith::TruncIOp>(type, x);
  if (after == before)
    return x;
  return fromUnsigned ? make<arith::ExtUIOp>(type, x) : make<arith::ExtSIOp>(type, x);
}

} // namespace kiln::onnx
