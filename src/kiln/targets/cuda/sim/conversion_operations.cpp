// Moves and conversions.
#include "kiln/targets/cuda/sim/operations.h"

#include <algorithm>
#include <cstring>

namespace kiln::cudasim {

namespace {

//===--- cvt ------------------------------------------------------------------------------------------------------===//

// What `imm` of a conversion says.
constexpr uint64_t kSaturate = 1, kFlush = 2, kRelu = 4, kFinite = 8, kIntegral = 16;
constexpr int kRoundingAt = 8, kToAt = 16, kFromAt = 24, kBitsAt = 32; // the last: of the result's register

Rounding roundingOf(uint64_t imm) {
  return Rounding(imm >> kRoundingAt & 7);
}

uint64_t mask(uint32_t bits) {
  return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}
uint64_t extended(uint64_t value, Type type) {
  const uint32_t unused = 64 - typeBits(type);
  return isSigned(type) ? uint64_t(int64_t(value << unused) >> unused) : value << unused >> unused;
}

uint64_t saturateInteger(uint64_t value, bool isSourceSigned, Type to) {
  const uint32_t bits = typeBits(to);
  if (isSigned(to)) {
    const auto most = int64_t(mask(bits - 1)), least = -most - 1;
    if (!isSourceSigned && value > uint64_t(most))
      return uint64_t(most);
    return uint64_t(std::clamp(int64_t(value), least, most));
  }
  if (isSourceSigned && int64_t(value) < 0)
    return 0;
  return std::min(value, mask(bits));
}

// A double that keeps what is lost of an integer in its last bit, so that rounding it to 16 bits is rounding once.
template <typename T> double toOdd(T value) {
  const double rounded = toDouble(Rounding::Zero, value);
  if (std::fabs(rounded) < 0x1p53 || T(rounded) == value)
    return rounded;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(rounded) | 1);
}

const Format &formatOf(Type type) {
  switch (type) {
  case Type::F16: return kHalf;
  case Type::BF16: return kBrain;
  case Type::TF32: return kTensor32;
  case Type::E4M3x2: return kE4M3;
  case Type::E5M2x2: return kE5M2;
  default: return kSingle;
  }
}

double readFloat(uint64_t bits, Type type) {
  switch (type) {
  case Type::F64: return get<double>(bits);
  case Type::F32: return double(get<float>(bits));
  case Type::F16: return double(halfToFloat(uint16_t(bits)));
  case Type::BF16: return double(brainToFloat(uint16_t(bits)));
  default: return decode(uint32_t(bits), formatOf(type));
  }
}

uint64_t writeFloat(double value, Type type, uint64_t imm) {
  switch (type) {
  case Type::F64: return put(value);
  case Type::F32: {
    float result = toFloat(roundingOf(imm), value);
    return put(imm & kFlush ? flushed(result) : result);
  }
  case Type::TF32: return uint64_t(encode(value, kTensor32, roundingOf(imm), imm & kFinite)) << 13;
  default: return encode(value, formatOf(type), roundingOf(imm), imm & kFinite);
  }
}

uint64_t floatToInteger(double value, Type from, Type to, Rounding rounding) {
  const uint32_t bits = typeBits(to);
  if (std::isnan(value)) // zero, but for these
    return from == Type::F64 && bits == 64 ? uint64_t(1) << 63 : from == Type::F64 && to == Type::S32 ? 0x80000000 : 0;
  value = toInteger(rounding, value);
  const double limit = std::ldexp(1.0, int(isSigned(to) ? bits - 1 : bits));
  if (isSigned(to))
    return value >= limit ? mask(bits - 1) : value < -limit ? ~mask(bits - 1) : uint64_t(int64_t(value));
  return value >= limit ? mask(bits) : value <= 0 ? 0 : uint64_t(value);
}

uint64_t integerToFloat(uint64_t value, bool isSignedSource, Type to, uint64_t imm) {
  const Rounding rounding = roundingOf(imm);
  const auto negative = int64_t(value);
  switch (to) {
  case Type::F32: return put(isSignedSource ? toFloat(rounding, negative) : toFloat(rounding, value));
  case Type::F64: return put(isSignedSource ? toDouble(rounding, negative) : toDouble(rounding, value));
  default: return writeFloat(isSignedSource ? toOdd(negative) : toOdd(value), to, imm);
  }
}

double adjust(double value, uint64_t imm) {
  if (imm & kSaturate)
    value = saturated(value);
  if (imm & kRelu && value <= 0)
    value = 0;
  return value;
}

uint64_t convertBits(uint64_t bits, Type from, Type to, uint64_t imm) {
  if (!isFloat(from)) {
    const uint64_t value = extended(bits, from);
    if (isFloat(to))
      return integerToFloat(value, isSigned(from), to, imm);
    return imm & kSaturate ? saturateInteger(value, isSigned(from), to) : extended(value, to);
  }
  double value = readFloat(bits, from);
  if (imm & kFlush && from == Type::F32)
    value = double(flushed(float(value)));
  if (!isFloat(to))
    return floatToInteger(value, from, to, roundingOf(imm));
  if (imm & kIntegral)
    value = toInteger(roundingOf(imm), value);
  return writeFloat(adjust(value, imm), to, imm);
}

const Inst *convert(const Inst *i, uint64_t *r, Thread &) {
  const uint64_t imm = i->imm;
  r[i->d] = convertBits(r[i->a], Type(imm >> kFromAt & 0xff), Type(imm >> kToAt & 0xff), imm) &
            mask(uint32_t(imm >> kBitsAt));
  return i + 1;
}
const Inst *halfToSingle(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = put(halfToFloat(uint16_t(r[i->a])));
  return i + 1;
}
template <typename To, typename From> const Inst *toNearest(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = put<To>(To(get<From>(r[i->a])));
  return i + 1;
}

// Two numbers into one register: the first operand is the upper one.
const Inst *convertPair(const Inst *i, uint64_t *r, Thread &) {
  const auto part = Type(i->imm >> kToAt & 0xff);
  const uint32_t width = part == Type::E4M3x2 || part == Type::E5M2x2 ? 8 : 16;
  r[i->d] = convertBits(r[i->a], Type::F32, part, i->imm) << width | convertBits(r[i->b], Type::F32, part, i->imm);
  return i + 1;
}
// Each half by itself, between pairs of 8 and of 16 bits.
const Inst *convertHalves(const Inst *i, uint64_t *r, Thread &) {
  const auto from = Type(i->imm >> kFromAt & 0xff), to = Type(i->imm >> kToAt & 0xff);
  const bool narrows = from == Type::F16;
  const uint32_t fromBits = narrows ? 16 : 8, toBits = narrows ? 8 : 16;
  const uint64_t low = r[i->a] & mask(fromBits), high = r[i->a] >> fromBits & mask(fromBits);
  r[i->d] = convertBits(high, from, to, i->imm) << toBits | convertBits(low, from, to, i->imm);
  return i + 1;
}

struct ConversionFlags {
  bool isInteger = false; // rounds to an integer
  bool hasRounding = false;
};

ConversionFlags takeConversionFlags(Decoder &in) {
  ConversionFlags flags;
  Rounding rounding = Rounding::Nearest;
  static constexpr std::pair<std::string_view, Rounding> kIntegers[] = {
      {"rni", Rounding::Nearest}, {"rzi", Rounding::Zero}, {"rmi", Rounding::Down}, {"rpi", Rounding::Up}};
  static constexpr std::pair<std::string_view, Rounding> kFloats[] = {{"rn", Rounding::Nearest},
                                                                      {"rz", Rounding::Zero},
                                                                      {"rm", Rounding::Down},
                                                                      {"rp", Rounding::Up},
                                                                      {"rna", Rounding::NearestAway}};
  for (auto [name, value] : kIntegers)
    if (in.take(name))
      flags.isInteger = true, rounding = value;
  for (auto [name, value] : kFloats)
    if (in.take(name))
      flags.hasRounding = true, rounding = value;
  uint64_t imm = uint64_t(rounding) << kRoundingAt;
  if (in.take("ftz"))
    imm |= kFlush;
  if (in.take("sat"))
    imm |= kSaturate;
  if (in.take("relu"))
    imm |= kRelu;
  if (in.take("satfinite"))
    imm |= kFinite;
  in.inst.imm = imm;
  return flags;
}

void setTypes(Decoder &in, Type to, Type from) {
  in.inst.imm |= uint64_t(to) << kToAt | uint64_t(from) << kFromAt;
}

bool isPairOf8(Type type) {
  return type == Type::E4M3x2 || type == Type::E5M2x2;
}

void decodePairConversion(Decoder &in, Type to, Type from) {
  const bool isFromSingles = from == Type::F32;
  in.expectOperands(isFromSingles ? 3 : 2);
  in.inst.d = in.target(0, isPairOf8(to) ? Type::B16 : Type::B32);
  if (isFromSingles) {
    in.inst.a = in.source(1, Type::F32);
    in.inst.b = in.source(2, Type::F32);
    setTypes(in, to == Type::F16x2 ? Type::F16 : to == Type::BF16x2 ? Type::BF16 : to, Type::F32);
    in.inst.run = &convertPair;
  } else if ((isPairOf8(from) && to == Type::F16x2) || (isPairOf8(to) && from == Type::F16x2)) {
    in.inst.a = in.source(1, isPairOf8(from) ? Type::B16 : Type::B32);
    setTypes(in, to == Type::F16x2 ? Type::F16 : to, from == Type::F16x2 ? Type::F16 : from);
    in.inst.run = &convertHalves;
  }
}

// Conversions that much code is made of have a handler of their own.
Handler quickConversion(Type to, Type from, uint64_t imm) {
  if (imm != 0)
    return nullptr;
  if (from == Type::F16 && to == Type::F32)
    return &halfToSingle;
  if (from == Type::F32 && to == Type::F64)
    return &toNearest<double, float>;
  if (from == Type::F64 && to == Type::F32)
    return &toNearest<float, double>;
  if (to == Type::F32 && !isFloat(from))
    return pickInteger(from, [](auto v) -> Handler { return &toNearest<float, decltype(v)>; });
  if (to == Type::F64 && !isFloat(from))
    return pickInteger(from, [](auto v) -> Handler { return &toNearest<double, decltype(v)>; });
  return nullptr;
}

void decodeCvt(Decoder &in) {
  const ConversionFlags flags = takeConversionFlags(in);
  const Type to = in.takeType(), from = in.takeType();
  if (in.failed())
    return;
  const bool isPair = isPairOf8(to) || to == Type::F16x2 || to == Type::BF16x2;
  if (isPair)
    return decodePairConversion(in, to, from);
  const bool known = (isFloat(to) || typeBits(to) >= 8) && (isFloat(from) || typeBits(from) >= 8) && to != Type::Pred &&
                     from != Type::Pred && from != Type::TF32 && typeBits(from) <= 64 && typeBits(to) <= 64 &&
                     (!isFloat(from) || typeBits(from) > 8) && (!isFloat(to) || typeBits(to) > 8) &&
                     from != Type::F16x2 && from != Type::BF16x2 && from != Type::U16x2 && from != Type::S16x2;
  if (!known)
    return in.fail("it does not convert between these types");
  const bool toInt = !isFloat(to), fromInt = !isFloat(from);
  const bool losesBits = isFloat(to) && (fromInt || typeBits(to) < typeBits(from) || to == Type::TF32 ||
                                         (typeBits(to) == 16 && typeBits(from) == 16 && to != from));
  if ((toInt && !fromInt && !flags.isInteger) || (losesBits && !flags.hasRounding))
    return in.fail("a rounding is expected");
  if (flags.isInteger && !toInt)
    in.inst.imm |= kIntegral;
  in.expectOperands(2);
  in.inst.d = in.target(0, to == Type::TF32 ? Type::B32 : to, true);
  in.inst.a = in.source(1, from, true);
  if (in.failed())
    return;
  const Operand &result = in.operand(0);
  const uint32_t registerBits = result.kind == Operand::Kind::Register ? typeBits(result.type) : 64;
  if (Handler quick = quickConversion(to, from, in.inst.imm)) {
    in.inst.run = quick;
    return;
  }
  setTypes(in, to, from);
  in.inst.imm |= uint64_t(registerBits) << kBitsAt;
  in.inst.run = &convert;
  if (toInt && fromInt && !(in.inst.imm & kSaturate) && !isSigned(to) && !isSigned(from)) {
    // The low bits of both, which is what most address arithmetic needs.
    in.inst.imm = mask(std::min(typeBits(to), typeBits(from)));
    in.inst.run = [](const Inst *i, uint64_t *r, Thread &) -> const Inst * {
      r[i->d] = r[i->a] & i->imm;
      return i + 1;
    };
  }
}

//===--- mov ------------------------------------------------------------------------------------------------------===//

const Inst *move(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = r[i->a];
  return i + 1;
}
// `imm`: how many parts, and their width.
const Inst *pack(const Inst *i, uint64_t *r, Thread &) {
  const uint64_t count = i->imm & 0xff, width = i->imm >> 8;
  uint64_t value = 0;
  for (uint64_t k = 0; k < count; ++k)
    value |= (r[i->list[k]] & mask(uint32_t(width))) << (k * width);
  r[i->d] = value;
  return i + 1;
}
const Inst *unpack(const Inst *i, uint64_t *r, Thread &) {
  const uint64_t count = i->imm & 0xff, width = i->imm >> 8, value = r[i->a];
  for (uint64_t k = 0; k < count; ++k)
    r[i->list[k]] = value >> (k * width) & mask(uint32_t(width));
  return i + 1;
}

// Clocks count what threads run; every look takes some of it, so that a loop that waits for a time ends.
const Inst *readClock(const Inst *i, uint64_t *r, Thread &t) {
  t.block->launch->ticks += 16;
  const uint64_t ticks = t.block->launch->ticks;
  r[i->d] = i->imm == 0 ? ticks : i->imm == 1 ? uint32_t(ticks) : ticks >> 32;
  return i + 1;
}

const Type kPartTypes[] = {Type::B8, Type::B16, Type::B32, Type::B64};
Type bitsType(uint32_t bits) {
  for (Type type : kPartTypes)
    if (typeBits(type) == bits)
      return type;
  return Type::None;
}

void decodeParts(Decoder &in, Type type, const Operand &list, bool packs) {
  const size_t count = list.parts.size();
  const Type part = count ? bitsType(typeBits(type) / uint32_t(count)) : Type::None;
  if (part == Type::None || typeBits(type) > 64 || count * typeBits(part) != typeBits(type))
    return in.fail("the parts do not make up the whole");
  std::vector<uint32_t> slots;
  for (const Operand &each : list.parts)
    slots.push_back(packs ? in.source(each, part) : in.target(each, part));
  in.inst.list = in.list(std::move(slots));
  in.inst.imm = count | uint64_t(typeBits(part)) << 8;
  if (packs)
    in.inst.d = in.target(0, type);
  else
    in.inst.a = in.source(1, type);
  in.inst.run = packs ? &pack : &unpack;
}

void decodeMov(Decoder &in) {
  const Type type = in.takeType();
  in.expectOperands(2);
  if (in.failed())
    return;
  if (typeBits(type) > 64 || (typeBits(type) < 16 && type != Type::Pred))
    return in.fail("it has no such type");
  const Operand &to = in.operand(0), &from = in.operand(1);
  if (from.kind == Operand::Kind::List)
    return decodeParts(in, type, from, true);
  if (to.kind == Operand::Kind::List)
    return decodeParts(in, type, to, false);
  in.inst.d = in.target(0, type);
  static constexpr std::pair<std::string_view, uint64_t> kClocks[] = {
      {"%clock64", 0},     {"%clock", 1},          {"%clock_hi", 2},
      {"%globaltimer", 0}, {"%globaltimer_lo", 1}, {"%globaltimer_hi", 2},
  };
  for (auto [name, part] : kClocks)
    if (from.kind == Operand::Kind::Special && from.name == name) {
      in.inst.imm = part;
      in.inst.run = &readClock;
      return;
    }
  in.inst.a = in.source(1, type);
  in.inst.run = &move;
}

constexpr Opcode kOpcodes[] = {
    {"cvt", decodeCvt},
    {"mov", decodeMov},
};

} // namespace

std::span<const Opcode> conversionOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
