// Arithmetic of floats: f64, f32, and f16 and bf16 alone and in pairs.
#include "kiln/targets/cuda/sim/operations.h"

#include <algorithm>

namespace kiln::cudasim {

namespace {

// What `imm` of these instructions says.
constexpr uint64_t kRounding = 7, kFlush = 8, kSaturate = 16, kRelu = 32, kNan = 64, kXorSign = 128;

Rounding roundingOf(const Inst *i) {
  return Rounding(i->imm & kRounding);
}

template <FloatOp op, typename T> T exactly(T a, T b, T c) {
  switch (op) {
  case FloatOp::Add: return a + b;
  case FloatOp::Sub: return a - b;
  case FloatOp::Mul: return a * b;
  case FloatOp::Fma: return std::fma(a, b, c);
  case FloatOp::Div: return a / b;
  case FloatOp::Sqrt: return std::sqrt(a);
  }
}

// To nearest, without anything else: what nearly all code is.
template <FloatOp op, typename T> const Inst *plain(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = put<T>(exactly<op, T>(get<T>(r[i->a]), get<T>(r[i->b]), get<T>(r[i->c])));
  return i + 1;
}

template <FloatOp op, typename T> const Inst *withFlags(const Inst *i, uint64_t *r, Thread &) {
  T a = get<T>(r[i->a]), b = get<T>(r[i->b]), c = get<T>(r[i->c]);
  if (i->imm & kFlush)
    a = flushed(a), b = flushed(b), c = flushed(c);
  T result = compute(op, roundingOf(i), a, b, c);
  if (i->imm & kFlush)
    result = flushed(result);
  if (i->imm & kSaturate)
    result = saturated(result);
  r[i->d] = put<T>(result);
  return i + 1;
}

// Two f32, in the halves of 64 bits.
template <FloatOp op> const Inst *pairOfFloats(const Inst *i, uint64_t *r, Thread &) {
  uint64_t both = 0;
  for (uint32_t shift : {0U, 32U}) {
    auto of = [&](uint32_t slot) {
      const auto value = std::bit_cast<float>(uint32_t(r[slot] >> shift));
      return i->imm & kFlush ? flushed(value) : value;
    };
    float result = compute(op, roundingOf(i), of(i->a), of(i->b), of(i->c));
    if (i->imm & kFlush)
      result = flushed(result);
    both |= uint64_t(std::bit_cast<uint32_t>(result)) << shift;
  }
  r[i->d] = both;
  return i + 1;
}

template <typename F> Handler pickFloat(Type type, F f) {
  return type == Type::F32 ? f(float()) : type == Type::F64 ? f(double()) : nullptr;
}

template <FloatOp op> Handler handlerFor(const Decoder &in, Type type) {
  return pickFloat(type, [&](auto v) -> Handler {
    using T = decltype(v);
    return in.inst.imm ? &withFlags<op, T> : &plain<op, T>;
  });
}

void takeFlags(Decoder &in, Type type) {
  if (in.take("ftz"))
    in.inst.imm |= kFlush;
  if (in.take("sat"))
    in.inst.imm |= kSaturate;
  if (in.inst.imm & (kFlush | kSaturate) && type == Type::F64)
    in.fail("'.ftz' and '.sat' are not for f64");
}

//===--- 16 bits --------------------------------------------------------------------------------------------------===//

template <bool isBrain> float fromHalf(uint16_t bits) {
  return isBrain ? brainToFloat(bits) : halfToFloat(bits);
}
template <bool isBrain> uint16_t toHalf(double value) {
  return uint16_t(encode(value, isBrain ? kBrain : kHalf));
}
template <bool isBrain> uint16_t flushHalf(uint16_t bits) {
  return bits & (isBrain ? 0x7f80 : 0x7c00) ? bits : bits & 0x8000;
}

template <FloatOp op, bool isBrain> uint16_t halfOp(uint16_t x, uint16_t y, uint16_t z, uint64_t flags) {
  if (flags & kFlush)
    x = flushHalf<isBrain>(x), y = flushHalf<isBrain>(y), z = flushHalf<isBrain>(z);
  const double a = fromHalf<isBrain>(x), b = fromHalf<isBrain>(y), c = fromHalf<isBrain>(z);
  double result = 0;
  switch (op) {
  case FloatOp::Add: result = fusedToOdd(a, 1, b); break;
  case FloatOp::Sub: result = fusedToOdd(a, 1, -b); break;
  case FloatOp::Mul: result = a * b; break;
  default: result = fusedToOdd(a, b, c); break;
  }
  if (flags & kSaturate)
    result = saturated(result);
  if (flags & kRelu && result <= 0)
    result = 0;
  const uint16_t bits = toHalf<isBrain>(result);
  return flags & kFlush ? flushHalf<isBrain>(bits) : bits;
}
template <FloatOp op, bool isBrain, bool isPair> const Inst *halves(const Inst *i, uint64_t *r, Thread &) {
  const uint64_t a = r[i->a], b = r[i->b], c = r[i->c];
  uint64_t result = halfOp<op, isBrain>(uint16_t(a), uint16_t(b), uint16_t(c), i->imm);
  if (isPair)
    result |= uint64_t(halfOp<op, isBrain>(uint16_t(a >> 16), uint16_t(b >> 16), uint16_t(c >> 16), i->imm)) << 16;
  r[i->d] = result;
  return i + 1;
}
template <FloatOp op> Handler halvesFor(Type type) {
  switch (type) {
  case Type::F16: return &halves<op, false, false>;
  case Type::F16x2: return &halves<op, false, true>;
  case Type::BF16: return &halves<op, true, false>;
  case Type::BF16x2: return &halves<op, true, true>;
  default: return nullptr;
  }
}

// A function of one f32 for each of one or two numbers of 16 bits.
template <auto function, bool isBrain, bool isPair> const Inst *halfFunction(const Inst *i, uint64_t *r, Thread &) {
  auto apply = [](uint64_t bits) { return uint64_t(toHalf<isBrain>(function(fromHalf<isBrain>(uint16_t(bits))))); };
  r[i->d] = apply(r[i->a]) | (isPair ? apply(r[i->a] >> 16) << 16 : 0);
  return i + 1;
}

//===--- Minimum and maximum --------------------------------------------------------------------------------------===//

template <bool isMax> double extreme(double a, double b, uint64_t flags) {
  if (std::isnan(a) || std::isnan(b)) {
    if (flags & kNan || (std::isnan(a) && std::isnan(b)))
      return std::numeric_limits<double>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b) // zeros of both signs
    return std::signbit(a) == isMax ? b : a;
  return (a < b) == isMax ? b : a;
}

template <bool isMax> double extremeWithSign(double a, double b, uint64_t flags) {
  if (!(flags & kXorSign))
    return extreme<isMax>(a, b, flags);
  const bool negative = std::signbit(a) != std::signbit(b);
  const double result = extreme<isMax>(std::fabs(a), std::fabs(b), flags);
  return negative ? -result : result;
}

template <bool isMax, typename T> const Inst *minMax(const Inst *i, uint64_t *r, Thread &) {
  T a = get<T>(r[i->a]), b = get<T>(r[i->b]);
  if (i->imm & kFlush)
    a = flushed(a), b = flushed(b);
  r[i->d] = put<T>(T(extremeWithSign<isMax>(a, b, i->imm)));
  return i + 1;
}
template <bool isMax, bool isBrain, bool isPair> const Inst *minMaxHalves(const Inst *i, uint64_t *r, Thread &) {
  auto apply = [&](uint64_t x, uint64_t y) -> uint64_t {
    auto a = uint16_t(x), b = uint16_t(y);
    if (i->imm & kFlush)
      a = flushHalf<isBrain>(a), b = flushHalf<isBrain>(b);
    return toHalf<isBrain>(extremeWithSign<isMax>(fromHalf<isBrain>(a), fromHalf<isBrain>(b), i->imm));
  };
  r[i->d] = apply(r[i->a], r[i->b]) | (isPair ? apply(r[i->a] >> 16, r[i->b] >> 16) << 16 : 0);
  return i + 1;
}

//===--- Signs ----------------------------------------------------------------------------------------------------===//

template <bool isNeg> const Inst *changeSign(const Inst *i, uint64_t *r, Thread &) {
  uint64_t value = r[i->a];
  const uint64_t signs = i->imm; // the places of the signs
  r[i->d] = isNeg ? value ^ signs : value & ~signs;
  return i + 1;
}
template <bool isNeg> const Inst *changeSignFlushed(const Inst *i, uint64_t *r, Thread &) {
  const float value = flushed(get<float>(r[i->a]));
  r[i->d] = std::bit_cast<uint32_t>(isNeg ? -value : std::fabs(value));
  return i + 1;
}
template <typename T> const Inst *copySign(const Inst *i, uint64_t *r, Thread &) {
  constexpr uint64_t kSign = uint64_t(1) << (sizeof(T) * 8 - 1);
  r[i->d] = (r[i->a] & kSign) | (r[i->b] & (kSign - 1)); // the sign is that of the first operand
  return i + 1;
}

//===--- Functions that are approximate on a device ---------------------------------------------------------------===//

// Here each is rounded once from f64, which is well within what the manual allows.
float sineOf(float x) {
  return float(std::sin(double(x)));
}
float cosineOf(float x) {
  return float(std::cos(double(x)));
}
float exp2Of(float x) {
  return float(std::exp2(double(x)));
}
float log2Of(float x) {
  return float(std::log2(double(x)));
}
float tanhOf(float x) {
  return float(std::tanh(double(x)));
}
float reciprocalOf(float x) {
  return 1 / x;
}
float rsqrtOf(float x) {
  return float(1 / std::sqrt(double(x)));
}
float sqrtOf(float x) {
  return std::sqrt(x);
}

template <auto function> const Inst *approximate(const Inst *i, uint64_t *r, Thread &) {
  auto x = get<float>(r[i->a]);
  if (i->imm & kFlush)
    x = flushed(x);
  float result = function(x);
  if (i->imm & kFlush)
    result = flushed(result);
  r[i->d] = put<float>(result);
  return i + 1;
}

float divideApproximately(float a, float b) {
  const float magnitude = std::fabs(b);
  if (magnitude > 0x1p126f && std::isfinite(magnitude))
    return std::isinf(a) || std::isnan(a) ? std::numeric_limits<float>::quiet_NaN()
                                          : std::copysign(0.0f, std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f);
  return a / b;
}
template <bool isFull> const Inst *approximateDivision(const Inst *i, uint64_t *r, Thread &) {
  auto a = get<float>(r[i->a]), b = get<float>(r[i->b]);
  if (i->imm & kFlush)
    a = flushed(a), b = flushed(b);
  float result = isFull ? a / b : divideApproximately(a, b);
  if (i->imm & kFlush)
    result = flushed(result);
  r[i->d] = put<float>(result);
  return i + 1;
}

const Inst *upperReciprocal(const Inst *i, uint64_t *r, Thread &) {
  const auto x = flushed(std::bit_cast<double>(r[i->a] & 0xffffffff00000000));
  r[i->d] = std::bit_cast<uint64_t>(flushed(1 / x)) & 0xffffffff00000000;
  return i + 1;
}
template <bool upper> const Inst *rsqrtOfDouble(const Inst *i, uint64_t *r, Thread &) {
  const double x = upper ? flushed(std::bit_cast<double>(r[i->a] & 0xffffffff00000000)) : get<double>(r[i->a]);
  const auto bits = std::bit_cast<uint64_t>(1 / std::sqrt(x));
  r[i->d] = upper ? bits & 0xffffffff00000000 : bits;
  return i + 1;
}

template <auto function> void decodeFunction(Decoder &in, bool hasHalves) {
  if (!in.take("approx"))
    in.fail("'.approx' is expected");
  if (in.take("ftz"))
    in.inst.imm |= kFlush;
  const Type type = in.takeType();
  sameTypeOperands(in, type, 2);
  if (type == Type::F32)
    in.inst.run = &approximate<function>;
  else if (hasHalves && type == Type::F16)
    in.inst.run = &halfFunction<function, false, false>;
  else if (hasHalves && type == Type::F16x2)
    in.inst.run = &halfFunction<function, false, true>;
  else if (hasHalves && type == Type::BF16)
    in.inst.run = &halfFunction<function, true, false>;
  else if (hasHalves && type == Type::BF16x2)
    in.inst.run = &halfFunction<function, true, true>;
}

// 1 / x is a division whose first operand is one.
void decodeRcp(Decoder &in) {
  const bool isApproximate = in.take("approx");
  if (!isApproximate)
    in.inst.imm = uint64_t(takeRounding(in));
  const Type type = in.takeTypeOf({Type::F32, Type::F64});
  takeFlags(in, Type::F32);
  in.expectOperands(2);
  in.inst.d = in.target(0, type);
  if (isApproximate) {
    in.inst.a = in.source(1, type);
    in.inst.run = type == Type::F32 ? &approximate<reciprocalOf> : &upperReciprocal;
    return;
  }
  in.inst.a = in.constant(type == Type::F32 ? std::bit_cast<uint32_t>(1.0f) : std::bit_cast<uint64_t>(1.0));
  in.inst.b = in.source(1, type);
  in.inst.run = handlerFor<FloatOp::Div>(in, type);
}

void decodeSqrt(Decoder &in) {
  const bool isApproximate = in.take("approx");
  if (!isApproximate)
    in.inst.imm = uint64_t(takeRounding(in));
  const Type type = in.takeTypeOf({Type::F32, Type::F64});
  takeFlags(in, type);
  sameTypeOperands(in, type, 2);
  if (isApproximate && type == Type::F64)
    in.fail("'.approx' is for f32");
  in.inst.run = isApproximate ? &approximate<sqrtOf> : handlerFor<FloatOp::Sqrt>(in, type);
}

void decodeRsqrt(Decoder &in) {
  if (!in.take("approx"))
    in.fail("'.approx' is expected");
  if (in.take("ftz"))
    in.inst.imm |= kFlush;
  const Type type = in.takeTypeOf({Type::F32, Type::F64});
  sameTypeOperands(in, type, 2);
  in.inst.run = type == Type::F32      ? &approximate<rsqrtOf>
                : in.inst.imm & kFlush ? &rsqrtOfDouble<true>
                                       : &rsqrtOfDouble<false>;
}

void decodeCopysign(Decoder &in) {
  const Type type = in.takeTypeOf({Type::F32, Type::F64});
  sameTypeOperands(in, type, 3);
  in.inst.run = type == Type::F32 ? &copySign<float> : &copySign<double>;
}

enum class Property : uint64_t { Finite, Infinite, Number, NotANumber, Normal, Subnormal };
template <typename T> const Inst *testProperty(const Inst *i, uint64_t *r, Thread &) {
  const T x = get<T>(r[i->a]);
  bool result = false;
  switch (Property(i->imm)) {
  case Property::Finite: result = std::isfinite(x); break;
  case Property::Infinite: result = std::isinf(x); break;
  case Property::Number: result = !std::isnan(x); break;
  case Property::NotANumber: result = std::isnan(x); break;
  case Property::Normal: result = std::isnormal(x) || x == 0; break;
  case Property::Subnormal: result = std::fpclassify(x) == FP_SUBNORMAL; break;
  }
  r[i->d] = result;
  return i + 1;
}
void decodeTestp(Decoder &in) {
  static constexpr std::string_view kNames[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  size_t which = 0;
  while (which < std::size(kNames) && !in.take(kNames[which]))
    ++which;
  if (which == std::size(kNames))
    in.fail("a property is expected");
  in.inst.imm = which;
  const Type type = in.takeTypeOf({Type::F32, Type::F64});
  in.expectOperands(2);
  in.inst.d = in.target(0, Type::Pred);
  in.inst.a = in.source(1, type);
  in.inst.run = type == Type::F32 ? &testProperty<float> : &testProperty<double>;
}

bool hasOne(const Decoder &in, std::initializer_list<std::string_view> names) {
  for (const std::string &modifier : in.instruction().modifiers)
    if (std::ranges::find(names, modifier) != names.end())
      return true;
  return false;
}

constexpr Opcode kOpcodes[] = {
    {"fma",
     [](Decoder &in) {
       if (!hasOne(in, {"rn", "rz", "rm", "rp"}))
         in.fail("a rounding is expected");
       decodeFloatFma(in, in.takeType());
     }},
    {"rcp", decodeRcp},
    {"sqrt", decodeSqrt},
    {"rsqrt", decodeRsqrt},
    {"sin", [](Decoder &in) { decodeFunction<sineOf>(in, false); }},
    {"cos", [](Decoder &in) { decodeFunction<cosineOf>(in, false); }},
    {"lg2", [](Decoder &in) { decodeFunction<log2Of>(in, false); }},
    {"ex2", [](Decoder &in) { decodeFunction<exp2Of>(in, true); }},
    {"tanh", [](Decoder &in) { decodeFunction<tanhOf>(in, true); }},
    {"copysign", decodeCopysign},
    {"testp", decodeTestp},
};

} // namespace

Rounding takeRounding(Decoder &in) {
  if (in.take("rn"))
    return Rounding::Nearest;
  if (in.take("rz"))
    return Rounding::Zero;
  if (in.take("rm"))
    return Rounding::Down;
  if (in.take("rp"))
    return Rounding::Up;
  return Rounding::Nearest;
}

// An f32 operation of which the numbers that it multiplies, or the first that it adds, are of 16 bits.
template <FloatOp op, bool isBrain> const Inst *mixed(const Inst *i, uint64_t *r, Thread &) {
  const float a = fromHalf<isBrain>(uint16_t(r[i->a]));
  float result = op == FloatOp::Fma
                     ? compute(op, roundingOf(i), a, fromHalf<isBrain>(uint16_t(r[i->b])), get<float>(r[i->c]))
                     : compute(op, roundingOf(i), a, get<float>(r[i->b]), 0.0F);
  if (i->imm & kSaturate)
    result = saturated(result);
  r[i->d] = put<float>(result);
  return i + 1;
}
// False where it is none.
template <FloatOp op> bool decodeMixed(Decoder &in, Type type) {
  const std::string_view narrow = type == Type::F32 ? in.takeOneOf({"f16", "bf16"}) : std::string_view();
  if (narrow.empty())
    return false;
  const Type half = narrow == "f16" ? Type::F16 : Type::BF16;
  constexpr size_t kOperands = op == FloatOp::Fma ? 4 : 3;
  in.expectOperands(kOperands);
  in.inst.d = in.target(0, type);
  in.inst.a = in.source(1, half);
  in.inst.b = in.source(2, op == FloatOp::Fma ? half : type);
  if (op == FloatOp::Fma)
    in.inst.c = in.source(3, type);
  in.inst.run = half == Type::F16 ? &mixed<op, false> : &mixed<op, true>;
  return true;
}

void decodeFloatAddSubMul(Decoder &in, FloatOp op, Type type) {
  in.inst.imm = uint64_t(takeRounding(in));
  takeFlags(in, type);
  if ((op == FloatOp::Add && decodeMixed<FloatOp::Add>(in, type)) ||
      (op == FloatOp::Sub && decodeMixed<FloatOp::Sub>(in, type)))
    return;
  sameTypeOperands(in, type, 3);
  auto pick = [&](auto constant) {
    constexpr FloatOp kOp = decltype(constant)::value;
    if (type == Type::F32x2) {
      in.inst.run = &pairOfFloats<kOp>;
      return;
    }
    in.inst.run = typeBits(type) == 16 || type == Type::F16x2 || type == Type::BF16x2 ? halvesFor<kOp>(type)
                                                                                      : handlerFor<kOp>(in, type);
  };
  if (op == FloatOp::Add)
    pick(std::integral_constant<FloatOp, FloatOp::Add>());
  else if (op == FloatOp::Sub)
    pick(std::integral_constant<FloatOp, FloatOp::Sub>());
  else
    pick(std::integral_constant<FloatOp, FloatOp::Mul>());
}

void decodeFloatFma(Decoder &in, Type type) {
  in.inst.imm = uint64_t(takeRounding(in));
  takeFlags(in, type);
  if (in.take("relu"))
    in.inst.imm |= kRelu;
  if (decodeMixed<FloatOp::Fma>(in, type))
    return;
  sameTypeOperands(in, type, 4);
  if (type == Type::F32x2) {
    in.inst.run = &pairOfFloats<FloatOp::Fma>;
    return;
  }
  const bool isHalf = typeBits(type) == 16 || type == Type::F16x2 || type == Type::BF16x2;
  if (in.inst.imm & kRelu && !isHalf)
    in.fail("'.relu' is for types of 16 bits");
  in.inst.run = isHalf ? halvesFor<FloatOp::Fma>(type) : handlerFor<FloatOp::Fma>(in, type);
}

void decodeFloatDiv(Decoder &in, Type type) {
  const bool isApproximate = in.take("approx"), isFull = in.take("full");
  if (!isApproximate && !isFull && !hasOne(in, {"rn", "rz", "rm", "rp"}))
    in.fail("a rounding is expected");
  in.inst.imm = uint64_t(takeRounding(in));
  takeFlags(in, type);
  sameTypeOperands(in, type, 3);
  if ((isApproximate || isFull) && type != Type::F32)
    in.fail("'.approx' and '.full' are for f32");
  in.inst.run = isApproximate ? &approximateDivision<false>
                : isFull      ? &approximateDivision<true>
                              : handlerFor<FloatOp::Div>(in, type);
}

void decodeFloatMinMax(Decoder &in, bool isMax, Type type) {
  takeFlags(in, type);
  if (in.take("NaN"))
    in.inst.imm |= kNan;
  if (in.take("xorsign")) {
    in.inst.imm |= kXorSign;
    if (!in.take("abs"))
      in.fail("'.abs' is expected after '.xorsign'");
  }
  sameTypeOperands(in, type, 3);
  switch (type) {
  case Type::F32: in.inst.run = isMax ? &minMax<true, float> : &minMax<false, float>; break;
  case Type::F64: in.inst.run = isMax ? &minMax<true, double> : &minMax<false, double>; break;
  case Type::F16: in.inst.run = isMax ? &minMaxHalves<true, false, false> : &minMaxHalves<false, false, false>; break;
  case Type::F16x2: in.inst.run = isMax ? &minMaxHalves<true, false, true> : &minMaxHalves<false, false, true>; break;
  case Type::BF16: in.inst.run = isMax ? &minMaxHalves<true, true, false> : &minMaxHalves<false, true, false>; break;
  case Type::BF16x2: in.inst.run = isMax ? &minMaxHalves<true, true, true> : &minMaxHalves<false, true, true>; break;
  default: break;
  }
}

void decodeFloatAbsNeg(Decoder &in, bool isNeg, Type type) {
  const bool flush = in.take("ftz");
  sameTypeOperands(in, type, 2);
  in.inst.run = isNeg ? &changeSign<true> : &changeSign<false>;
  switch (type) {
  case Type::F16:
  case Type::BF16: in.inst.imm = 0x8000; break;
  case Type::F16x2:
  case Type::BF16x2: in.inst.imm = 0x80008000; break;
  case Type::F32: in.inst.imm = 0x80000000; break;
  case Type::F64: in.inst.imm = uint64_t(1) << 63; break;
  default: in.inst.run = nullptr; break;
  }
  if (flush && type == Type::F32)
    in.inst.run = isNeg ? &changeSignFlushed<true> : &changeSignFlushed<false>;
  else if (flush && type == Type::F64)
    in.fail("'.ftz' is not for f64");
}

std::span<const Opcode> floatOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
