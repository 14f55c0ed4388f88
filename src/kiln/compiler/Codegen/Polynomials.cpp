#include "kiln/compiler/Codegen/Polynomials.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cmath>
#include <limits>

using namespace mlir;
using arith::CmpFPredicate;

namespace kiln {

// Coefficients are minimax fits, rounded to f32 one after the other with the rest refitted.

static constexpr double infinity = std::numeric_limits<double>::infinity();
// ln 2 in two parts; products of the first with integers of up to 15 bits are exact.
static constexpr double ln2High = 0.693359375, ln2Low = -2.12194440054690583e-4;

//===--- Exponentials ---------------------------------------------------------------------------------------------===//

// x rounded to an integer, as a float and as the low bits of an i32. Adding 1.5 * 2^23 leaves no bits for a fraction. A
// conversion to integers would be undefined for NaN.
namespace {
struct Rounded {
  Value value, bits;
};
} // namespace

// The bits are those of the integer and `bias`.
static Rounded roundProduct(FloatBuilder &f, Value x, double factor, int32_t bias = 0) {
  Value magic = f.constant(12582912.0 + bias);
  Value shifted = f.fma(x, f.constant(factor), magic);
  return {f.sub(shifted, magic), f.bits(shifted)};
}

// 2^n for the low bits of n, if that is a normal number.
static Value powerOfTwo(FloatBuilder &f, Value n) {
  return f.shiftLeft(f.addBits(n, f.bitsConstant(127)), 23);
}

static Value scaleAtOnce(FloatBuilder &f, Value x, Rounded n) {
  // LLVM::LoadExpOp takes no vectors.
  return LLVM::CallIntrinsicOp::create(f.builder(), f.location(), x.getType(), f.builder().getStringAttr("llvm.ldexp"),
                                       ValueRange{x, f.toInteger(n.value)})
      .getResults();
}

// x * 2^n, for -252 <= n <= 254, in two steps, so that results may be subnormal or overflow.
static Value scale(FloatBuilder &f, Value x, Rounded n) {
  if (f.scales())
    return scaleAtOnce(f, x, n);
  // Above the bits of n are those of 1.5 * 2^23, which is even: half of it has none among the lowest.
  Value half = f.shiftRight(n.bits, 1);
  Value first = f.fromBits(powerOfTwo(f, half)), second = f.fromBits(powerOfTwo(f, f.subBits(n.bits, half)));
  return f.mul(f.mul(x, first), second);
}

static Value clampBelow(FloatBuilder &f, Value x, double bound) {
  return f.select(f.less(x, f.constant(bound)), f.constant(bound), x);
}
static Value clampAbove(FloatBuilder &f, Value x, double bound) {
  return f.select(f.compare(CmpFPredicate::OGT, x, f.constant(bound)), f.constant(bound), x);
}

// e^r - 1 for |r| <= ln 2 / 2.
static Value expm1Reduced(FloatBuilder &f, Value r) {
  Value q = f.polynomial(r, {0.49999994, 0.166665167, 0.0416681021, 0.00836919341, 0.001383884});
  return f.fma(f.mul(r, r), q, r);
}

static Value reduceByLn2(FloatBuilder &f, Value x, Value n) {
  return f.fma(n, f.constant(-ln2Low), f.fma(n, f.constant(-ln2High), x));
}

namespace {
// e^x is 2^n times the value.
struct Exponential {
  Value value;
  Rounded n;
};
} // namespace

static Exponential exponential(FloatBuilder &f, Value x, int32_t bias = 0) {
  Rounded n = roundProduct(f, x, 1.44269504088896341, bias);
  Value r = reduceByLn2(f, x, n.value);
  return {f.polynomial(r, {1.0, 1.0, 0.49999994, 0.166665167, 0.0416681021, 0.00836919341, 0.001383884}), n};
}

// Beyond these, e^x is infinite or zero.
static constexpr double largestExponent = 89.0, leastExponent = -104.0;
static constexpr double leastNormalExponent = -87.33654; // of 2^-126

static Value buildExp(FloatBuilder &f, Value x) {
  Exponential e = exponential(f, clampBelow(f, clampAbove(f, x, largestExponent), leastExponent));
  return scale(f, e.value, e.n);
}

Value buildExpAtMostZero(FloatBuilder &f, Value x) {
  constexpr int32_t up = 64; // so that the first step is a normal number
  Exponential e = exponential(f, clampBelow(f, x, leastExponent), f.scales() ? 0 : 127 + up);
  if (f.scales())
    return scaleAtOnce(f, e.value, e.n);
  Value power = f.fromBits(f.shiftLeft(e.n.bits, 23));
  return f.mul(f.mul(e.value, power), f.constant(std::ldexp(1.0, -up)));
}

// A sum of at least one does not notice what is smaller, and a processor takes a hundred times as long for it.
Value buildExpThatVanishes(FloatBuilder &f, Value x) {
  if (f.scales()) {
    Exponential e = exponential(f, x);
    Value vanishes = f.less(x, f.constant(leastNormalExponent));
    return f.select(vanishes, f.constant(0.0), scaleAtOnce(f, e.value, e.n));
  }
  // 2^-127 has no bits.
  Exponential e = exponential(f, clampBelow(f, x, -88.0), 127);
  return f.mul(e.value, f.fromBits(f.shiftLeft(e.n.bits, 23)));
}

// With half the power of two, which is finite where the result may be, and twice the polynomial.
Value buildExpAddedToOne(FloatBuilder &f, Value x) {
  Rounded n = roundProduct(f, x = clampBelow(f, clampAbove(f, x, largestExponent), -86.0), 1.44269504088896341, 126);
  Value twice = f.polynomial(reduceByLn2(f, x, n.value),
                             {2.0, 2.0, 0.99999988, 0.333330334, 0.0833362042, 0.01673838682, 0.002767768});
  return f.mul(twice, f.fromBits(f.shiftLeft(n.bits, 23)));
}

// Of what is between -87 and 88.
static Value buildExpWithin(FloatBuilder &f, Value x) {
  Exponential e = exponential(f, x, 127);
  return f.mul(e.value, f.fromBits(f.shiftLeft(e.n.bits, 23)));
}

static Value buildExp2(FloatBuilder &f, Value x) {
  x = clampBelow(f, clampAbove(f, x, 129.0), -151.0);
  Rounded n = roundProduct(f, x, 1.0);
  Value r = f.sub(x, n.value);
  Value q = f.polynomial(r, {0.240226477, 0.0555036142, 0.00961848348, 0.00133905746, 0.000153370347});
  Value m = f.fma(f.mul(r, r), q, f.mul(r, f.constant(0.693147182)));
  return scale(f, f.add(m, f.constant(1.0)), n);
}

// 2^n (e^r - 1) + (2^n - 1), with 2^(n-1) instead, which does not overflow.
static Value buildExpM1(FloatBuilder &f, Value x) {
  Value clamped = clampBelow(f, clampAbove(f, x, 89.0), -20.0);
  Rounded n = roundProduct(f, clamped, 1.44269504088896341);
  Value m = expm1Reduced(f, reduceByLn2(f, clamped, n.value));
  Value power = f.fromBits(powerOfTwo(f, f.subBits(n.bits, f.bitsConstant(1))));
  Value half = f.fma(power, m, f.sub(power, f.constant(0.5)));
  // Tiny arguments are their own result, and keep the sign of zero.
  Value tiny = f.less(f.abs(x), f.constant(2.98023224e-8));
  return f.select(tiny, x, f.add(half, half));
}

//===--- Logarithms -----------------------------------------------------------------------------------------------===//

namespace {
// x = 2^exponent (1 + fraction), with 1 + fraction between sqrt(1/2) and sqrt(2).
struct Decomposed {
  Value exponent, fraction;
};
} // namespace

static Decomposed decompose(FloatBuilder &f, Value x) {
  // Subnormal numbers are scaled up first.
  Value subnormal = f.less(x, f.constant(1.17549435e-38));
  Value bits = f.bits(f.select(subnormal, f.mul(x, f.constant(8388608.0)), x));
  Value exponent = f.shiftRightSigned(f.subBits(bits, f.bitsConstant(0x3f3504f3)), 23);
  Value mantissa = f.fromBits(f.subBits(bits, f.shiftLeft(exponent, 23)));
  Value correction = f.select(subnormal, f.constant(-23.0), f.constant(0.0));
  return {f.add(f.toFloat(exponent), correction), f.sub(mantissa, f.constant(1.0))};
}

// log(1 + y) - y.
static Value logTail(FloatBuilder &f, Value y) {
  Value p = f.polynomial(y, {0.333333135, -0.250001758, 0.200022295, -0.166589096, 0.142091289, -0.12556529,
                             0.121170938, -0.109044611, 0.0533862114});
  Value square = f.mul(y, y);
  return f.fma(f.mul(square, y), p, f.mul(square, f.constant(-0.5)));
}

// What a logarithm is where its argument is not a positive finite number.
static Value logOfSpecial(FloatBuilder &f, Value x, Value result) {
  Value zero = f.constant(0.0);
  // Infinity and NaN are their own logarithms.
  result = f.select(f.less(x, f.constant(infinity)), result, x);
  result = f.select(f.less(x, zero), f.constant(std::numeric_limits<double>::quiet_NaN()), result);
  return f.select(f.compare(CmpFPredicate::OEQ, x, zero), f.constant(-infinity), result);
}

static Value buildLog(FloatBuilder &f, Value x) {
  Decomposed d = decompose(f, x);
  Value low = f.fma(d.exponent, f.constant(ln2Low), logTail(f, d.fraction));
  return logOfSpecial(f, x, f.fma(d.exponent, f.constant(ln2High), f.add(low, d.fraction)));
}

static Value buildLog2(FloatBuilder &f, Value x) {
  Decomposed d = decompose(f, x);
  Value tail = logTail(f, d.fraction);
  // log2(e) = 1 + 0.4427: the larger part is exact.
  Value factor = f.constant(0.442695040888963387);
  Value sum = f.fma(d.fraction, factor, f.mul(tail, factor));
  sum = f.add(f.add(sum, tail), d.fraction);
  return logOfSpecial(f, x, f.add(sum, d.exponent));
}

static Value buildLog10(FloatBuilder &f, Value x) {
  Decomposed d = decompose(f, x);
  Value tail = logTail(f, d.fraction);
  // log10(e) and log10(2) in two parts each, the first of few bits.
  Value high = f.constant(0.434294462), low = f.constant(1.98699e-8);
  Value sum = f.fma(d.exponent, f.constant(4.605038981195213739e-6), f.mul(d.fraction, low));
  sum = f.fma(tail, high, sum);
  sum = f.fma(d.fraction, high, sum);
  return logOfSpecial(f, x, f.fma(d.exponent, f.constant(0.301025390625), sum));
}

// As log(1 + x), with what rounding 1 + x loses put back.
static Value buildLog1p(FloatBuilder &f, Value x) {
  Value one = f.constant(1.0);
  Value sum = f.add(x, one);
  // Exact: the smaller of the two addends as it was, minus as it arrived.
  Value large = f.compare(CmpFPredicate::OGT, x, one);
  Value lost = f.select(large, f.sub(one, f.sub(sum, x)), f.sub(x, f.sub(sum, one)));
  Value bits = f.bits(sum);
  Value exponent = f.shiftRightSigned(f.subBits(bits, f.bitsConstant(0x3f3504f3)), 23);
  Value mantissa = f.fromBits(f.subBits(bits, f.shiftLeft(exponent, 23)));
  // 2^-exponent, as far as that is a normal number; beyond, nothing is lost.
  Value inverse = f.fromBits(f.shiftLeft(f.maxBits(f.subBits(f.bitsConstant(127), exponent), f.bitsConstant(1)), 23));
  Value fraction = f.fma(lost, inverse, f.sub(mantissa, one));
  Value e = f.toFloat(exponent);
  Value low = f.fma(e, f.constant(ln2Low), logTail(f, fraction));
  Value result = f.fma(e, f.constant(ln2High), f.add(low, fraction));
  result = logOfSpecial(f, sum, result);
  return f.select(f.less(f.abs(x), f.constant(2.98023224e-8)), x, result);
}

//===--- Others ---------------------------------------------------------------------------------------------------===//

static Value buildTanh(FloatBuilder &f, Value x) {
  Value magnitude = f.abs(x);
  Value square = f.mul(x, x);
  Value t = f.polynomial(square, {-0.333332747, 0.133312374, -0.053722024, 0.0205797907, -0.00563734351});
  Value small = f.fma(f.mul(square, t), magnitude, magnitude);
  // 1 - 2 / (e^2x + 1); from 10 on that is 1.
  Value clamped = clampAbove(f, magnitude, 10.0);
  Value power = buildExpWithin(f, f.add(clamped, clamped));
  Value large = f.sub(f.constant(1.0), f.div(f.constant(2.0), f.add(power, f.constant(1.0))));
  return f.copySign(f.select(f.less(magnitude, f.constant(0.625)), small, large), x);
}

static Value buildErf(FloatBuilder &f, Value x) {
  Value magnitude = f.abs(x);
  Value square = f.mul(x, x);
  Value e = f.polynomial(
      square, {0.128379166, -0.37612626, 0.112835787, -0.0268533472, 0.0051871622, -0.00079978531, 7.80690389e-05});
  Value small = f.fma(magnitude, e, magnitude);
  // 1 - e^-g(x); from 3.95 on that is 1.
  Value clamped = clampAbove(f, magnitude, 3.95);
  Value g = f.polynomial(
      clamped, {0.00034153962, 1.12708914, 0.638144851, 0.103106827, -0.0218381528, 0.00294769532, -0.000186384525});
  Value large = f.sub(f.constant(1.0), buildExpWithin(f, f.sub(f.constant(0.0), g)));
  return f.copySign(f.select(f.less(magnitude, f.constant(1.0)), small, large), x);
}

//===--------------------------------------------------------------------------------------------------------------===//

static constexpr PolynomialFunction functions[] = {
    {"math.erf", 2.0, buildErf},     {"math.exp", 2.0, buildExp},   {"math.exp2", 2.0, buildExp2},
    {"math.expm1", 2.0, buildExpM1}, {"math.log", 2.0, buildLog},   {"math.log10", 2.0, buildLog10},
    {"math.log1p", 2.0, buildLog1p}, {"math.log2", 2.0, buildLog2}, {"math.tanh", 2.0, buildTanh},
};

ArrayRef<PolynomialFunction> polynomialFunctions() {
  return functions;
}

const PolynomialFunction *findPolynomialFunction(StringRef name) {
  for (const PolynomialFunction &function : functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

} // namespace kiln
