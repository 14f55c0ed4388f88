// Logic, shifts, fields of bits, permutations and short dot products.
#include "kiln/targets/cuda/sim/operations.h"

#include <algorithm>

namespace kiln::cudasim {

namespace {

template <typename T> using Unsigned = std::make_unsigned_t<T>;
template <typename T> T bitAnd(T a, T b) {
  return T(a & b);
}
template <typename T> T bitOr(T a, T b) {
  return T(a | b);
}
template <typename T> T bitXor(T a, T b) {
  return T(a ^ b);
}
template <typename T> T bitNot(T a) {
  return T(~a);
}
template <typename T> T logicalNot(T a) {
  return a == 0;
}

// Amounts are 32-bit and clamped to the width.
template <typename T> const Inst *shiftLeft(const Inst *i, uint64_t *r, Thread &) {
  const auto amount = uint32_t(r[i->b]);
  r[i->d] = amount < sizeof(T) * 8 ? put<T>(T(uint64_t(get<T>(r[i->a])) << amount)) : 0;
  return i + 1;
}
template <typename T> const Inst *shiftRight(const Inst *i, uint64_t *r, Thread &) {
  const uint32_t amount = std::min<uint32_t>(uint32_t(r[i->b]), sizeof(T) * 8 - 1);
  const T value = get<T>(r[i->a]);
  r[i->d] = uint32_t(r[i->b]) >= sizeof(T) * 8 && std::is_unsigned_v<T> ? 0 : put<T>(T(value >> amount));
  return i + 1;
}

template <typename F> void decodeLogic(Decoder &in, size_t operands, F pick) {
  const Type type = in.takeTypeOf({Type::Pred, Type::B16, Type::B32, Type::B64});
  sameTypeOperands(in, type, operands);
  in.inst.run = type == Type::Pred ? pick(bool()) : pickInteger(type, pick);
}

bool andOf(bool a, bool b) {
  return a && b;
}
bool orOf(bool a, bool b) {
  return a || b;
}
bool xorOf(bool a, bool b) {
  return a != b;
}
template <auto function> const Inst *predicates(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = function(r[i->a] != 0, r[i->b] != 0);
  return i + 1;
}
const Inst *predicateNot(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = !r[i->a];
  return i + 1;
}

void decodeAnd(Decoder &in) {
  decodeLogic(in, 3, [](auto v) -> Handler {
    if constexpr (std::is_same_v<decltype(v), bool>)
      return &predicates<andOf>;
    else
      return &binary<decltype(v), bitAnd<decltype(v)>>;
  });
}
void decodeOr(Decoder &in) {
  decodeLogic(in, 3, [](auto v) -> Handler {
    if constexpr (std::is_same_v<decltype(v), bool>)
      return &predicates<orOf>;
    else
      return &binary<decltype(v), bitOr<decltype(v)>>;
  });
}
void decodeXor(Decoder &in) {
  decodeLogic(in, 3, [](auto v) -> Handler {
    if constexpr (std::is_same_v<decltype(v), bool>)
      return &predicates<xorOf>;
    else
      return &binary<decltype(v), bitXor<decltype(v)>>;
  });
}
void decodeNot(Decoder &in) {
  decodeLogic(in, 2, [](auto v) -> Handler {
    if constexpr (std::is_same_v<decltype(v), bool>)
      return &predicateNot;
    else
      return &unary<decltype(v), bitNot<decltype(v)>>;
  });
}
void decodeCnot(Decoder &in) {
  const Type type = in.takeTypeOf({Type::B16, Type::B32, Type::B64});
  sameTypeOperands(in, type, 2);
  in.inst.run = pickInteger(type, [](auto v) -> Handler { return &unary<decltype(v), logicalNot<decltype(v)>>; });
}

template <bool isLeft> void decodeShift(Decoder &in) {
  const Type type = in.takeType();
  if (typeBits(type) < 16 || isFloat(type) || (isLeft && !typeName(type).starts_with('b')))
    in.fail("it has no such type");
  in.expectOperands(3);
  in.inst.d = in.target(0, type);
  in.inst.a = in.source(1, type);
  in.inst.b = in.source(2, Type::B32);
  in.inst.run = pickInteger(type, [](auto v) -> Handler {
    using T = decltype(v);
    return isLeft ? &shiftLeft<T> : &shiftRight<T>;
  });
}

template <bool isLeft, bool wraps> const Inst *funnelShift(const Inst *i, uint64_t *r, Thread &) {
  const uint64_t both = r[i->b] << 32 | uint32_t(r[i->a]);
  const auto amount = uint32_t(r[i->c]);
  const uint32_t n = wraps ? amount & 31 : std::min(amount, 32u);
  r[i->d] = uint32_t(isLeft ? n == 32 ? both : both >> (32 - n) : both >> n);
  return i + 1;
}

void decodeFunnelShift(Decoder &in) {
  const bool isLeft = in.take("l");
  if (!isLeft && !in.take("r"))
    in.fail("'.l' or '.r' is expected");
  const bool wraps = in.take("wrap");
  if (!wraps && !in.take("clamp"))
    in.fail("'.wrap' or '.clamp' is expected");
  sameTypeOperands(in, in.takeTypeOf({Type::B32}), 4);
  in.inst.run = isLeft  ? wraps ? &funnelShift<true, true> : &funnelShift<true, false>
                : wraps ? &funnelShift<false, true>
                        : &funnelShift<false, false>;
}

template <typename T> const Inst *popcount(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = uint64_t(std::popcount(T(r[i->a])));
  return i + 1;
}
template <typename T> const Inst *leadingZeros(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = uint64_t(std::countl_zero(T(r[i->a])));
  return i + 1;
}
template <typename T> T reversed(T a) {
  T result = 0;
  for (size_t bit = 0; bit < sizeof(T) * 8; ++bit)
    result = T(result << 1 | (a >> bit & 1));
  return result;
}
// The place of the highest bit that differs from the sign; all ones where there is none. `imm`: from the top.
template <typename T> const Inst *findBit(const Inst *i, uint64_t *r, Thread &) {
  const T value = get<T>(r[i->a]);
  const auto bits = Unsigned<T>(std::is_signed_v<T> && value < 0 ? ~value : value);
  const uint32_t zeros = uint32_t(std::countl_zero(bits)), width = sizeof(T) * 8;
  r[i->d] = bits == 0 ? 0xffffffff : i->imm ? zeros : width - 1 - zeros;
  return i + 1;
}

void decodePopc(Decoder &in) {
  const Type type = in.takeTypeOf({Type::B32, Type::B64});
  in.expectOperands(2);
  in.inst.d = in.target(0, Type::B32);
  in.inst.a = in.source(1, type);
  in.inst.run = type == Type::B32 ? &popcount<uint32_t> : &popcount<uint64_t>;
}
void decodeClz(Decoder &in) {
  const Type type = in.takeTypeOf({Type::B32, Type::B64});
  in.expectOperands(2);
  in.inst.d = in.target(0, Type::B32);
  in.inst.a = in.source(1, type);
  in.inst.run = type == Type::B32 ? &leadingZeros<uint32_t> : &leadingZeros<uint64_t>;
}
void decodeBrev(Decoder &in) {
  const Type type = in.takeTypeOf({Type::B32, Type::B64});
  sameTypeOperands(in, type, 2);
  in.inst.run = type == Type::B32 ? &unary<uint32_t, reversed<uint32_t>> : &unary<uint64_t, reversed<uint64_t>>;
}
void decodeBfind(Decoder &in) {
  in.inst.imm = in.take("shiftamt");
  const Type type = in.takeTypeOf({Type::U32, Type::S32, Type::U64, Type::S64});
  in.expectOperands(2);
  in.inst.d = in.target(0, Type::B32);
  in.inst.a = in.source(1, type);
  in.inst.run = pickInteger(type, [](auto v) -> Handler { return &findBit<decltype(v)>; });
}

// The n-th set bit from a place on; upwards or downwards.
const Inst *findNth(const Inst *i, uint64_t *r, Thread &) {
  const auto mask = uint32_t(r[i->a]), base = uint32_t(r[i->b]);
  const auto offset = int32_t(uint32_t(r[i->c]));
  uint32_t result = 0xffffffff;
  if (offset == 0) {
    if (base < 32 && mask >> base & 1)
      result = base;
  } else {
    int64_t left = std::abs(int64_t(offset));
    for (int64_t position = base; position >= 0 && position < 32; position += offset < 0 ? -1 : 1)
      if (mask >> position & 1 && --left == 0) {
        result = uint32_t(position);
        break;
      }
  }
  r[i->d] = result;
  return i + 1;
}
void decodeFns(Decoder &in) {
  sameTypeOperands(in, in.takeTypeOf({Type::B32}), 4);
  in.inst.run = &findNth;
}

template <typename T> const Inst *extractField(const Inst *i, uint64_t *r, Thread &) {
  constexpr uint32_t kTop = sizeof(T) * 8 - 1;
  const auto value = Unsigned<T>(r[i->a]);
  const uint32_t position = r[i->b] & 0xff, length = r[i->c] & 0xff;
  const uint32_t signPlace = std::min(position + length - 1, kTop);
  const bool sign = std::is_signed_v<T> && length != 0 && (value >> signPlace & 1);
  Unsigned<T> result = 0;
  for (uint32_t bit = 0; bit <= kTop; ++bit) {
    const bool set = bit < length && position + bit <= kTop ? value >> (position + bit) & 1 : sign;
    result |= Unsigned<T>(set) << bit;
  }
  r[i->d] = put<Unsigned<T>>(result);
  return i + 1;
}
void decodeBfe(Decoder &in) {
  const Type type = in.takeTypeOf({Type::U32, Type::S32, Type::U64, Type::S64});
  in.expectOperands(4);
  in.inst.d = in.target(0, type);
  in.inst.a = in.source(1, type);
  in.inst.b = in.source(2, Type::B32);
  in.inst.c = in.source(3, Type::B32);
  in.inst.run = pickInteger(type, [](auto v) -> Handler { return &extractField<decltype(v)>; });
}

template <typename T> const Inst *insertField(const Inst *i, uint64_t *r, Thread &) {
  const T value = T(r[i->a]);
  T result = T(r[i->b]);
  const uint32_t position = r[i->c] & 0xff, length = r[i->list[0]] & 0xff;
  for (uint32_t bit = 0; bit < length && position + bit < sizeof(T) * 8; ++bit) {
    const T place = T(1) << (position + bit);
    result = value >> bit & 1 ? result | place : result & ~place;
  }
  r[i->d] = result;
  return i + 1;
}
void decodeBfi(Decoder &in) {
  const Type type = in.takeTypeOf({Type::B32, Type::B64});
  in.expectOperands(5);
  in.inst.d = in.target(0, type);
  in.inst.a = in.source(1, type);
  in.inst.b = in.source(2, type);
  in.inst.c = in.source(3, Type::B32);
  in.inst.list = in.list({in.source(4, Type::B32)});
  in.inst.run = type == Type::B32 ? &insertField<uint32_t> : &insertField<uint64_t>;
}

template <bool isSignedType, bool wraps> const Inst *extendFrom(const Inst *i, uint64_t *r, Thread &) {
  const auto value = uint32_t(r[i->a]), n = uint32_t(r[i->b]);
  const uint32_t width = wraps ? n & 31 : std::min(n, 32u);
  if (width == 0 || width == 32)
    r[i->d] = width ? value : 0;
  else
    r[i->d] = isSignedType ? uint32_t(int32_t(value << (32 - width)) >> (32 - width)) : value & ((1u << width) - 1);
  return i + 1;
}
void decodeSzext(Decoder &in) {
  const bool wraps = in.take("wrap");
  if (!wraps && !in.take("clamp"))
    in.fail("'.wrap' or '.clamp' is expected");
  const Type type = in.takeTypeOf({Type::U32, Type::S32});
  sameTypeOperands(in, type, 3);
  in.inst.run = isSigned(type) ? wraps ? &extendFrom<true, true> : &extendFrom<true, false>
                : wraps        ? &extendFrom<false, true>
                               : &extendFrom<false, false>;
}
template <bool wraps> const Inst *bitMask(const Inst *i, uint64_t *r, Thread &) {
  auto limit = [](uint32_t n) { return wraps ? n & 31 : std::min(n, 32u); };
  const uint64_t position = limit(uint32_t(r[i->a])), length = limit(uint32_t(r[i->b]));
  r[i->d] = uint32_t(((uint64_t(1) << length) - 1) << position);
  return i + 1;
}
void decodeBmsk(Decoder &in) {
  const bool wraps = in.take("wrap");
  if (!wraps && !in.take("clamp"))
    in.fail("'.wrap' or '.clamp' is expected");
  sameTypeOperands(in, in.takeTypeOf({Type::B32}), 3);
  in.inst.run = wraps ? &bitMask<true> : &bitMask<false>;
}

uint32_t lookUp3(uint32_t a, uint32_t b, uint32_t c, uint64_t table) {
  uint32_t result = 0;
  for (uint32_t row = 0; row < 8; ++row)
    if (table >> row & 1)
      result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  return result;
}
const Inst *logic3(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = lookUp3(uint32_t(r[i->a]), uint32_t(r[i->b]), uint32_t(r[i->c]), i->imm);
  return i + 1;
}
void decodeLop3(Decoder &in) {
  const Type type = in.takeTypeOf({Type::B32});
  in.expectOperands(5);
  in.inst.d = in.target(0, type);
  in.inst.a = in.source(1, type);
  in.inst.b = in.source(2, type);
  in.inst.c = in.source(3, type);
  in.inst.imm = in.immediate(4);
  if (in.inst.imm > 0xff)
    in.fail("the table has 8 bits");
  in.inst.run = &logic3;
}

enum class Permute : uint8_t { Index, Forward4, Backward4, Replicate8, EdgeLeft, EdgeRight, Replicate16 };
uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector, Permute mode) {
  const uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (uint32_t place = 0; place < 4; ++place) {
    const uint32_t low = selector & 3;
    uint32_t choice = 0;
    switch (mode) {
    case Permute::Index: choice = selector >> (4 * place) & 0xf; break;
    case Permute::Forward4: choice = low + place; break;
    case Permute::Backward4: choice = (low - place) & 7; break;
    case Permute::Replicate8: choice = low; break;
    case Permute::EdgeLeft: choice = std::max(low, place); break;
    case Permute::EdgeRight: choice = std::min(low, place); break;
    case Permute::Replicate16: choice = (low & 1) * 2 + (place & 1); break;
    }
    auto byte = uint32_t(bytes >> (8 * (choice & 7)) & 0xff);
    if (mode == Permute::Index && choice & 8) // the sign, replicated
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * place);
  }
  return result;
}
const Inst *permute(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = permuteBytes(uint32_t(r[i->a]), uint32_t(r[i->b]), uint32_t(r[i->c]), Permute(i->imm));
  return i + 1;
}
void decodePrmt(Decoder &in) {
  const Type type = in.takeTypeOf({Type::B32});
  sameTypeOperands(in, type, 4);
  static constexpr std::string_view kModes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (size_t mode = 1; mode < std::size(kModes); ++mode)
    if (in.take(kModes[mode]))
      in.inst.imm = mode;
  in.inst.run = &permute;
}

