#include "kiln/targets/cuda/codegen/F64Functions.h"

#include "kiln/targets/cuda/codegen/F64Builder.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace kiln {

// The bits of 1 / (2 pi) behind the point, as far as an angle of f64 needs them.
static constexpr uint64_t turnsOfRadian[] = {
    0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158, 0x6dc91b8e909374b8,
    0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121, 0x3a671c09ad17df90, 0x4e64758e60d4ce7d,
    0x272117e2ef7e4a0e, 0xc7fe25fff7816603, 0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d, 0xd3d18fd9a797fa8b,
    0x5d49eeb1faf97c5e, 0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea};

namespace {

// What a kernel's products are fused into depends on LLVM: no sum below has a rounded product as its larger term,
// unless its last bit was taken away.
class F64FunctionBuilder : public F64Builder {
public:
  using F64Builder::F64Builder;

  Value sin(Value x) {
    auto [r, quadrant] = reduceAngle(x);
    return finiteOnly(x, select(is(CmpFPredicate::OEQ, x, 0), x, sineOf(r, quadrant, 0)));
  }
  Value cos(Value x) {
    auto [r, quadrant] = reduceAngle(x);
    return finiteOnly(x, sineOf(r, quadrant, 1));
  }
  Value tan(Value x) {
    auto [r, quadrant] = reduceAngle(x);
    Value quotient = div(sineOf(r, quadrant, 0), sineOf(r, quadrant, 1));
    return finiteOnly(x, select(is(CmpFPredicate::OEQ, x, 0), x, quotient));
  }

  Value pow(Value x, Value y) {
    return powOfAny(x, y, [&](Value usual) {
      Sum log = logOf(usual);
      Sum exponent = multiply(y, log.high);
      Value isUsual = is(CmpFPredicate::OLT, abs(exponent.high), 800);
      Value low = fma(y, log.low, exponent.low);
      return exp(exponent.high, orElse(isUsual, low, 0));
    });
  }

  // An approximation, and a step of Newton's.
  Value cbrt(Value x) {
    Value a = abs(x);
    Value isUsual = both(is(CmpFPredicate::OGT, a, 0), is(CmpFPredicate::OLT, a, infinity));
    // What is small is cubed where nothing is subnormal.
    Value isTiny = is(CmpFPredicate::OLT, a, 0x1p-900);
    Value known = orElse(isUsual, select(isTiny, mul(a, constant(0x1p300)), a), 1);
    Value root = exp(div(log(known), constant(3)));
    Sum square = multiply(root, root);
    Value rest = fma(square.low, root, fma(square.high, root, negate(known)));
    root = fma(rest, div(constant(-1.0 / 3), square.high), root);
    root = select(isTiny, mul(root, constant(0x1p-100)), root);
    return select(isUsual, copySign(root, x), x);
  }

  Value erf(Value x) {
    Value a = abs(x);
    Value isSmall = is(CmpFPredicate::OLT, a, 1);
    Value known = orElse(is(CmpFPredicate::OLT, a, 6), a, 6); // erf(6) is rounded to 1.
    // Below 1 the Taylor series without its first term's x, which is added last, so that one rounding counts.
    SmallVector<double> series;
    double factor = std::numbers::inv_sqrtpi * 2;
    for (int i = 0; i <= 17; ++i) {
      series.push_back(factor / (2 * i + 1));
      factor /= -(i + 1);
    }
    series[0] = 0x1.06eba8214db69p-3; // 2 / sqrt(pi) - 1
    Value small = fma(x, polynomial(mul(x, x), series), x);
    // From 1 on 1 - erfc(x), where erfc(x) e^(x^2) is a polynomial of (x - 3) / (x + 3): the one that agrees with it at
    // the Chebyshev nodes between x = 1 and x = 6.
    static constexpr double coefficients[] = {0x1.6e9827d229d2dp-3,   -0x1.4e102b9cf8512p-2, 0x1.f6ff20410599bp-3,
                                              -0x1.336ffbef08cbbp-3,  0x1.258b13b0139fep-4,  -0x1.8fa58eb5bd68fp-6,
                                              0x1.17c838fea5806p-8,   0x1.73101ea8fe252p-11, -0x1.39085a31b18abp-11,
                                              0x1.7b9fc8eb630e9p-15,  0x1.0cb1db32e0c9fp-14, -0x1.af2329d757293p-17,
                                              -0x1.0cb4611cc29f6p-17, 0x1.0f9a79cee3e31p-19, 0x1.57a5fe2b9b75ep-20};
    Value t = div(sub(known, constant(3)), add(known, constant(3)));
    Value complement = mul(exp(negate(mul(known, known))), polynomial(t, coefficients));
    Value large = copySign(sub(constant(1), complement), x);
    return select(isNaN(x), x, select(isSmall, small, large));
  }

