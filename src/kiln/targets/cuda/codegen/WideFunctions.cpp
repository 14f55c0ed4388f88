#include "kiln/targets/cuda/codegen/WideFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace kiln {

namespace {

constexpr double pi = std::numbers::pi, infinity = std::numeric_limits<double>::infinity();

// Arithmetic on f64 values that come from f32 ones: so much wider that errors of some units do not matter.
class WideBuilder {
public:
  WideBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value constant(double value) { return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value)); }
  Value bits(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  Value abs(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value sqrt(Value x) { return math::SqrtOp::create(b, loc, x); }
  Value copySign(Value x, Value sign) { return math::CopySignOp::create(b, loc, x, sign); }
  Value negate(Value x) { return arith::NegFOp::create(b, loc, x); }
  Value is(CmpFPredicate predicate, Value x, Value y) { return arith::CmpFOp::create(b, loc, predicate, x, y); }
  Value is(CmpFPredicate predicate, Value x, double y) { return is(predicate, x, constant(y)); }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value isNaN(Value x) { return is(CmpFPredicate::UNO, x, x); }
  // c0 + c1 x + c2 x^2 ...
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(c));
    return sum;
  }
  // The value where the condition holds, else one that is harmless there.
  Value orElse(Value condition, Value x, double harmless) { return select(condition, x, constant(harmless)); }

  Value exp(Value x) {
    Value known = clamp(orElse(is(CmpFPredicate::ORD, x, x), x, 0), 800);
    Value n = math::RoundEvenOp::create(b, loc, mul(known, constant(std::numbers::log2e)));
    Value r = fma(negate(n), constant(ln2High), known);
    r = fma(negate(n), constant(ln2Low), r);
    return select(isNaN(x), x, scale(polynomial(r, exponentialSeries()), n));
  }

  Value exp2(Value x) {
    Value known = clamp(orElse(is(CmpFPredicate::ORD, x, x), x, 0), 1150);
    Value n = math::RoundEvenOp::create(b, loc, known);
    Value r = mul(sub(known, n), constant(std::numbers::ln2));
    return select(isNaN(x), x, scale(polynomial(r, exponentialSeries()), n));
  }

  // e^x - 1; what is lost for small x is not computed that way.
  Value expM1(Value x) {
    SmallVector<double> series = exponentialSeries();
    series.erase(series.begin());
    Value isSmall = is(CmpFPredicate::OLT, abs(x), 0.35);
    Value small = mul(x, polynomial(orElse(isSmall, x, 0), series));
    return select(isSmall, small, sub(exp(x), constant(1)));
  }

  // For x > 0: e, and the logarithm of x / 2^e, which is between the roots of 1/2 and 2.
  std::pair<Value, Value> splitLog(Value x) {
    Value isTiny = is(CmpFPredicate::OLT, x, 0x1p-1022);
    Value normal = select(isTiny, mul(x, constant(0x1p54)), x);
    Value raw = arith::BitcastOp::create(b, loc, b.getI64Type(), normal);
    Value exponent = arith::SubIOp::create(b, loc, arith::ShRUIOp::create(b, loc, raw, bits(52)), bits(1023));
    Value fraction = arith::OrIOp::create(b, loc, arith::AndIOp::create(b, loc, raw, bits((int64_t(1) << 52) - 1)),
                                          bits(int64_t(1023) << 52));
    Value m = arith::BitcastOp::create(b, loc, b.getF64Type(), fraction);
    Value isLarge = is(CmpFPredicate::OGT, m, std::numbers::sqrt2);
    m = select(isLarge, mul(m, constant(0.5)), m);
    Value e = arith::SIToFPOp::create(b, loc, b.getF64Type(), exponent);
    e = select(isLarge, add(e, constant(1)), e);
    e = select(isTiny, sub(e, constant(54)), e);
    Value s = div(sub(m, constant(1)), add(m, constant(1)));
    SmallVector<double> series;
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

  // Between -pi/2 and pi/2, for any x.
  Value atan(Value x) {
    Value a = abs(x);
    Value isLarge = is(CmpFPredicate::OGT, a, 1);
    Value t = select(isLarge, div(constant(1), a), a);
    Value isMiddle = is(CmpFPredicate::OGT, t, std::numbers::sqrt2 - 1);
    Value u = select(isMiddle, div(sub(t, constant(1)), add(t, constant(1))), t);
    SmallVector<double> series;
    for (int i = 0; i <= 16; ++i)
      series.push_back((i % 2 ? -1.0 : 1.0) / (2 * i + 1));
    Value angle = mul(u, polynomial(mul(u, u), series));
    angle = select(isMiddle, add(angle, constant(pi / 4)), angle);
    angle = select(isLarge, sub(constant(pi / 2), angle), angle);
    return copySign(angle, x);
  }

  Value atan2(Value y, Value x) {
    // Of equal infinities the quotient is 1, and of zeros 0.
    Value isInfinite = both(is(CmpFPredicate::OEQ, abs(x), infinity), is(CmpFPredicate::OEQ, abs(y), infinity));
    Value isZero = both(is(CmpFPredicate::OEQ, x, 0), is(CmpFPredicate::OEQ, y, 0));
    Value quotient = abs(div(y, x));
    quotient = select(isInfinite, constant(1), select(isZero, constant(0), quotient));
    Value angle = atan(quotient);
    Value isLeft = is(CmpFPredicate::OLT, copySign(constant(1), x), 0);
    angle = select(isLeft, sub(constant(pi), angle), angle);
    return select(either(isNaN(x), isNaN(y)), add(x, y), copySign(angle, y));
  }

  // x less the multiple of pi / 2 that is nearest, and that multiple's number, of which the last two bits count.
  std::pair<Value, Value> reduceAngle(Value narrow, Value x) {
    Type i64 = b.getI64Type();
    // Up to 2^24 the multiples are few enough for f64.
    Value isSmall = is(CmpFPredicate::OLT, abs(x), 0x1p24);
    Value small = orElse(isSmall, x, 0);
    Value n = math::RoundEvenOp::create(b, loc, mul(small, constant(2 / pi)));
    Value smallRest = fma(negate(n), constant(pi / 2), small);
    smallRest = fma(negate(n), constant(halfPiLow), smallRest);
    Value smallQuadrant = arith::FPToSIOp::create(b, loc, i64, n);

    // |x| = m 2^e with an m of 24 bits. m times the bits of 1 / (2 pi) from 2^-e on is x / (2 pi) without whole turns.
    Type i32 = b.getI32Type(), i128 = b.getIntegerType(128), i256 = b.getIntegerType(256);
    auto wide = [&](Type type, const APInt &value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
    };
    auto low = [&](Type type, uint64_t value) { return wide(type, APInt(type.getIntOrFloatBitWidth(), value)); };
    Value raw = arith::BitcastOp::create(b, loc, i32, narrow);
    Value biased = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, raw, low(i32, 23)), low(i32, 255));
    Value m = arith::OrIOp::create(b, loc, arith::AndIOp::create(b, loc, raw, low(i32, 0x7fffff)), low(i32, 0x800000));
    Value e = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, biased, low(i32, 150)), low(i32, 0));
    e = arith::MinSIOp::create(b, loc, e, low(i32, 104));
    Value turns = wide(i256, APInt(256, "28be60db9391054a7f09d5f47d4d377036d8a5664f10e4107f9458eaf7aef158", 16));
    Value shifted = arith::ShLIOp::create(b, loc, turns, arith::ExtUIOp::create(b, loc, i256, e));
    Value window = arith::TruncIOp::create(b, loc, i128, arith::ShRUIOp::create(b, loc, shifted, low(i256, 128)));
    Value product = arith::MulIOp::create(b, loc, window, arith::ExtUIOp::create(b, loc, i128, m));
    Value high = arith::TruncIOp::create(b, loc, i64, arith::ShRUIOp::create(b, loc, product, low(i128, 64)));
    Value largeQuadrant =
        arith::ShRUIOp::create(b, loc, arith::AddIOp::create(b, loc, high, bits(int64_t(1) << 61)), bits(62));
    Value rest = arith::SubIOp::create(b, loc, high, arith::ShLIOp::create(b, loc, largeQuadrant, bits(62)));
    Value large = mul(arith::SIToFPOp::create(b, loc, b.getF64Type(), rest), constant(2 * pi * 0x1p-64));
    Value isNegative = is(CmpFPredicate::OLT, x, 0);
    large = select(isNegative, negate(large), large);
    largeQuadrant = select(isNegative, arith::SubIOp::create(b, loc, bits(0), largeQuadrant), largeQuadrant);
    return {select(isSmall, smallRest, large), select(isSmall, smallQuadrant, largeQuadrant)};
  }

  // Sine where `shift` is 0, cosine where it is 1; of |x| up to pi / 4 and more quadrants.
  Value sineOf(Value r, Value quadrant, int64_t shift) {
    SmallVector<double> sine{1}, cosine{1};
    for (int i = 1; i <= 8; ++i) {
      cosine.push_back(-cosine.back() / ((2 * i - 1) * (2 * i)));
      sine.push_back(-sine.back() / ((2 * i) * (2 * i + 1)));
    }
    Value square = mul(r, r);
    Value s = mul(r, polynomial(square, sine)), c = polynomial(square, cosine);
    Value turned = arith::AddIOp::create(b, loc, quadrant, bits(shift));
    auto hasBit = [&](int64_t bit) -> Value {
      return arith::CmpIOp::create(b, loc, CmpIPredicate::ne, arith::AndIOp::create(b, loc, turned, bits(bit)),
                                   bits(0));
    };
    Value result = select(hasBit(1), c, s);
    return select(hasBit(2), negate(result), result);
  }

  // NaN for infinities; -0 stays what it is.
  Value sin(Value narrow, Value x) {
    auto [r, quadrant] = reduceAngle(narrow, x);
    Value result = select(is(CmpFPredicate::OEQ, x, 0), x, sineOf(r, quadrant, 0));
    return finiteOnly(x, result);
  }
  Value cos(Value narrow, Value x) {
    auto [r, quadrant] = reduceAngle(narrow, x);
    return finiteOnly(x, sineOf(r, quadrant, 1));
  }
  Value tan(Value narrow, Value x) {
    auto [r, quadrant] = reduceAngle(narrow, x);
    Value quotient = div(sineOf(r, quadrant, 0), sineOf(r, quadrant, 1));
    return finiteOnly(x, select(is(CmpFPredicate::OEQ, x, 0), x, quotient));
  }

  Value pow(Value x, Value y) {
    Value a = abs(x);
    Value isUsual = both(is(CmpFPredicate::OGT, a, 0), is(CmpFPredicate::OLT, a, infinity));
    Value result = exp(mul(y, log(orElse(isUsual, a, 1))));
    Value isPositive = is(CmpFPredicate::OGT, y, 0);
    result = select(is(CmpFPredicate::OEQ, a, 0), select(isPositive, constant(0), constant(infinity)), result);
    result = select(is(CmpFPredicate::OEQ, a, infinity), select(isPositive, constant(infinity), constant(0)), result);
    auto isInteger = [&](Value value) {
      return is(CmpFPredicate::OEQ, value, Value(math::TruncOp::create(b, loc, value)));
    };
    Value half = mul(y, constant(0.5));
    Value isNegative = is(CmpFPredicate::OLT, copySign(constant(1), x), 0);
    Value isOdd = arith::SelectOp::create(b, loc, isInteger(half), no(), isInteger(y));
    result = select(both(isNegative, isOdd), negate(result), result);
    Value isRoot = both(both(isUsual, isNegative), arith::XOrIOp::create(b, loc, isInteger(y), yes()));
    result = select(isRoot, constant(std::nan("")), result);
    Value isBoundless = is(CmpFPredicate::OEQ, abs(y), infinity);
    result = select(both(isBoundless, is(CmpFPredicate::OEQ, a, 1)), constant(1), result);
    result = select(either(isNaN(x), isNaN(y)), add(x, y), result);
    return select(either(is(CmpFPredicate::OEQ, x, 1), is(CmpFPredicate::OEQ, y, 0)), constant(1), result);
  }

  Value cbrt(Value x) {
    Value a = abs(x);
    Value isUsual = both(is(CmpFPredicate::OGT, a, 0), is(CmpFPredicate::OLT, a, infinity));
    Value root = exp(div(log(orElse(isUsual, a, 1)), constant(3)));
    return select(isUsual, copySign(root, x), x);
  }

  Value sinh(Value x) {
    Value large = mul(sub(exp(x), exp(negate(x))), constant(0.5));
    Value square = mul(x, x);
    Value small = mul(x, polynomial(square, {1, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800}));
    return select(is(CmpFPredicate::OLT, abs(x), 0.5), small, large);
  }
  Value cosh(Value x) { return mul(add(exp(x), exp(negate(x))), constant(0.5)); }
  Value asinh(Value x) {
    Value a = abs(x), square = mul(x, x);
    Value isUsual = is(CmpFPredicate::OLT, a, infinity);
    Value large = log(orElse(isUsual, add(a, sqrt(add(square, constant(1)))), 1));
    Value small = mul(a, polynomial(square, {1, -1.0 / 6, 3.0 / 40, -15.0 / 336}));
    Value result = copySign(select(is(CmpFPredicate::OLT, a, 1e-3), small, large), x);
    return select(isUsual, result, x);
  }
  Value acosh(Value x) {
    Value isUsual = both(is(CmpFPredicate::OGE, x, 1), is(CmpFPredicate::OLT, x, infinity));
    Value known = orElse(isUsual, x, 1);
    Value root = sqrt(mul(sub(known, constant(1)), add(known, constant(1))));
    Value isInfinite = is(CmpFPredicate::OEQ, x, infinity);
    return select(isUsual, log(add(known, root)), select(isInfinite, x, constant(std::nan(""))));
  }
  Value atanh(Value x) {
    Value a = abs(x), square = mul(x, x);
    Value isUsual = is(CmpFPredicate::OLT, a, 1);
    Value known = orElse(isUsual, a, 0);
    Value large = mul(constant(0.5), log(div(add(constant(1), known), sub(constant(1), known))));
    Value small = mul(a, polynomial(square, {1, 1.0 / 3, 1.0 / 5, 1.0 / 7}));
    Value result = select(is(CmpFPredicate::OLT, a, 1e-3), small, large);
    Value edge = select(is(CmpFPredicate::OEQ, a, 1), constant(infinity), constant(std::nan("")));
    return copySign(select(isUsual, result, edge), x);
  }
  // The other side of the triangle.
  Value side(Value x) { return sqrt(mul(sub(constant(1), x), add(constant(1), x))); }

