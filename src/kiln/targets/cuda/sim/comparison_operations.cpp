// Comparisons and selections.
#include "kiln/targets/cuda/sim/operations.h"

#include <algorithm>

namespace kiln::cudasim {

namespace {

enum class Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum class Combine : uint8_t { None, And, Or, Xor };

template <Compare how, typename T> bool holds(T a, T b) {
  const bool unordered = [&] {
    if constexpr (std::is_floating_point_v<T>)
      return std::isnan(a) || std::isnan(b);
    return false;
  }();
  switch (how) {
  case Compare::Eq: return a == b;
  case Compare::Ne: return !unordered && a != b;
  case Compare::Lt: return a < b;
  case Compare::Le: return a <= b;
  case Compare::Gt: return a > b;
  case Compare::Ge: return a >= b;
  case Compare::Equ: return unordered || a == b;
  case Compare::Neu: return unordered || a != b;
  case Compare::Ltu: return unordered || a < b;
  case Compare::Leu: return unordered || a <= b;
  case Compare::Gtu: return unordered || a > b;
  case Compare::Geu: return unordered || a >= b;
  case Compare::Num: return !unordered;
  case Compare::Nan: return unordered;
  }
}

struct HalfValue {};
struct BrainValue {};

template <typename T> auto comparable(uint64_t bits, bool flush) {
  if constexpr (std::is_same_v<T, HalfValue>)
    return halfToFloat(uint16_t(flush && !(bits & 0x7c00) ? bits & 0x8000 : bits));
  else if constexpr (std::is_same_v<T, BrainValue>)
    return brainToFloat(uint16_t(bits));
  else if constexpr (std::is_same_v<T, float>)
    return flush ? flushed(get<float>(bits)) : get<float>(bits);
  else
    return get<T>(bits);
}

// What `imm` says: how the result is combined with `c`, whether that is negated, .ftz, what a true result is, pairs.
constexpr uint64_t kCombine = 3, kNegated = 4, kFlushInputs = 8, kPairOfHalves = 16;
constexpr uint64_t kResultMask = 0xe0, kResultPredicate = 0, kResultOnes = 0x20, kResultF32 = 0x40, kResultF16 = 0x60,
                   kResultBF16 = 0x80, kResultF16x2 = 0xa0, kResultBF16x2 = 0xc0, kResultOnes16 = 0xe0;

bool combined(bool value, bool other, uint64_t imm) {
  switch (Combine(imm & kCombine)) {
  case Combine::And: return value && other;
  case Combine::Or: return value || other;
  case Combine::Xor: return value != other;
  case Combine::None: break;
  }
  return value;
}

template <Compare how, typename T> const Inst *setPredicate(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = holds<how>(comparable<T>(r[i->a], false), comparable<T>(r[i->b], false));
  return i + 1;
}

// The general form; `list` has the second predicate.
template <Compare how, typename T> const Inst *setFully(const Inst *i, uint64_t *r, Thread &) {
  const bool flush = i->imm & kFlushInputs;
  const uint64_t a = r[i->a], b = r[i->b];
  const bool other = (r[i->c] != 0) != ((i->imm & kNegated) != 0);
  const bool value = holds<how>(comparable<T>(a, flush), comparable<T>(b, flush));
  const bool first = combined(value, other, i->imm);
  bool second = combined(!value, other, i->imm), upper = false;
  if (i->imm & kPairOfHalves) {
    upper = holds<how>(comparable<T>(a >> 16, flush), comparable<T>(b >> 16, flush));
    upper = second = combined(upper, other, i->imm);
  }
  switch (i->imm & kResultMask) {
  case kResultPredicate:
    r[i->d] = first;
    if (i->list)
      r[i->list[0]] = second;
    break;
  case kResultOnes: r[i->d] = first ? 0xffffffff : 0; break;
  case kResultF32: r[i->d] = first ? 0x3f800000 : 0; break;
  case kResultF16: r[i->d] = first ? 0x3c00 : 0; break;
  case kResultBF16: r[i->d] = first ? 0x3f80 : 0; break;
  case kResultF16x2: r[i->d] = (first ? 0x3c00 : 0) | (upper ? 0x3c000000 : 0); break;
  case kResultBF16x2: r[i->d] = (first ? 0x3f80 : 0) | (upper ? 0x3f800000 : 0); break;
  default: r[i->d] = first ? 0xffff : 0; break;
  }
  return i + 1;
}

template <typename T> Handler pickCompare(Compare how, bool isSimple) {
#define KILN_COMPARE(name)                                                                                             \
  case Compare::name: return isSimple ? &setPredicate<Compare::name, T> : &setFully<Compare::name, T>;
  switch (how) {
    KILN_COMPARE(Eq)
    KILN_COMPARE(Ne)
    KILN_COMPARE(Lt)
    KILN_COMPARE(Le)
    KILN_COMPARE(Gt)
    KILN_COMPARE(Ge)
    KILN_COMPARE(Equ)
    KILN_COMPARE(Neu)
    KILN_COMPARE(Ltu)
    KILN_COMPARE(Leu)
    KILN_COMPARE(Gtu)
    KILN_COMPARE(Geu)
    KILN_COMPARE(Num)
    KILN_COMPARE(Nan)
  }
#undef KILN_COMPARE
  return nullptr;
}

Handler pickComparison(Compare how, Type type, bool isSimple) {
  switch (type) {
  case Type::F32: return pickCompare<float>(how, isSimple);
  case Type::F64: return pickCompare<double>(how, isSimple);
  case Type::F16:
  case Type::F16x2: return pickCompare<HalfValue>(how, isSimple);
  case Type::BF16:
  case Type::BF16x2: return pickCompare<BrainValue>(how, isSimple);
  default: return pickInteger(type, [&](auto v) { return pickCompare<decltype(v)>(how, isSimple); });
  }
}

struct Comparison {
  Compare how = Compare::Eq;
  bool isUnsignedName = false; // lo, ls, hi, hs
};

Comparison takeComparison(Decoder &in) {
  static constexpr std::string_view kNames[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                                "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (in.take(kNames[i]))
      return {Compare(i)};
  static constexpr std::pair<std::string_view, Compare> kUnsigned[] = {
      {"lo", Compare::Lt}, {"ls", Compare::Le}, {"hi", Compare::Gt}, {"hs", Compare::Ge}};
  for (auto [name, how] : kUnsigned)
    if (in.take(name))
      return {how, true};
  in.fail("a comparison is expected");
  return {};
}

// The common parts of set and setp. The type compared has been taken as `type`.
void decodeComparison(Decoder &in, Comparison comparison, Type type, bool isSimple) {
  in.inst.a = in.source(1, type);
  in.inst.b = in.source(2, type);
  if (comparison.how >= Compare::Equ && !isFloat(type))
    in.fail("the comparison is for floats");
  if (comparison.isUnsignedName && (isFloat(type) || isSigned(type)))
    in.fail("the comparison is for unsigned types");
  if (typeName(type).starts_with('b') && !isFloat(type) && comparison.how > Compare::Ne)
    in.fail("bits are equal or not");
  in.inst.run = typeBits(type) < 16 ? nullptr : pickComparison(comparison.how, type, isSimple);
}

Combine takeCombine(Decoder &in) {
  return in.take("and") ? Combine::And : in.take("or") ? Combine::Or : in.take("xor") ? Combine::Xor : Combine::None;
}

void decodeCombined(Decoder &in, Combine combine) {
  in.expectOperands(combine == Combine::None ? 3 : 4);
  if (combine == Combine::None || in.failed())
    return;
  bool negated = false;
  in.inst.c = in.predicate(in.operand(3), negated);
  in.inst.imm |= uint64_t(combine) | (negated ? kNegated : 0);
}

void decodeSetp(Decoder &in) {
  const Comparison comparison = takeComparison(in);
  const Combine combine = takeCombine(in);
  if (in.take("ftz"))
    in.inst.imm |= kFlushInputs;
  const Type type = in.takeType();
  decodeCombined(in, combine);
  if (in.failed())
    return;
  Operand result = in.operand(0);
  const bool hasSecond = !result.parts.empty();
  if (hasSecond) {
    in.inst.list = in.list({in.target(result.parts[0], Type::Pred)});
    result.parts.clear();
  }
  in.inst.d = in.target(result, Type::Pred);
  if (type == Type::F16x2 || type == Type::BF16x2)
    in.inst.imm |= kPairOfHalves;
  decodeComparison(in, comparison, type, in.inst.imm == 0 && !hasSecond);
}

void decodeSet(Decoder &in) {
  const Comparison comparison = takeComparison(in);
  const Combine combine = takeCombine(in);
  if (in.take("ftz"))
    in.inst.imm |= kFlushInputs;
  const Type to = in.takeType(), type = in.takeType();
  decodeCombined(in, combine);
  if (in.failed())
    return;
  in.inst.d = in.target(0, to);
  switch (to) {
  case Type::U32:
  case Type::S32: in.inst.imm |= kResultOnes; break;
  case Type::U16:
  case Type::S16: in.inst.imm |= kResultOnes16; break;
  case Type::F32: in.inst.imm |= kResultF32; break;
  case Type::F16: in.inst.imm |= kResultF16; break;
  case Type::BF16: in.inst.imm |= kResultBF16; break;
  case Type::F16x2: in.inst.imm |= kResultF16x2 | kPairOfHalves; break;
  case Type::BF16x2: in.inst.imm |= kResultBF16x2 | kPairOfHalves; break;
  default: in.fail("it has no result of this type"); break;
  }
  decodeComparison(in, comparison, type, false);
}

//===--- Selections -----------------------------------------------------------------------------------------------===//

const Inst *select(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = (r[i->c] != 0) != (i->imm != 0) ? r[i->a] : r[i->b];
  return i + 1;
}
void decodeSelp(Decoder &in) {
  const Type type = in.takeType();
  in.expectOperands(4);
  if (in.failed())
    return;
  in.inst.d = in.target(0, type);
  in.inst.a = in.source(1, type);
  in.inst.b = in.source(2, type);
  bool negated = false;
  in.inst.c = in.predicate(in.operand(3), negated);
  in.inst.imm = negated;
  in.inst.run = &select;
}

const Inst *selectBySign(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = int32_t(uint32_t(r[i->c])) >= 0 ? r[i->a] : r[i->b];
  return i + 1;
}
const Inst *selectByFloat(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = get<float>(r[i->c]) >= 0 || (i->imm && flushed(get<float>(r[i->c])) == 0) ? r[i->a] : r[i->b];
  return i + 1;
}
void decodeSlct(Decoder &in) {
  in.inst.imm = in.take("ftz");
  const Type type = in.takeType(), by = in.takeTypeOf({Type::S32, Type::F32});
  in.expectOperands(4);
  in.inst.d = in.target(0, type);
  in.inst.a = in.source(1, type);
  in.inst.b = in.source(2, type);
  in.inst.c = in.source(3, by);
  in.inst.run = by == Type::S32 ? &selectBySign : &selectByFloat;
}

constexpr Opcode kOpcodes[] = {
    {"setp", decodeSetp},
    {"set", decodeSet},
    {"selp", decodeSelp},
    {"slct", decodeSlct},
};

} // namespace

std::span<const Opcode> comparisonOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