  Value sinh(Value x) {
    Value a = abs(x), square = mul(x, x);
    SmallVector<double> series{1};
    for (int i = 1; i <= 9; ++i)
      series.push_back(series.back() / (2 * i * (2 * i + 1)));
    Value isSmall = is(CmpFPredicate::OLT, a, 1);
    Value small = mul(x, polynomial(orElse(isSmall, square, 0), series));
    return select(isSmall, small, select(isNaN(x), x, copySign(halfOfExponentials(a, -0.5), x)));
  }
  Value cosh(Value x) { return select(isNaN(x), x, halfOfExponentials(abs(x), 0.5)); }

  Value asinh(Value x) {
    Value a = abs(x);
    Value isUsual = is(CmpFPredicate::OLT, a, 0x1p28), known = orElse(isUsual, a, 1);
    Value square = mul(known, known);
    Value root = sqrt(add(square, constant(1)));
    Value usual = log1p(add(known, div(square, add(root, constant(1)))));
    Value result = copySign(select(isUsual, usual, logOfTwice(a)), x);
    return select(is(CmpFPredicate::OLT, a, 0x1p-28), x, result);
  }
  Value acosh(Value x) {
    Value isUsual = both(is(CmpFPredicate::OGE, x, 1), is(CmpFPredicate::OLT, x, 0x1p28));
    Value t = sub(orElse(isUsual, x, 1), constant(1));
    Value usual = log1p(add(t, sqrt(fma(t, t, add(t, t)))));
    return select(isUsual, usual, select(is(CmpFPredicate::OGE, x, 1), logOfTwice(x), constant(std::nan(""))));
  }
  Value atanh(Value x) {
    Value a = abs(x);
    Value isUsual = is(CmpFPredicate::OLT, a, 1), known = orElse(isUsual, a, 0);
    Value usual = mul(constant(0.5), log1p(div(add(known, known), sub(constant(1), known))));
    Value edge = select(is(CmpFPredicate::OEQ, a, 1), constant(infinity), constant(std::nan("")));
    Value result = copySign(select(isUsual, usual, edge), x);
    return select(is(CmpFPredicate::OLT, a, 0x1p-28), x, result);
  }

private:
  // A value as a number of f64 and what is missing.
  struct Sum {
    Value high, low;
  };

  // The product without its last bit, and the rest of it.
  Sum multiply(Value x, Value y) {
    Value raw = arith::BitcastOp::create(b, loc, b.getI64Type(), mul(x, y));
    Value high = arith::BitcastOp::create(b, loc, b.getF64Type(), arith::AndIOp::create(b, loc, raw, bits(-2)));
    return {high, fma(x, y, negate(high))};
  }
  // For a `large` that is not the smaller one, unless it is 0.
  Sum sum(Value large, Value small) {
    Value high = add(large, small);
    return {high, sub(small, sub(high, large))};
  }

  // The logarithm of x > 0, with some 10 bits more than f64.
  Sum logOf(Value x) {
    auto [e, m] = splitExponent(x);
    // log m = 2 s + 2/3 s^3 + 2/5 s^5 + ... for s = (m - 1) / (m + 1).
    Value difference = sub(m, constant(1));
    Sum divisor = sum(constant(1), m);
    Value s = div(difference, divisor.high);
    Value rest = fma(negate(s), divisor.low, fma(negate(s), divisor.high, difference));
    Value sLow = div(rest, divisor.high);
    Sum square = multiply(s, s);
    Value squareLow = fma(add(s, s), sLow, square.low);
    SmallVector<double> series;
    for (int i = 2; i <= 12; ++i)
      series.push_back(2.0 / (2 * i + 1));
    Sum factor =
        sum(constant(2.0 / 3), fma(square.high, polynomial(square.high, series), constant(0x1.5555555555555p-55)));
    Sum scaled = multiply(square.high, factor.high);
    Value scaledLow = fma(squareLow, factor.high, fma(square.high, factor.low, scaled.low));
    Sum cube = multiply(scaled.high, s);
    Value cubeLow = fma(scaledLow, s, fma(scaled.high, sLow, cube.low));
    Sum log = sum(add(s, s), cube.high);
    Value logLow = add(log.low, add(add(sLow, sLow), cubeLow));
    // Whole multiples of the first part of log 2 are exact.
    Sum all = sum(mul(e, constant(ln2Short)), log.high);
    return sum(all.high, fma(e, constant(ln2ShortRest), add(all.low, logLow)));
  }

  // Of x beyond 2^28.
  Value logOfTwice(Value x) {
    Value isFinite = is(CmpFPredicate::OLT, x, infinity);
    auto [e, rest] = splitLog(orElse(both(isFinite, is(CmpFPredicate::OGT, x, 0)), x, 1));
    e = add(e, constant(1));
    Value log = fma(e, constant(ln2Short), fma(e, constant(ln2ShortRest), rest));
    return select(isFinite, log, x);
  }

