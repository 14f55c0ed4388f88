// Short names for arithmetic on f32, on scalars and vectors alike.
#ifndef KILN_COMPILER_INTERFACES_FLOATBUILDER_H
#define KILN_COMPILER_INTERFACES_FLOATBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace kiln {

// On a math.exp whose argument is known to be at most zero, or NaN; and on one whose result may be zero where it would
// be no normal number, as it is only summed up, and divided by such a sum.
inline constexpr llvm::StringLiteral kAtMostZeroAttr = "kiln.at_most_zero", kVanishesAttr = "kiln.vanishes";

// Values are all of the type of `like`: f32, or a vector of it; bits are i32 in the same shape, conditions i1.
class FloatBuilder {
public:
  using Value = mlir::Value;

  FloatBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Type like, bool hasFMA, bool hasScaling = false)
      : b(b), loc(loc), type(like), bitsType(sameShape(b.getI32Type())), hasFMA(hasFMA), hasScaling(hasScaling) {}

  Value constant(double value) { return splat(b.getF32FloatAttr(value), type); }
  Value bitsConstant(uint32_t value) { return splat(b.getI32IntegerAttr(static_cast<int32_t>(value)), bitsType); }

  Value add(Value x, Value y) { return mlir::arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return mlir::arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return mlir::arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return mlir::arith::DivFOp::create(b, loc, x, y); }
  Value abs(Value x) { return mlir::math::AbsFOp::create(b, loc, x); }
  Value copySign(Value x, Value sign) { return mlir::math::CopySignOp::create(b, loc, x, sign); }
  // x * y + z; rounded once where the CPU can.
  Value fma(Value x, Value y, Value z) {
    if (hasFMA)
      return mlir::math::FmaOp::create(b, loc, x, y, z);
    return add(mul(x, y), z);
  }
  // Whether there is an instruction for x * 2^n, with vectors as these.
  bool scales() const { return hasScaling && llvm::isa<mlir::VectorType>(type); }
  Value toInteger(Value x) { return mlir::arith::FPToSIOp::create(b, loc, bitsType, x); }
  // c0 + c1 x + c2 x^2 ...
  Value polynomial(Value x, llvm::ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(c));
    return sum;
  }

  Value bits(Value x) { return mlir::arith::BitcastOp::create(b, loc, bitsType, x); }
  Value fromBits(Value x) { return mlir::arith::BitcastOp::create(b, loc, type, x); }
  Value addBits(Value x, Value y) { return mlir::arith::AddIOp::create(b, loc, x, y); }
  Value subBits(Value x, Value y) { return mlir::arith::SubIOp::create(b, loc, x, y); }
  Value maxBits(Value x, Value y) { return mlir::arith::MaxSIOp::create(b, loc, x, y); }
  Value andBits(Value x, Value y) { return mlir::arith::AndIOp::create(b, loc, x, y); }
  Value orBits(Value x, Value y) { return mlir::arith::OrIOp::create(b, loc, x, y); }
  Value shiftLeft(Value x, uint32_t count) { return mlir::arith::ShLIOp::create(b, loc, x, bitsConstant(count)); }
  Value shiftRight(Value x, uint32_t count) { return mlir::arith::ShRUIOp::create(b, loc, x, bitsConstant(count)); }
  Value shiftRightSigned(Value x, uint32_t count) {
    return mlir::arith::ShRSIOp::create(b, loc, x, bitsConstant(count));
  }
  Value toFloat(Value integer) { return mlir::arith::SIToFPOp::create(b, loc, type, integer); }

  // f64 to f32 so that a second rounding gives what one rounding would: what is not exact gets an odd last bit.
  Value roundToOdd(Value x) {
    using mlir::arith::CmpFPredicate;
    Value rounded = mlir::arith::TruncFOp::create(b, loc, type, x);
    Value back = mlir::arith::ExtFOp::create(b, loc, x.getType(), rounded);
    Value inexact = mlir::arith::CmpFOp::create(b, loc, CmpFPredicate::UNE, back, x);
    Value tooLarge = mlir::arith::CmpFOp::create(b, loc, CmpFPredicate::OGT, mlir::math::AbsFOp::create(b, loc, back),
                                                 mlir::math::AbsFOp::create(b, loc, x));
    Value of = bits(rounded);
    of = select(tooLarge, subBits(of, bitsConstant(1)), of);
    return fromBits(select(inexact, orBits(of, bitsConstant(1)), of));
  }

  Value compareBits(mlir::arith::CmpIPredicate predicate, Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  // False where an operand is NaN, but for UNE and the like.
  Value compare(mlir::arith::CmpFPredicate predicate, Value x, Value y) {
    return mlir::arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value less(Value x, Value y) { return compare(mlir::arith::CmpFPredicate::OLT, x, y); }
  Value select(Value condition, Value x, Value y) { return mlir::arith::SelectOp::create(b, loc, condition, x, y); }

  mlir::Type sameShape(mlir::Type elementType) const {
    auto vectorType = llvm::dyn_cast<mlir::VectorType>(type);
    return vectorType ? mlir::Type(vectorType.clone(elementType)) : elementType;
  }
  mlir::OpBuilder &builder() { return b; }
  mlir::Location location() const { return loc; }

private:
  Value splat(mlir::TypedAttr value, mlir::Type wanted) {
    if (auto vectorType = llvm::dyn_cast<mlir::VectorType>(wanted))
      value = mlir::DenseElementsAttr::get(vectorType, value);
    return mlir::arith::ConstantOp::create(b, loc, value);
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type, bitsType;
  bool hasFMA, hasScaling;
};

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_FLOATBUILDER_H
