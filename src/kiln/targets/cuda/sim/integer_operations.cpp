// Arithmetic and logic of integers and bits.
#include "kiln/targets/cuda/sim/operations.h"

#include <algorithm>

namespace kiln::cudasim {

namespace {

template <typename T>
using Wide = std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                                std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
template <typename T> using Unsigned = std::make_unsigned_t<T>;

template <typename T> T wrapAdd(T a, T b) {
  return T(Unsigned<T>(a) + Unsigned<T>(b));
}
template <typename T> T wrapSub(T a, T b) {
  return T(Unsigned<T>(a) - Unsigned<T>(b));
}
template <typename T> T mulLo(T a, T b) {
  return T(uint64_t(a) * uint64_t(b));
}
template <typename T> T mulHi(T a, T b) {
  return T((Wide<T>(a) * Wide<T>(b)) >> (sizeof(T) * 8));
}
template <typename T> T madLo(T a, T b, T c) {
  return wrapAdd(mulLo(a, b), c);
}
template <typename T> T madHi(T a, T b, T c) {
  return wrapAdd(mulHi(a, b), c);
}
template <typename T> T clamp(Wide<T> value) {
  return T(std::clamp<Wide<T>>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
template <typename T> T satAdd(T a, T b) {
  return clamp<T>(Wide<T>(a) + Wide<T>(b));
}
template <typename T> T satSub(T a, T b) {
  return clamp<T>(Wide<T>(a) - Wide<T>(b));
}
template <typename T> T madHiSat(T a, T b, T c) {
  return satAdd(mulHi(a, b), c);
}
// Division by zero gives what devices give: all ones, and the dividend as the remainder.
template <typename T> T divide(T a, T b) {
  return b == 0 ? T(-1) : b == T(-1) && std::is_signed_v<T> ? wrapSub(T(0), a) : T(a / b);
}
template <typename T> T remainder(T a, T b) {
  return b == 0 ? a : b == T(-1) && std::is_signed_v<T> ? T(0) : T(a % b);
}
template <typename T> T minimum(T a, T b) {
  return std::min(a, b);
}
template <typename T> T maximum(T a, T b) {
  return std::max(a, b);
}
template <typename T> T minimumRelu(T a, T b) {
  return std::max(std::min(a, b), T(0));
}
template <typename T> T maximumRelu(T a, T b) {
  return std::max(std::max(a, b), T(0));
}
template <typename T> T absolute(T a) {
  return a < 0 ? wrapSub(T(0), a) : a;
}
template <typename T> T negate(T a) {
  return wrapSub(T(0), a);
}
template <typename T> T sad(T a, T b, T c) {
  return wrapAdd(c, a < b ? wrapSub(b, a) : wrapSub(a, b));
}

template <typename T> const Inst *mulWide(const Inst *i, uint64_t *r, Thread &) {
  using W = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>, Wide<T>>;
  r[i->d] = put<W>(W(Wide<T>(get<T>(r[i->a])) * get<T>(r[i->b])));
  return i + 1;
}
template <typename T> const Inst *madWide(const Inst *i, uint64_t *r, Thread &) {
  using W = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>, Wide<T>>;
  r[i->d] = put<W>(wrapAdd(W(Wide<T>(get<T>(r[i->a])) * get<T>(r[i->b])), get<W>(r[i->c])));
  return i + 1;
}
template <typename T, bool isHigh, bool adds> const Inst *mul24(const Inst *i, uint64_t *r, Thread &) {
  auto low24 = [](uint64_t bits) {
    return int64_t(std::is_signed_v<T> ? int32_t(uint32_t(bits) << 8) >> 8 : int32_t(bits & 0xffffff));
  };
  const int64_t product = low24(r[i->a]) * low24(r[i->b]);
  const auto part = uint32_t(isHigh ? product >> 16 : product);
  r[i->d] = uint32_t(part + (adds ? uint32_t(r[i->c]) : 0));
  return i + 1;
}

Type widened(Type type) {
  switch (type) {
  case Type::U16: return Type::U32;
  case Type::S16: return Type::S32;
  case Type::U32: return Type::U64;
  case Type::S32: return Type::S64;
  default: return Type::None;
  }
}

template <typename T> Handler pickWide(bool adds) {
  if constexpr (sizeof(T) == 2 || sizeof(T) == 4)
    return adds ? &madWide<T> : &mulWide<T>;
  else
    return nullptr;
}

// Two numbers of 16 bits in one register.
template <typename T, auto function> const Inst *pairwise(const Inst *i, uint64_t *r, Thread &) {
  const uint64_t a = r[i->a], b = r[i->b];
  r[i->d] = put<T>(function(get<T>(a), get<T>(b))) | put<T>(function(get<T>(a >> 16), get<T>(b >> 16))) << 16;
  return i + 1;
}

//===--- Carries --------------------------------------------------------------------------------------------------===//

// The carry is a register of its own of the thread, in `carry`.
template <typename T, bool isSub, bool usesCarry, bool setsCarry>
const Inst *addCarry(const Inst *i, uint64_t *r, Thread &t) {
  using W = unsigned __int128;
  const T a = get<T>(r[i->a]), b = get<T>(r[i->b]);
  const W carry = usesCarry ? t.carry : 0;
  const W sum = isSub ? W(a) - W(b) - carry : W(a) + W(b) + carry;
  r[i->d] = put<T>(T(sum));
  if (setsCarry)
    t.carry = (sum >> (sizeof(T) * 8)) & 1;
  return i + 1;
}
template <typename T, bool isHigh, bool usesCarry, bool setsCarry>
const Inst *madCarry(const Inst *i, uint64_t *r, Thread &t) {
  using U = Unsigned<T>;
  const U product = isHigh ? U(mulHi(get<T>(r[i->a]), get<T>(r[i->b]))) : U(mulLo(get<T>(r[i->a]), get<T>(r[i->b])));
  const auto sum = static_cast<unsigned __int128>(product) + U(r[i->c]) + (usesCarry ? t.carry : 0);
  r[i->d] = put<U>(U(sum));
  if (setsCarry)
    t.carry = (sum >> (sizeof(T) * 8)) & 1;
  return i + 1;
}

template <bool isSub> void decodeCarry(Decoder &in, bool usesCarry) {
  const bool setsCarry = in.take("cc");
  const Type type = in.takeTypeOf({Type::U32, Type::S32, Type::U64, Type::S64});
  sameTypeOperands(in, type, 3);
  auto pick = [&](auto v) -> Handler {
    using T = decltype(v);
    return usesCarry ? setsCarry ? &addCarry<T, isSub, true, true> : &addCarry<T, isSub, true, false>
                     : &addCarry<T, isSub, false, true>;
  };
  in.inst.run = typeBits(type) == 32 ? pick(uint32_t()) : pick(uint64_t());
}

void decodeMadCarry(Decoder &in, bool usesCarry) {
  const bool setsCarry = in.take("cc");
  const bool isHigh = in.take("hi");
  if (!isHigh && !in.take("lo"))
    in.fail("'.lo' or '.hi' is expected");
  const Type type = in.takeTypeOf({Type::U32, Type::S32, Type::U64, Type::S64});
  sameTypeOperands(in, type, 4);
  in.inst.run = pickInteger(type, [&](auto v) -> Handler {
    using T = decltype(v);
    if constexpr (sizeof(T) < 4)
      return nullptr;
    else if (isHigh)
      return usesCarry ? setsCarry ? &madCarry<T, true, true, true> : &madCarry<T, true, true, false>
                       : &madCarry<T, true, false, true>;
    else
      return usesCarry ? setsCarry ? &madCarry<T, false, true, true> : &madCarry<T, false, true, false>
                       : &madCarry<T, false, false, true>;
  });
}

//===--- Arithmetic -----------------------------------------------------------------------------------------------===//

bool isCarry(const Decoder &in) {
  return std::ranges::find(in.instruction().modifiers, "cc") != in.instruction().modifiers.end();
}

template <bool isSub> void decodeAddSub(Decoder &in) {
  if (isCarry(in))
    return decodeCarry<isSub>(in, false);
  const Type type = in.takeType();
  if (isFloat(type))
    return decodeFloatAddSubMul(in, isSub ? FloatOp::Sub : FloatOp::Add, type);
  const bool saturates = in.take("sat");
  if (saturates && type != Type::S32)
    in.fail("'.sat' is for s32");
  sameTypeOperands(in, type, 3);
  if (type == Type::U16x2 || type == Type::S16x2)
    in.inst.run = isSub ? &pairwise<uint16_t, wrapSub<uint16_t>> : &pairwise<uint16_t, wrapAdd<uint16_t>>;
  else if (typeBits(type) >= 16 && type != Type::B16 && type != Type::B32 && type != Type::B64)
    in.inst.run = pickInteger(type, [&](auto v) -> Handler {
      using T = decltype(v);
      if (saturates)
        return isSub ? &binary<T, satSub<T>> : &binary<T, satAdd<T>>;
      return isSub ? &binary<T, wrapSub<T>> : &binary<T, wrapAdd<T>>;
    });
}

void decodeMul(Decoder &in) {
  const std::string_view part = in.takeOneOf({"lo", "hi", "wide"});
  const Type type = in.takeType();
  if (isFloat(type))
    return decodeFloatAddSubMul(in, FloatOp::Mul, type);
  if (part == "wide") {
    in.expectOperands(3);
    in.inst.d = in.target(0, widened(type));
    in.inst.a = in.source(1, type);
    in.inst.b = in.source(2, type);
    in.inst.run = pickInteger(type, [](auto v) { return pickWide<decltype(v)>(false); });
    return;
  }
  if (part.empty())
    in.fail("'.lo', '.hi' or '.wide' is expected");
  sameTypeOperands(in, type, 3);
  in.inst.run = pickInteger(type, [&](auto v) -> Handler {
    using T = decltype(v);
    return part == "lo" ? &binary<T, mulLo<T>> : &binary<T, mulHi<T>>;
  });
}

void decodeMad(Decoder &in) {
  if (isCarry(in))
    return decodeMadCarry(in, false);
  const std::string_view part = in.takeOneOf({"lo", "hi", "wide"});
  const Type type = in.takeType();
  if (isFloat(type))
    return decodeFloatFma(in, type);
  if (part == "wide") {
    in.expectOperands(4);
    in.inst.d = in.target(0, widened(type));
    in.inst.a = in.source(1, type);
    in.inst.b = in.source(2, type);
    in.inst.c = in.source(3, widened(type));
    in.inst.run = pickInteger(type, [](auto v) { return pickWide<decltype(v)>(true); });
    return;
  }
  if (part.empty())
    in.fail("'.lo', '.hi' or '.wide' is expected");
  const bool saturates = in.take("sat");
  if (saturates && (part != "hi" || type != Type::S32))
    in.fail("'.sat' is for .hi.s32");
  sameTypeOperands(in, type, 4);
  in.inst.run = pickInteger(type, [&](auto v) -> Handler {
    using T = decltype(v);
    return part == "lo" ? &ternary<T, madLo<T>> : saturates ? &ternary<T, madHiSat<T>> : &ternary<T, madHi<T>>;
  });
}

template <bool adds> void decodeMul24(Decoder &in) {
  const bool isHigh = in.take("hi");
  if (!isHigh && !in.take("lo"))
    in.fail("'.lo' or '.hi' is expected");
  const Type type = in.takeTypeOf({Type::U32, Type::S32});
  sameTypeOperands(in, type, adds ? 4 : 3);
  if (isSigned(type))
    in.inst.run = isHigh ? &mul24<int32_t, true, adds> : &mul24<int32_t, false, adds>;
  else
    in.inst.run = isHigh ? &mul24<uint32_t, true, adds> : &mul24<uint32_t, false, adds>;
}

void decodeSad(Decoder &in) {
  const Type type = in.takeType();
  sameTypeOperands(in, type, 4);
  in.inst.run = pickInteger(type, [](auto v) -> Handler { return &ternary<decltype(v), sad<decltype(v)>>; });
}

void decodeDiv(Decoder &in) {
  const Type type = in.takeType();
  if (isFloat(type))
    return decodeFloatDiv(in, type);
  sameTypeOperands(in, type, 3);
  in.inst.run = pickInteger(type, [](auto v) -> Handler { return &binary<decltype(v), divide<decltype(v)>>; });
}

void decodeRem(Decoder &in) {
  const Type type = in.takeType();
  sameTypeOperands(in, type, 3);
  in.inst.run = pickInteger(type, [](auto v) -> Handler { return &binary<decltype(v), remainder<decltype(v)>>; });
}

template <bool isMax> void decodeMinMax(Decoder &in) {
  const Type type = in.takeType();
  if (isFloat(type))
    return decodeFloatMinMax(in, isMax, type);
  const bool relu = in.take("relu");
  if (relu && type != Type::S32 && type != Type::S16x2)
    in.fail("'.relu' is for s32 and s16x2");
  sameTypeOperands(in, type, 3);
  if (type == Type::U16x2)
    in.inst.run = isMax ? &pairwise<uint16_t, maximum<uint16_t>> : &pairwise<uint16_t, minimum<uint16_t>>;
  else if (type == Type::S16x2 && relu)
    in.inst.run = isMax ? &pairwise<int16_t, maximumRelu<int16_t>> : &pairwise<int16_t, minimumRelu<int16_t>>;
  else if (type == Type::S16x2)
    in.inst.run = isMax ? &pairwise<int16_t, maximum<int16_t>> : &pairwise<int16_t, minimum<int16_t>>;
  else if (relu)
    in.inst.run = isMax ? &binary<int32_t, maximumRelu<int32_t>> : &binary<int32_t, minimumRelu<int32_t>>;
  else
    in.inst.run = pickInteger(type, [](auto v) -> Handler {
      using T = decltype(v);
      return isMax ? &binary<T, maximum<T>> : &binary<T, minimum<T>>;
    });
}

template <bool isNeg> void decodeAbsNeg(Decoder &in) {
  const Type type = in.takeType();
  if (isFloat(type))
    return decodeFloatAbsNeg(in, isNeg, type);
  if (!isSigned(type))
    in.fail("it is for signed types");
  sameTypeOperands(in, type, 2);
  in.inst.run = pickInteger(type, [](auto v) -> Handler {
    using T = decltype(v);
    return isNeg ? &unary<T, negate<T>> : &unary<T, absolute<T>>;
  });
}

constexpr Opcode kOpcodes[] = {
    {"add", decodeAddSub<false>},
    {"sub", decodeAddSub<true>},
    {"addc", [](Decoder &in) { decodeCarry<false>(in, true); }},
    {"subc", [](Decoder &in) { decodeCarry<true>(in, true); }},
    {"madc", [](Decoder &in) { decodeMadCarry(in, true); }},
    {"mul", decodeMul},
    {"mad", decodeMad},
    {"mul24", decodeMul24<false>},
    {"mad24", decodeMul24<true>},
    {"sad", decodeSad},
    {"div", decodeDiv},
    {"rem", decodeRem},
    {"min", decodeMinMax<false>},
    {"max", decodeMinMax<true>},
    {"abs", decodeAbsNeg<false>},
    {"neg", decodeAbsNeg<true>},
};

} // namespace

std::span<const Opcode> integerOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
