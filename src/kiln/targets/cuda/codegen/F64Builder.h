// Arithmetic of f64 for functions that are written out, and the functions that are as good in f64 as they are for f32.
#ifndef KILN_TARGETS_CUDA_CODEGEN_F64BUILDER_H
#define KILN_TARGETS_CUDA_CODEGEN_F64BUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace kiln {

class F64Builder {
public:
  using Value = mlir::Value;
  using CmpFPredicate = mlir::arith::CmpFPredicate;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  F64Builder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  Value constant(double value) { return mlir::arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value)); }
  Value bits(int64_t value) { return mlir::arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
  Value add(Value x, Value y) { return mlir::arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return mlir::arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return mlir::arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return mlir::arith::DivFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) { return mlir::math::FmaOp::create(b, loc, x, y, z); }
  Value abs(Value x) { return mlir::math::AbsFOp::create(b, loc, x); }
  Value sqrt(Value x) { return mlir::math::SqrtOp::create(b, loc, x); }
  Value copySign(Value x, Value sign) { return mlir::math::CopySignOp::create(b, loc, x, sign); }
  Value negate(Value x) { return mlir::arith::NegFOp::create(b, loc, x); }
  Value is(CmpFPredicate predicate, Value x, Value y) { return mlir::arith::CmpFOp::create(b, loc, predicate, x, y); }
  Value is(CmpFPredicate predicate, Value x, double y) { return is(predicate, x, constant(y)); }
  Value select(Value condition, Value x, Value y) { return mlir::arith::SelectOp::create(b, loc, condition, x, y); }
  Value both(Value x, Value y) { return mlir::arith::AndIOp::create(b, loc, x, y); }
  Value either(Value x, Value y) { return mlir::arith::OrIOp::create(b, loc, x, y); }
  Value isNaN(Value x) { return is(CmpFPredicate::UNO, x, x); }
  // The sine of an angle beyond so many quadrants, of which the last two bits count, from the sine and the cosine of
  // what is left; the cosine where `shift` is 1.
  Value turned(Value sine, Value cosine, Value quadrant, int64_t shift) {
    Value place = mlir::arith::AddIOp::create(b, loc, quadrant, bits(shift));
    auto hasBit = [&](int64_t bit) -> Value {
      return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ne,
                                         mlir::arith::AndIOp::create(b, loc, place, bits(bit)), bits(0));
    };
    Value result = select(hasBit(1), cosine, sine);
    return select(hasBit(2), negate(result), result);
  }
  // c0 + c1 x + c2 x^2 ...
  Value polynomial(Value x, llvm::ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(c));
    return sum;
  }
  // The value where the condition holds, else one that is harmless there.
  Value orElse(Value condition, Value x, double harmless) { return select(condition, x, constant(harmless)); }

  // e^x, or e^(x + low) for what is less than a unit of x.
  Value exp(Value x, Value low = {}) {
    Value known = clamp(orElse(is(CmpFPredicate::ORD, x, x), x, 0), 800);
    Value n = mlir::math::RoundEvenOp::create(b, loc, mul(known, constant(std::numbers::log2e)));
    Value r = fma(negate(n), constant(ln2High), known);
    r = fma(negate(n), constant(ln2Low), r);
    r = low ? add(r, low) : r;
    return select(isNaN(x), x, scale(polynomial(r, exponentialSeries()), n));
  }

  Value exp2(Value x) {
    Value known = clamp(orElse(is(CmpFPredicate::ORD, x, x), x, 0), 1150);
    Value n = mlir::math::RoundEvenOp::create(b, loc, known);
    Value r = mul(sub(known, n), constant(std::numbers::ln2));
    return select(isNaN(x), x, scale(polynomial(r, exponentialSeries()), n));
  }

  // e^x - 1; what is lost for small x is not computed that way.
  Value expM1(Value x) {
    llvm::SmallVector<double> series = exponentialSeries();
    series.erase(series.begin());
    Value isSmall = is(CmpFPredicate::OLT, abs(x), 0.35);
    Value small = mul(x, polynomial(orElse(isSmall, x, 0), series));
    return select(isSmall, small, sub(exp(x), constant(1)));
  }

  // For x > 0: e, and x / 2^e, which is between the roots of 1/2 and 2.
  std::pair<Value, Value> splitExponent(Value x) {
    Value isTiny = is(CmpFPredicate::OLT, x, 0x1p-1022);
    Value normal = select(isTiny, mul(x, constant(0x1p54)), x);
    Value raw = mlir::arith::BitcastOp::create(b, loc, b.getI64Type(), normal);
    Value exponent =
        mlir::arith::SubIOp::create(b, loc, mlir::arith::ShRUIOp::create(b, loc, raw, bits(52)), bits(1023));
    Value fraction = mlir::arith::OrIOp::create(
        b, loc, mlir::arith::AndIOp::create(b, loc, raw, bits((int64_t(1) << 52) - 1)), bits(int64_t(1023) << 52));
    Value m = mlir::arith::BitcastOp::create(b, loc, b.getF64Type(), fraction);
    Value isLarge = is(CmpFPredicate::OGT, m, std::numbers::sqrt2);
    m = select(isLarge, mul(m, constant(0.5)), m);
    Value e = mlir::arith::SIToFPOp::create(b, loc, b.getF64Type(), exponent);
    e = select(isLarge, add(e, constant(1)), e);
    return {select(isTiny, sub(e, constant(54)), e), m};
  }

  // The same with the logarithm of x / 2^e.
  std::pair<Value, Value> splitLog(Value x) {
    auto [e, m] = splitExponent(x);
    Value s = div(sub(m, constant(1)), add(m, constant(1)));
    llvm::SmallVector<double> series;
    for (int i = 0; i <= 11; ++i)
      series.push_back(2.0 / (2 * i + 1));
    return {e, mul(s, polynomial(mul(s, s), series))};
  }

  // For x > 0.
  Value log(Value x) {
    auto [e, rest] = splitLog(x);
    return fma(e, constant(ln2Short), fma(e, constant(ln2ShortRest), rest));
  }

  // A logarithm for any x, from one for those that are usual.
  Value logOfAny(Value x, llvm::function_ref<Value(Value)> ofUsual) {
    Value isUsual = both(is(CmpFPredicate::OGT, x, 0), is(CmpFPredicate::OLT, x, infinity));
    Value result = ofUsual(orElse(isUsual, x, 1));
    Value special = select(is(CmpFPredicate::OEQ, x, 0), constant(-infinity),
                           select(is(CmpFPredicate::OEQ, x, infinity), x, constant(std::nan(""))));
    return select(isUsual, result, special);
  }
  Value log2(Value x) {
    auto [e, rest] = splitLog(x);
    return fma(rest, constant(std::numbers::log2e), e);
  }
  Value log10(Value x) {
    auto [e, rest] = splitLog(x);
    return fma(e, constant(log10Of2High), fma(e, constant(log10Of2Low), mul(rest, constant(std::numbers::log10e))));
  }
  // The logarithm of what 1 + x is rounded to, and what the rounding has taken.
  Value log1p(Value x) {
    Value sum = add(constant(1), x);
    Value isUsual = both(is(CmpFPredicate::OGT, x, -1), is(CmpFPredicate::OLT, x, infinity));
    Value known = orElse(isUsual, x, 0), knownSum = orElse(isUsual, sum, 1);
    Value lost = sub(known, sub(knownSum, constant(1)));
    Value result = add(log(knownSum), div(lost, knownSum));
    result = select(is(CmpFPredicate::OLT, abs(x), 0x1p-53), x, result);
    return select(isUsual, result, logOfAny(sum, [](Value one) { return one; }));
  }
  Value tanh(Value x) {
    Value e = expM1(mul(abs(clamp(x, 30)), constant(2)));
    Value result = copySign(div(e, add(e, constant(2))), x);
    return select(isNaN(x), x, select(is(CmpFPredicate::OEQ, x, 0), x, result));
  }

  // Between -pi/2 and pi/2, for any x; 23 terms are enough for f64.
  Value atan(Value x, int terms) {
    Value a = abs(x);
    Value isLarge = is(CmpFPredicate::OGT, a, 1);
    Value t = select(isLarge, div(constant(1), a), a);
    Value isMiddle = is(CmpFPredicate::OGT, t, std::numbers::sqrt2 - 1);
    Value u = select(isMiddle, div(sub(t, constant(1)), add(t, constant(1))), t);
    llvm::SmallVector<double> series;
    for (int i = 0; i < terms; ++i)
      series.push_back((i % 2 ? -1.0 : 1.0) / (2 * i + 1));
    Value angle = mul(u, polynomial(mul(u, u), series));
    angle = select(isMiddle, add(constant(pi / 4), add(angle, constant(piLow / 4))), angle);
    angle = select(isLarge, sub(constant(pi / 2), sub(angle, constant(piLow / 2))), angle);
    return copySign(angle, x);
  }

  Value atan2(Value y, Value x, int terms) {
    // Of equal infinities the quotient is 1, and of zeros 0.
    Value isInfinite = both(is(CmpFPredicate::OEQ, abs(x), infinity), is(CmpFPredicate::OEQ, abs(y), infinity));
    Value isZero = both(is(CmpFPredicate::OEQ, x, 0), is(CmpFPredicate::OEQ, y, 0));
    Value quotient = abs(div(y, x));
    quotient = select(isInfinite, constant(1), select(isZero, constant(0), quotient));
    Value angle = atan(quotient, terms);
    Value isLeft = is(CmpFPredicate::OLT, copySign(constant(1), x), 0);
    angle = select(isLeft, sub(constant(pi), sub(angle, constant(piLow))), angle);
    return select(either(isNaN(x), isNaN(y)), add(x, y), copySign(angle, y));
  }

  // The other side of the triangle.
  Value side(Value x) { return sqrt(mul(sub(constant(1), x), add(constant(1), x))); }

  // A power of any numbers, from the power of a positive one.
  Value powOfAny(Value x, Value y, llvm::function_ref<Value(Value)> ofUsual) {
    Value a = abs(x);
    Value isUsual = both(is(CmpFPredicate::OGT, a, 0), is(CmpFPredicate::OLT, a, infinity));
    Value result = ofUsual(orElse(isUsual, a, 1));
    Value isPositive = is(CmpFPredicate::OGT, y, 0);
    result = select(is(CmpFPredicate::OEQ, a, 0), select(isPositive, constant(0), constant(infinity)), result);
    result = select(is(CmpFPredicate::OEQ, a, infinity), select(isPositive, constant(infinity), constant(0)), result);
    auto isInteger = [&](Value value) {
      return is(CmpFPredicate::OEQ, value, Value(mlir::math::TruncOp::create(b, loc, value)));
    };
    Value half = mul(y, constant(0.5));
    Value isNegative = is(CmpFPredicate::OLT, copySign(constant(1), x), 0);
    Value isOdd = mlir::arith::SelectOp::create(b, loc, isInteger(half), no(), isInteger(y));
    result = select(both(isNegative, isOdd), negate(result), result);
    Value isRoot = both(both(isUsual, isNegative), mlir::arith::XOrIOp::create(b, loc, isInteger(y), yes()));
    result = select(isRoot, constant(std::nan("")), result);
    Value isBoundless = is(CmpFPredicate::OEQ, abs(y), infinity);
    result = select(both(isBoundless, is(CmpFPredicate::OEQ, a, 1)), constant(1), result);
    result = select(either(isNaN(x), isNaN(y)), add(x, y), result);
    return select(either(is(CmpFPredicate::OEQ, x, 1), is(CmpFPredicate::OEQ, y, 0)), constant(1), result);
  }

  Value finiteOnly(Value x, Value result) {
    return select(is(CmpFPredicate::OLT, abs(x), infinity), result, sub(x, x));
  }
  Value yes() { return mlir::arith::ConstantOp::create(b, loc, b.getBoolAttr(true)); }
  Value no() { return mlir::arith::ConstantOp::create(b, loc, b.getBoolAttr(false)); }

