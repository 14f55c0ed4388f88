#include "kiln/targets/cuda/codegen/WideFunctions.h"

#include "kiln/targets/cuda/codegen/F64Builder.h"
#include "kiln/targets/cuda/codegen/F64Functions.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using arith::CmpFPredicate;

namespace kiln {

namespace {

// Of the arc tangent's series: enough for f32.
constexpr int kTerms = 17;

// Functions of f64 values that come from f32 ones: so much wider that errors of some units do not matter.
class WideBuilder : public F64Builder {
public:
  using F64Builder::F64Builder;

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
    return turned(s, c, quadrant, shift);
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
    return powOfAny(x, y, [&](Value usual) { return exp(mul(y, log(usual))); });
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

private:
  static constexpr double halfPiLow = 0x1.1a62633145c07p-54;
};

} // namespace

bool expandInF64(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  OpBuilder b(op);
  Location loc = op->getLoc();
  WideBuilder w(b, loc);
  if (op->getResult(0).getType().isF64())
    return expandF64(op);
  if (!op->getResult(0).getType().isF32())
    return false;
  Value narrow = op->getOperand(0);
  auto operand = [&](unsigned i) -> Value { return arith::ExtFOp::create(b, loc, b.getF64Type(), op->getOperand(i)); };
  Value result = llvm::TypeSwitch<Operation *, Value>(op)
                     .Case([&](math::SinOp) { return w.sin(narrow, operand(0)); })
                     .Case([&](math::CosOp) { return w.cos(narrow, operand(0)); })
                     .Case([&](math::TanOp) { return w.tan(narrow, operand(0)); })
                     .Case([&](math::AtanOp) { return w.atan(operand(0), kTerms); })
                     .Case([&](math::Atan2Op) { return w.atan2(operand(0), operand(1), kTerms); })
                     .Case([&](math::AsinOp) {
                       Value x = operand(0);
                       return w.atan2(x, w.side(x), kTerms);
                     })
                     .Case([&](math::AcosOp) {
                       Value x = operand(0);
                       return w.atan2(w.side(x), x, kTerms);
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