  // e^a / 2 + factor e^-a for a >= 0, in two steps so that it overflows no earlier than it has to.
  Value halfOfExponentials(Value a, double factor) {
    Value isLarge = is(CmpFPredicate::OGT, a, 30);
    Value half = exp(mul(a, constant(0.5)));
    Value power = exp(select(isLarge, constant(1), a));
    Value usual = add(mul(constant(0.5), power), div(constant(factor), power));
    return select(isLarge, mul(mul(constant(0.5), half), half), usual);
  }

  // x less the multiple of pi / 2 that is nearest, and that multiple's number, of which the last two bits count.
  std::pair<Sum, Value> reduceAngle(Value x) {
    Type i64 = b.getI64Type(), i128 = b.getIntegerType(128);
    auto shiftRight = [&](Value value, Value distance) -> Value {
      return arith::ShRUIOp::create(b, loc, value, distance);
    };
    auto shiftLeft = [&](Value value, Value distance) -> Value {
      return arith::ShLIOp::create(b, loc, value, distance);
    };
    auto mask = [&](Value value, int64_t ones) -> Value { return arith::AndIOp::create(b, loc, value, bits(ones)); };
    auto wide = [&](Value value) -> Value { return arith::ExtUIOp::create(b, loc, i128, value); };
    Value sixtyFour = arith::ConstantOp::create(b, loc, b.getIntegerAttr(i128, 64));
    auto upper = [&](Value value) -> Value {
      return arith::TruncIOp::create(b, loc, i64, shiftRight(value, sixtyFour));
    };

    // |x| = m 2^e with an m of 53 bits. m times the bits of 1 / (2 pi) from 2^-e on is x / (2 pi) without whole turns.
    Value raw = arith::BitcastOp::create(b, loc, i64, x);
    Value m = arith::OrIOp::create(b, loc, mask(raw, (int64_t(1) << 52) - 1), bits(int64_t(1) << 52));
    Value biased = mask(shiftRight(raw, bits(52)), 2047);
    // Where the bits start, with a word of zeros before the point, for the e that are negative.
    Value place = arith::SubIOp::create(b, loc, biased, bits(1075 - 64));
    place = arith::MaxSIOp::create(b, loc, place, bits(0));
    place = arith::MinSIOp::create(b, loc, place, bits(971 + 64));
    SmallVector<Value> words{bits(0)};
    for (uint64_t word : turnsOfRadian)
      words.push_back(bits(int64_t(word)));
    Value number = shiftRight(place, bits(6));
    for (size_t step : {16, 8, 4, 2, 1}) {
      Value isOn = arith::CmpIOp::create(b, loc, CmpIPredicate::ne, mask(number, int64_t(step)), bits(0));
      SmallVector<Value> moved;
      for (size_t i = 0; i < std::min(words.size(), step + 3); ++i)
        moved.push_back(i + step < words.size() ? select(isOn, words[i + step], words[i]) : words[i]);
      words = moved;
    }
    Value distance = mask(place, 63), others = arith::SubIOp::create(b, loc, bits(63), distance);
    SmallVector<Value> window;
    for (int i = 0; i < 3; ++i)
      window.push_back(arith::OrIOp::create(b, loc, shiftLeft(words[i], distance),
                                            shiftRight(shiftRight(words[i + 1], bits(1)), others)));
    Value product = shiftLeft(wide(arith::MulIOp::create(b, loc, m, window[0])), sixtyFour);
    product = arith::AddIOp::create(b, loc, product, arith::MulIOp::create(b, loc, wide(m), wide(window[1])));
    Value last = upper(arith::MulIOp::create(b, loc, wide(m), wide(window[2])));
    product = arith::AddIOp::create(b, loc, product, wide(last));

    Value quadrant = shiftRight(arith::AddIOp::create(b, loc, upper(product), bits(int64_t(1) << 61)), bits(62));
    Value whole = shiftLeft(wide(shiftLeft(quadrant, bits(62))), sixtyFour);
    Value rest = arith::SubIOp::create(b, loc, product, whole);
    Value zero = arith::ConstantOp::create(b, loc, b.getIntegerAttr(i128, 0));
    Value isBelow = arith::CmpIOp::create(b, loc, CmpIPredicate::slt, rest, zero);
    rest = arith::SelectOp::create(b, loc, isBelow, arith::SubIOp::create(b, loc, zero, rest), rest);
    auto toFloat = [&](Value value, double unit) {
      return mul(arith::UIToFPOp::create(b, loc, b.getF64Type(), value), constant(unit));
    };
    Value top = upper(rest);
    Sum angle = sum(toFloat(shiftRight(top, bits(32)), 0x1p-32), toFloat(mask(top, 0xffffffff), 0x1p-64));
    Sum finer = sum(angle.high, toFloat(arith::TruncIOp::create(b, loc, i64, rest), 0x1p-128));
    angle = sum(finer.high, add(angle.low, finer.low));
    Sum radians = multiply(angle.high, constant(0x1.921fb54442d18p+2));
    Value low =
        fma(angle.low, constant(0x1.921fb54442d18p+2), fma(angle.high, constant(0x1.1a62633145c07p-52), radians.low));

    Value isNegative = is(CmpFPredicate::OLT, x, 0);
    Value turnsBack = arith::XOrIOp::create(b, loc, isNegative, isBelow);
    Value isSmall = is(CmpFPredicate::OLE, abs(x), pi / 4);
    radians = {select(isSmall, x, select(turnsBack, negate(radians.high), radians.high)),
               select(isSmall, constant(0), select(turnsBack, negate(low), low))};
    quadrant = select(isNegative, arith::SubIOp::create(b, loc, bits(0), quadrant), quadrant);
    return {radians, select(isSmall, bits(0), quadrant)};
  }