template <bool isSignedA, bool isSignedB, int parts> const Inst *dotProduct(const Inst *i, uint64_t *r, Thread &) {
  const auto a = uint32_t(r[i->a]), b = uint32_t(r[i->b]);
  auto byte = [](uint32_t value, int place, bool isSignedPart) -> int64_t {
    const auto bits = uint8_t(value >> (8 * place));
    return isSignedPart ? int8_t(bits) : bits;
  };
  int64_t sum = int64_t(uint32_t(r[i->c]));
  for (int k = 0; k < parts; ++k) {
    if (parts == 4) {
      sum += byte(a, k, isSignedA) * byte(b, k, isSignedB);
    } else {
      const auto half = uint16_t(a >> (16 * k));
      sum += (isSignedA ? int16_t(half) : int64_t(half)) * byte(b, k + int(i->imm), isSignedB);
    }
  }
  r[i->d] = uint32_t(sum);
  return i + 1;
}
template <int parts> void decodeDot(Decoder &in) {
  if (parts == 2) {
    in.inst.imm = in.take("hi") ? 2 : 0;
    if (!in.inst.imm && !in.take("lo"))
      in.fail("'.lo' or '.hi' is expected");
  }
  const bool a = isSigned(in.takeTypeOf({Type::U32, Type::S32})), b = isSigned(in.takeTypeOf({Type::U32, Type::S32}));
  sameTypeOperands(in, Type::B32, 4);
  in.inst.run = a   ? b ? &dotProduct<true, true, parts> : &dotProduct<true, false, parts>
                : b ? &dotProduct<false, true, parts>
                    : &dotProduct<false, false, parts>;
}

constexpr Opcode kOpcodes[] = {
    {"and", decodeAnd},     {"or", decodeOr},           {"xor", decodeXor},          {"not", decodeNot},
    {"cnot", decodeCnot},   {"shl", decodeShift<true>}, {"shr", decodeShift<false>}, {"shf", decodeFunnelShift},
    {"popc", decodePopc},   {"clz", decodeClz},         {"brev", decodeBrev},        {"bfind", decodeBfind},
    {"fns", decodeFns},     {"bfe", decodeBfe},         {"bfi", decodeBfi},          {"szext", decodeSzext},
    {"bmsk", decodeBmsk},   {"lop3", decodeLop3},       {"prmt", decodePrmt},        {"dp4a", decodeDot<4>},
    {"dp2a", decodeDot<2>},
};

} // namespace

std::span<const Opcode> bitOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
