#include "kiln/compiler/Dialect/Flow/Transforms/SmallFloats.h"

#include "kiln/compiler/Interfaces/FloatBuilder.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace kiln::Flow {

static constexpr unsigned kMantissaBits = 23, kBias = 127;
static constexpr uint32_t kInfinity = 0x7f800000, kNaN = 0x7fc00000;

namespace {
// What distinguishes the formats; numbers are bits.
struct Format {
  explicit Format(FloatType type) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    auto bitsOf = [](const APFloat &value) { return static_cast<uint32_t>(value.bitcastToAPInt().getZExtValue()); };
    mantissaBits = APFloat::semanticsPrecision(semantics) - 1;
    bias = 1 - APFloat::semanticsMinExponent(semantics);
    isSigned = APFloat::semanticsHasSignedRepr(semantics);
    hasInfinity = APFloat::semanticsHasInf(semantics);
    hasNaN = APFloat::semanticsHasNaN(semantics);
    signBit = isSigned ? 1u << (type.getWidth() - 1) : 0;
    largest = bitsOf(APFloat::getLargest(semantics));
    nan = hasNaN ? bitsOf(APFloat::getNaN(semantics)) : largest;
    overflow = hasInfinity ? bitsOf(APFloat::getInf(semantics)) : nan;
  }

  // The one NaN stands where negative zero would.
  bool hasNegativeZero() const { return isSigned && nan != signBit; }

  unsigned mantissaBits;
  int bias;
  bool isSigned, hasInfinity, hasNaN;
  uint32_t signBit, largest, nan, overflow;
};
} // namespace

static FloatBuilder floatBuilder(OpBuilder &builder, Location loc) {
  return FloatBuilder(builder, loc, builder.getF32Type(), /*hasFMA=*/false);
}

// f8E8M0FNU is the exponent of an f32. Its smallest number is subnormal there.
static Value decodeExponent(FloatBuilder &f, Value bits) {
  Value number = f.shiftLeft(bits, kMantissaBits);
  number = f.select(f.compareBits(CmpIPredicate::eq, bits, f.bitsConstant(0)),
                    f.bitsConstant(1u << (kMantissaBits - 1)), number);
  return f.fromBits(
      f.select(f.compareBits(CmpIPredicate::eq, bits, f.bitsConstant(0xff)), f.bitsConstant(kNaN), number));
}

// The middle of two numbers becomes the larger one, as it does where LLVM folds constants.
static Value encodeExponent(FloatBuilder &f, Value magnitude) {
  Value rounded = f.addBits(magnitude, f.bitsConstant(1u << (kMantissaBits - 1)));
  Value exponent = f.shiftRight(rounded, kMantissaBits);
  // Between the smallest number, which is subnormal, and the next one lie subnormal numbers only.
  Value isNext = f.compareBits(CmpIPredicate::uge, magnitude, f.bitsConstant(3u << (kMantissaBits - 2)));
  Value isSubnormal = f.compareBits(CmpIPredicate::ult, magnitude, f.bitsConstant(1u << kMantissaBits));
  exponent = f.select(isSubnormal, f.select(isNext, f.bitsConstant(1), f.bitsConstant(0)), exponent);
  Value isSpecial = f.compareBits(CmpIPredicate::uge, magnitude, f.bitsConstant(kInfinity));
  return f.select(isSpecial, f.bitsConstant(0xff), exponent);
}