private:
  static constexpr double ln2High = 0x1.62e42fefa39efp-1, ln2Low = 0x1.abc9e3b39803fp-56;
  // The first with zeros at its end, so that its products with exponents are exact.
  static constexpr double ln2Short = 0x1.62e42fefap-1, ln2ShortRest = 0x1.cf79abc9e3b3ap-40;
  static constexpr double log10Of2High = 0x1.3441350900000p-2, log10Of2Low = 0x1.ef3fde623e256p-35;
  static constexpr double halfPiLow = 0x1.1a62633145c07p-54;

  static SmallVector<double> exponentialSeries() {
    SmallVector<double> taylor{1};
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
    Value whole = arith::FPToSIOp::create(b, loc, b.getI64Type(), n);
    Value half = arith::ShRSIOp::create(b, loc, whole, bits(1));
    for (Value part : {half, Value(arith::SubIOp::create(b, loc, whole, half))}) {
      Value power = arith::ShLIOp::create(b, loc, arith::AddIOp::create(b, loc, part, bits(1023)), bits(52));
      x = mul(x, arith::BitcastOp::create(b, loc, b.getF64Type(), power));
    }
    return x;
  }

  Value finiteOnly(Value x, Value result) {
    return select(is(CmpFPredicate::OLT, abs(x), infinity), result, sub(x, x));
  }
  Value yes() { return arith::ConstantOp::create(b, loc, b.getBoolAttr(true)); }
  Value no() { return arith::ConstantOp::create(b, loc, b.getBoolAttr(false)); }

  OpBuilder &b;
  Location loc;
};

} // namespace