  // Sine where `shift` is 0, cosine where it is 1; of |r| up to pi / 4 and more quadrants.
  Value sineOf(Sum r, Value quadrant, int64_t shift) {
    SmallVector<double> sine, cosine;
    double term = -0.5;
    for (int i = 2; i <= 18; i += 2) {
      sine.push_back(term / (i + 1));
      if (i > 2)
        cosine.push_back(term);
      term /= -(i + 1) * (i + 2);
    }
    Value square = mul(r.high, r.high);
    Value correction =
        fma(mul(r.high, square), polynomial(square, sine), fma(mul(r.low, square), constant(-0.5), r.low));
    Value s = add(r.high, correction);
    // 1 - r^2 / 2, and what its rounding has taken.
    Value most = fma(square, constant(-0.5), constant(1));
    Value lost = fma(square, constant(-0.5), sub(constant(1), most));
    Value squareLow = fma(r.high, r.high, negate(square));
    lost = fma(squareLow, constant(-0.5), fma(negate(r.high), r.low, lost));
    Value c = add(most, fma(mul(square, square), polynomial(square, cosine), lost));
    return turned(s, c, quadrant, shift);
  }
};

} // namespace

bool expandF64(Operation *op) {
  constexpr int terms = 23; // of the arc tangent's series
  OpBuilder b(op);
  F64FunctionBuilder w(b, op->getLoc());
  Value x = op->getOperand(0);
  Value result = llvm::TypeSwitch<Operation *, Value>(op)
                     .Case([&](math::ExpOp) { return w.exp(x); })
                     .Case([&](math::Exp2Op) { return w.exp2(x); })
                     .Case([&](math::ExpM1Op) { return w.select(w.is(CmpFPredicate::OEQ, x, 0), x, w.expM1(x)); })
                     .Case([&](math::LogOp) { return w.logOfAny(x, [&](Value usual) { return w.log(usual); }); })
                     .Case([&](math::Log2Op) { return w.logOfAny(x, [&](Value usual) { return w.log2(usual); }); })
                     .Case([&](math::Log10Op) { return w.logOfAny(x, [&](Value usual) { return w.log10(usual); }); })
                     .Case([&](math::Log1pOp) { return w.select(w.is(CmpFPredicate::OEQ, x, 0), x, w.log1p(x)); })
                     .Case([&](math::TanhOp) { return w.tanh(x); })
                     .Case([&](math::SinOp) { return w.sin(x); })
                     .Case([&](math::CosOp) { return w.cos(x); })
                     .Case([&](math::TanOp) { return w.tan(x); })
                     .Case([&](math::AtanOp) { return w.atan(x, terms); })
                     .Case([&](math::Atan2Op) { return w.atan2(x, op->getOperand(1), terms); })
                     .Case([&](math::AsinOp) { return w.atan2(x, w.side(x), terms); })
                     .Case([&](math::AcosOp) { return w.atan2(w.side(x), x, terms); })
                     .Case([&](math::SinhOp) { return w.sinh(x); })
                     .Case([&](math::CoshOp) { return w.cosh(x); })
                     .Case([&](math::AsinhOp) { return w.asinh(x); })
                     .Case([&](math::AcoshOp) { return w.acosh(x); })
                     .Case([&](math::AtanhOp) { return w.atanh(x); })
                     .Case([&](math::CbrtOp) { return w.cbrt(x); })
                     .Case([&](math::ErfOp) { return w.erf(x); })
                     .Case([&](math::PowFOp) { return w.pow(x, op->getOperand(1)); })
                     .Default([](Operation *) { return Value(); });
  if (!result)
    return false;
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}

} // namespace kiln