Value decodeSmallFloat(OpBuilder &builder, Location loc, FloatType type, Value byte) {
  Format format(type);
  FloatBuilder f = floatBuilder(builder, loc);
  Value bits = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), byte);
  if (!format.isSigned)
    return decodeExponent(f, bits);
  unsigned up = kMantissaBits - format.mantissaBits;
  Value magnitude = f.andBits(bits, f.bitsConstant(format.signBit - 1));
  Value sign = f.shiftLeft(f.andBits(bits, f.bitsConstant(format.signBit)), 32 - type.getWidth());
  Value shifted = f.shiftLeft(magnitude, up);
  Value normal = f.addBits(shifted, f.bitsConstant((kBias - format.bias) << kMantissaBits));
  double unit = std::ldexp(1.0, 1 - format.bias - static_cast<int>(format.mantissaBits));
  Value subnormal = f.bits(f.mul(f.toFloat(magnitude), f.constant(unit)));
  Value isSubnormal = f.compareBits(CmpIPredicate::ult, magnitude, f.bitsConstant(1u << format.mantissaBits));
  Value number = f.select(isSubnormal, subnormal, normal);
  if (format.hasInfinity) {
    // Both have the largest exponent, and the NaN's mantissa is not zero.
    Value isSpecial = f.compareBits(CmpIPredicate::uge, magnitude, f.bitsConstant(format.overflow));
    number = f.select(isSpecial, f.orBits(shifted, f.bitsConstant(kInfinity)), number);
  } else if (format.hasNaN && format.hasNegativeZero()) {
    number =
        f.select(f.compareBits(CmpIPredicate::eq, magnitude, f.bitsConstant(format.nan)), f.bitsConstant(kNaN), number);
  }
  number = f.orBits(number, sign);
  if (format.hasNaN && !format.hasNegativeZero())
    number = f.select(f.compareBits(CmpIPredicate::eq, bits, f.bitsConstant(format.nan)), f.bitsConstant(kNaN), number);
  return f.fromBits(number);
}

Value encodeSmallFloat(OpBuilder &builder, Location loc, FloatType type, Value number) {
  Format format(type);
  FloatBuilder f = floatBuilder(builder, loc);
  if (number.getType().isF64())
    number = f.roundToOdd(number);
  Value bits = f.bits(number);
  Value magnitude = f.andBits(bits, f.bitsConstant(0x7fffffff));
  Value result;
  if (!format.isSigned) {
    result = encodeExponent(f, magnitude);
  } else {
    unsigned down = kMantissaBits - format.mantissaBits;
    // Normal numbers: a smaller exponent, and rounding to even of the bits that go away.
    Value even = f.andBits(f.shiftRight(magnitude, down), f.bitsConstant(1));
    Value rounded = f.addBits(f.addBits(magnitude, f.bitsConstant((1u << (down - 1)) - 1)), even);
    Value normal = f.subBits(f.shiftRight(rounded, down), f.bitsConstant((kBias - format.bias) << format.mantissaBits));
    // Subnormal ones: adding a number whose last bit is the smallest of them rounds to multiples of it.
    int lowest = 1 - format.bias;
    Value large = f.constant(std::ldexp(1.0, lowest + static_cast<int>(down)));
    Value subnormal = f.subBits(f.bits(f.add(f.fromBits(magnitude), large)), f.bits(large));
    Value isSubnormal =
        f.compareBits(CmpIPredicate::ult, magnitude,
                      f.bitsConstant(static_cast<uint32_t>(lowest + static_cast<int>(kBias)) << kMantissaBits));
    result = f.select(isSubnormal, subnormal, normal);
    Value isTooLarge = f.compareBits(CmpIPredicate::ugt, result, f.bitsConstant(format.largest));
    result = f.select(isTooLarge, f.bitsConstant(format.overflow), result);
    Value isNaN = f.compareBits(CmpIPredicate::ugt, magnitude, f.bitsConstant(kInfinity));
    result = f.select(isNaN, f.bitsConstant(format.nan), result);
    Value sign = f.shiftRight(f.andBits(bits, f.bitsConstant(0x80000000)), 32 - type.getWidth());
    if (!format.hasNegativeZero())
      sign = f.select(f.compareBits(CmpIPredicate::eq, result, f.bitsConstant(0)), f.bitsConstant(0), sign);
    result = f.orBits(result, sign);
  }
  return arith::TruncIOp::create(builder, loc, builder.getI8Type(), result);
}

} // namespace kiln::Flow