// Functions of f64 that are as good in f64 as these are.
static Value expandF64(Operation *op, WideBuilder &w) {
  Value x = op->getOperand(0);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return w.exp(x); })
      .Case([&](math::Exp2Op) { return w.exp2(x); })
      .Case([&](math::ExpM1Op) { return w.select(w.is(CmpFPredicate::OEQ, x, 0), x, w.expM1(x)); })
      .Case([&](math::LogOp) { return w.logOfAny(x, [&](Value usual) { return w.log(usual); }); })
      .Case([&](math::Log2Op) { return w.logOfAny(x, [&](Value usual) { return w.log2(usual); }); })
      .Case([&](math::Log10Op) { return w.logOfAny(x, [&](Value usual) { return w.log10(usual); }); })
      .Case([&](math::Log1pOp) { return w.select(w.is(CmpFPredicate::OEQ, x, 0), x, w.log1p(x)); })
      .Case([&](math::TanhOp) { return w.tanh(x); })
      .Default([](Operation *) { return Value(); });
}

bool expandInF64(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  OpBuilder b(op);
  Location loc = op->getLoc();
  WideBuilder w(b, loc);
  if (op->getResult(0).getType().isF64()) {
    Value result = expandF64(op, w);
    if (result) {
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
    return bool(result);
  }
  if (!op->getResult(0).getType().isF32())
    return false;
  Value narrow = op->getOperand(0);
  auto operand = [&](unsigned i) -> Value { return arith::ExtFOp::create(b, loc, b.getF64Type(), op->getOperand(i)); };
  Value result = llvm::TypeSwitch<Operation *, Value>(op)
                     .Case([&](math::SinOp) { return w.sin(narrow, operand(0)); })
                     .Case([&](math::CosOp) { return w.cos(narrow, operand(0)); })
                     .Case([&](math::TanOp) { return w.tan(narrow, operand(0)); })
                     .Case([&](math::AtanOp) { return w.atan(operand(0)); })
                     .Case([&](math::Atan2Op) { return w.atan2(operand(0), operand(1)); })
                     .Case([&](math::AsinOp) {
                       Value x = operand(0);
                       return w.atan2(x, w.side(x));
                     })
                     .Case([&](math::AcosOp) {
                       Value x = operand(0);
                       return w.atan2(w.side(x), x);
                     })
                     .Case([&](math::SinhOp) { return w.sinh(operand(0)); })
                     .Case([&](math::CoshOp) { return w.cosh(operand(0)); })
                     .Case([&](math::AsinhOp) { return w.asinh(operand(0)); })
                     .Case([&](math::AcoshOp) { return w.acosh(operand(0)); })
                     .Case([&](math::AtanhOp) { return w.atanh(operand(0)); })
                     .Case([&](math::CbrtOp) { return w.cbrt(operand(0)); })
                     .Case([&](math::PowFOp) { return w.pow(operand(0), operand(1)); })
                     .Default([](Operation *) { return Value(); });
  if (!result)
    return false;
  op->getResult(0).replaceAllUsesWith(arith::TruncFOp::create(b, loc, b.getF32Type(), result).getResult());
  op->erase();
  return true;
}

} // namespace kiln