protected:
  static constexpr double pi = std::numbers::pi, piLow = 0x1.1a62633145c07p-53;
  static constexpr double ln2High = 0x1.62e42fefa39efp-1, ln2Low = 0x1.abc9e3b39803fp-56;
  // The first with zeros at its end, so that its products with exponents are exact.
  static constexpr double ln2Short = 0x1.62e42fefap-1, ln2ShortRest = 0x1.cf79abc9e3b3ap-40;
  static constexpr double log10Of2High = 0x1.3441350900000p-2, log10Of2Low = 0x1.ef3fde623e256p-35;

  static llvm::SmallVector<double> exponentialSeries() {
    llvm::SmallVector<double> taylor{1};
    for (int i = 1; i <= 14; ++i)
      taylor.push_back(taylor.back() / i);
    return taylor;
  }

  Value clamp(Value x, double bound) {
    x = select(is(CmpFPredicate::OGT, x, bound), constant(bound), x);
    return select(is(CmpFPredicate::OLT, x, -bound), constant(-bound), x);
  }

  // x * 2^n for a whole n, in two steps, so that results may be subnormal or overflow.
  Value scale(Value x, Value n) {
    Value whole = mlir::arith::FPToSIOp::create(b, loc, b.getI64Type(), n);
    Value half = mlir::arith::ShRSIOp::create(b, loc, whole, bits(1));
    for (Value part : {half, Value(mlir::arith::SubIOp::create(b, loc, whole, half))}) {
      Value power =
          mlir::arith::ShLIOp::create(b, loc, mlir::arith::AddIOp::create(b, loc, part, bits(1023)), bits(52));
      x = mul(x, mlir::arith::BitcastOp::create(b, loc, b.getF64Type(), power));
    }
    return x;
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_F64BUILDER_H
