// Loads, stores, atomics, fences and addresses.
#include "kiln/targets/cuda/sim/memory_access.h"

#include <algorithm>
#include <cstring>

namespace kiln::cudasim {

Where takeSpace(Decoder &in) {
  if (in.take("global") || in.take("const"))
    return Where::Global;
  if (in.take("shared") || in.take("shared::cta"))
    return Where::Shared;
  if (in.take("shared::cluster"))
    return Where::SharedCluster;
  if (in.take("local"))
    return Where::Local;
  if (in.take("param") || in.take("param::entry") || in.take("param::func"))
    return Where::LaunchParam;
  return Where::Generic;
}

void skipCacheHints(Decoder &in) {
  in.skipModifiers({"ca",
                    "cg",
                    "cs",
                    "lu",
                    "cv",
                    "wb",
                    "wt",
                    "nc",
                    "L1::evict_normal",
                    "L1::evict_unchanged",
                    "L1::evict_first",
                    "L1::evict_last",
                    "L1::no_allocate",
                    "L2::evict_normal",
                    "L2::evict_first",
                    "L2::evict_last",
                    "L2::64B",
                    "L2::128B",
                    "L2::256B",
                    "L2::cache_hint"});
}

void decodeAddress(Decoder &in, const Operand &operand, Where &where, uint64_t bytes) {
  const bool isParam = operand.kind == Operand::Kind::Address && !operand.parts.empty() &&
                       operand.parts[0].kind == Operand::Kind::Variable &&
                       in.variable(operand.parts[0].index).space == Space::Param;
  const Decoder::ParamPlace *place = isParam ? in.paramPlace(operand.parts[0].index) : nullptr;
  if (place && !place->isLaunch && where == Where::LaunchParam) {
    const uint64_t size = in.variable(operand.parts[0].index).bytes;
    if (operand.bits > size || operand.bits + bytes > size)
      in.fail(fmt::format("it is outside of the parameter, which has {} bytes", size));
    in.inst.a = in.constant(place->offset + operand.bits);
    where = Where::FrameParam;
    return;
  }
  if (isParam && where != Where::LaunchParam && where != Where::Generic)
    in.fail("a parameter is in another state space");
  in.inst.a = in.address(operand, in.inst.imm);
}

namespace {

// What `extra` of loads and stores says: the register's bits of a load, and whether it releases or is strong.
constexpr uint32_t kStrong = 0x100, kOrders = 0x200;

uint64_t mask(uint32_t bits) {
  return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

template <typename T> uint64_t loadAs(const uint8_t *from, uint32_t registerBits) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return std::is_signed_v<T> ? uint64_t(int64_t(value)) & mask(registerBits) : uint64_t(value);
}

template <Where where, typename T> const Inst *load(const Inst *i, uint64_t *r, Thread &t) {
  const Access access = i->extra & kStrong ? Access::StrongRead : Access::Read;
  t.orders = i->extra & kOrders;
  const uint8_t *from = locate<where>(t, i, r[i->a] + i->imm, sizeof(T), access);
  if (!from) [[unlikely]]
    return nullptr;
  r[i->d] = loadAs<T>(from, i->extra & 0xff);
  return i + 1;
}
template <Where where, typename T> const Inst *loadVector(const Inst *i, uint64_t *r, Thread &t) {
  const Access access = i->extra & kStrong ? Access::StrongRead : Access::Read;
  t.orders = i->extra & kOrders;
  const uint8_t *from = locate<where>(t, i, r[i->a] + i->imm, uint32_t(sizeof(T)) * i->b, access);
  if (!from) [[unlikely]]
    return nullptr;
  for (uint32_t k = 0; k < i->b; ++k)
    r[i->list[k]] = loadAs<T>(from + k * sizeof(T), i->extra & 0xff);
  return i + 1;
}
template <Where where, typename T> const Inst *store(const Inst *i, uint64_t *r, Thread &t) {
  t.orders = i->extra & kOrders;
  const Access access = i->extra & kStrong ? Access::StrongWrite : Access::Write;
  uint8_t *to = locate<where>(t, i, r[i->a] + i->imm, sizeof(T), access);
  if (!to) [[unlikely]]
    return nullptr;
  const T value = T(r[i->d]);
  std::memcpy(to, &value, sizeof(T));
  return i + 1;
}
template <Where where, typename T> const Inst *storeVector(const Inst *i, uint64_t *r, Thread &t) {
  t.orders = i->extra & kOrders;
  const Access access = i->extra & kStrong ? Access::StrongWrite : Access::Write;
  uint8_t *to = locate<where>(t, i, r[i->a] + i->imm, uint32_t(sizeof(T)) * i->b, access);
  if (!to) [[unlikely]]
    return nullptr;
  for (uint32_t k = 0; k < i->b; ++k) {
    const T value = T(r[i->list[k]]);
    std::memcpy(to + k * sizeof(T), &value, sizeof(T));
  }
  return i + 1;
}

Type typeOfBits(Type type) {
  switch (type) {
  case Type::F16:
  case Type::BF16: return Type::B16;
  case Type::F32:
  case Type::F16x2:
  case Type::BF16x2: return Type::B32;
  case Type::F64: return Type::B64;
  default: return type;
  }
}

template <Where where> Handler pickAccess(Type type, bool isLoad, bool isVector) {
  return pickInteger(typeOfBits(type), [&](auto v) -> Handler {
    using T = decltype(v);
    if (isLoad)
      return isVector ? &loadVector<where, T> : &load<where, T>;
    using U = std::make_unsigned_t<T>;
    return isVector ? &storeVector<where, U> : &store<where, U>;
  });
}

Handler pickAccess(Where where, Type type, bool isLoad, bool isVector) {
  switch (where) {
  case Where::Generic: return pickAccess<Where::Generic>(type, isLoad, isVector);
  case Where::Global: return pickAccess<Where::Global>(type, isLoad, isVector);
  case Where::Shared: return pickAccess<Where::Shared>(type, isLoad, isVector);
  case Where::SharedCluster: return pickAccess<Where::SharedCluster>(type, isLoad, isVector);
  case Where::Local: return pickAccess<Where::Local>(type, isLoad, isVector);
  case Where::LaunchParam: return pickAccess<Where::LaunchParam>(type, isLoad, isVector);
  case Where::FrameParam: return pickAccess<Where::FrameParam>(type, isLoad, isVector);
  }
  return nullptr;
}

void takeScope(Decoder &in) {
  in.skipModifiers({"cta", "cluster", "gpu", "sys"});
}

void decodeAccess(Decoder &in, bool isLoad) {
  const std::string_view order = in.takeOneOf({"weak", "volatile", "relaxed", "acquire", "release", "mmio"});
  if (order == (isLoad ? "release" : "acquire"))
    return in.fail("loads acquire, and stores release");
  if (!order.empty() && order != "weak" && order != "volatile")
    takeScope(in);
  Where where = takeSpace(in);
  skipCacheHints(in);
  const std::string_view vector = in.takeOneOf({"v2", "v4", "v8"});
  const Type type = in.takeType();
  in.expectOperands(2, 3); // a cache's policy may follow
  if (in.failed())
    return;
  if (type == Type::Pred || typeBits(type) < 8 || typeBits(type) > 64)
    return in.fail("it has no such type");
  const uint32_t lanes = vector.empty() ? 1 : uint32_t(vector[1] - '0');
  const Operand &value = in.operand(isLoad ? 0 : 1);
  decodeAddress(in, in.operand(isLoad ? 1 : 0), where, uint64_t(typeBytes(type)) * lanes);
  if (lanes * typeBits(type) > 256 || (vector.empty() == (value.kind == Operand::Kind::List)) ||
      (!vector.empty() && value.parts.size() != lanes))
    return in.fail("the vector's size does not fit");
  std::vector<uint32_t> slots;
  uint32_t registerBits = 64;
  for (uint32_t k = 0; k < lanes; ++k) {
    const Operand &part = vector.empty() ? value : value.parts[k];
    slots.push_back(isLoad ? in.target(part, type, true) : in.source(part, type, true));
    if (part.kind == Operand::Kind::Register)
      registerBits = typeBits(part.type);
  }
  in.inst.extra = registerBits;
  if (!order.empty() && order != "weak")
    in.inst.extra |= kStrong;
  if (order == "release" || order == "acquire")
    in.inst.extra |= kOrders;
  in.inst.d = slots[0];
  in.inst.b = lanes;
  in.inst.list = in.list(std::move(slots));
  if (!isLoad && where == Where::LaunchParam)
    return in.fail("a kernel's parameters are not written");
  in.inst.run = pickAccess(where, type, isLoad, !vector.empty());
}

//===--- Atomics --------------------------------------------------------------------------------------------------===//

enum class Update : uint8_t { And, Or, Xor, Cas, Exch, Add, Inc, Dec, Min, Max };

template <Update update, typename T> T updated(T old, T b, T c) {
  if constexpr (update == Update::Exch)
    return b;
  else if constexpr (update == Update::Cas)
    return old == b ? c : old;
  else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (update) {
    case Update::And: return old & b;
    case Update::Or: return old | b;
    case Update::Xor: return old ^ b;
    case Update::Add: return T(U(old) + U(b));
    case Update::Inc: return U(old) >= U(b) ? 0 : old + 1;
    case Update::Dec: return old == 0 || U(old) > U(b) ? b : old - 1;
    case Update::Min: return std::min(old, b);
    default: return std::max(old, b);
    }
  } else {
    return old + b;
  }
}

template <Update update, typename T> const Inst *atomic(const Inst *i, uint64_t *r, Thread &t) {
  t.orders = i->extra & kOrders;
  uint8_t *at = locate(Where(i->extra & 0xff), t, i, r[i->a] + i->imm, sizeof(T), Access::StrongUpdate);
  if (!at)
    return nullptr;
  T old;
  std::memcpy(&old, at, sizeof(T));
  const T value = updated<update, T>(old, get<T>(r[i->b]), get<T>(r[i->c]));
  const uint64_t bits = put<T>(value);
  std::memcpy(at, &bits, sizeof(T));
  uint64_t before = 0;
  std::memcpy(&before, &old, sizeof(T));
  r[i->d] = before;
  return i + 1;
}

// Sums, minima and maxima of one or two numbers of 16 bits.
template <Update update, bool isBrain, bool isPair> const Inst *atomicHalves(const Inst *i, uint64_t *r, Thread &t) {
  t.orders = i->extra & kOrders;
  uint8_t *at = locate(Where(i->extra & 0xff), t, i, r[i->a] + i->imm, isPair ? 4 : 2, Access::StrongUpdate);
  if (!at)
    return nullptr;
  uint64_t before = 0;
  for (uint32_t k = 0; k < (isPair ? 2 : 1); ++k) {
    uint16_t old;
    std::memcpy(&old, at + 2 * k, 2);
    const auto with = uint16_t(r[i->b] >> (16 * k));
    const double a = isBrain ? brainToFloat(old) : halfToFloat(old),
                 b = isBrain ? brainToFloat(with) : halfToFloat(with);
    const double result = update == Update::Add            ? fusedToOdd(a, 1, b)
                          : std::isnan(a) || std::isnan(b) ? (std::isnan(a) ? b : a)
                          : update == Update::Min          ? std::min(a, b)
                                                           : std::max(a, b);
    const auto bits = uint16_t(encode(result, isBrain ? kBrain : kHalf));
    std::memcpy(at + 2 * k, &bits, 2);
    before |= uint64_t(old) << (16 * k);
  }
  r[i->d] = before;
  return i + 1;
}

template <typename T> Handler pickUpdate(Update update) {
  if constexpr (std::is_floating_point_v<T>) {
    return update == Update::Add ? &atomic<Update::Add, T> : nullptr;
  } else {
    switch (update) {
    case Update::And: return &atomic<Update::And, T>;
    case Update::Or: return &atomic<Update::Or, T>;
    case Update::Xor: return &atomic<Update::Xor, T>;
    case Update::Cas: return &atomic<Update::Cas, T>;
    case Update::Exch: return &atomic<Update::Exch, T>;
    case Update::Add: return &atomic<Update::Add, T>;
    case Update::Inc: return std::is_same_v<T, uint32_t> ? &atomic<Update::Inc, T> : nullptr;
    case Update::Dec: return std::is_same_v<T, uint32_t> ? &atomic<Update::Dec, T> : nullptr;
    case Update::Min: return &atomic<Update::Min, T>;
    case Update::Max: return &atomic<Update::Max, T>;
    }
  }
  return nullptr;
}

template <bool isBrain, bool isPair> Handler pickHalfUpdate(Update update) {
  switch (update) {
  case Update::Add: return &atomicHalves<Update::Add, isBrain, isPair>;
  case Update::Min: return &atomicHalves<Update::Min, isBrain, isPair>;
  case Update::Max: return &atomicHalves<Update::Max, isBrain, isPair>;
  default: return nullptr;
  }
}

void decodeAtomic(Decoder &in, bool hasResult) {
  const std::string_view order = in.takeOneOf({"relaxed", "acquire", "release", "acq_rel"});
  takeScope(in);
  Where where = takeSpace(in);
  static constexpr std::string_view kNames[] = {"and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max"};
  size_t which = 0;
  while (which < std::size(kNames) && !in.take(kNames[which]))
    ++which;
  if (which == std::size(kNames))
    return in.fail("an operation is expected");
  const auto update = Update(which);
  skipCacheHints(in);
  in.take("noftz");
  const Type type = in.takeType();
  const size_t values = update == Update::Cas ? 2 : 1, first = hasResult ? 1 : 0;
  in.expectOperands(first + 1 + values, first + 2 + values);
  if (in.failed())
    return;
  in.inst.d = hasResult ? in.target(0, type) : in.target(Operand(), type);
  decodeAddress(in, in.operand(first), where, typeBytes(type));
  in.inst.b = in.source(first + 1, type);
  in.inst.c = values == 2 ? in.source(first + 2, type) : in.inst.b;
  if (where == Where::LaunchParam || where == Where::FrameParam || where == Where::Local)
    return in.fail("atomics are for global and shared memory");
  in.inst.extra = uint32_t(where) | (order.empty() || order == "relaxed" ? 0 : kOrders);
  switch (type) {
  case Type::B16:
    in.inst.run = update == Update::Cas || update == Update::Exch ? pickUpdate<uint16_t>(update) : nullptr;
    break;
  case Type::B32:
  case Type::U32: in.inst.run = pickUpdate<uint32_t>(update); break;
  case Type::S32: in.inst.run = pickUpdate<int32_t>(update); break;
  case Type::B64:
  case Type::U64: in.inst.run = pickUpdate<uint64_t>(update); break;
  case Type::S64: in.inst.run = pickUpdate<int64_t>(update); break;
  case Type::F32: in.inst.run = pickUpdate<float>(update); break;
  case Type::F64: in.inst.run = pickUpdate<double>(update); break;
  case Type::F16: in.inst.run = pickHalfUpdate<false, false>(update); break;
  case Type::F16x2: in.inst.run = pickHalfUpdate<false, true>(update); break;
  case Type::BF16: in.inst.run = pickHalfUpdate<true, false>(update); break;
  case Type::BF16x2: in.inst.run = pickHalfUpdate<true, true>(update); break;
  default: break;
  }
}

//===--- Fences and addresses -------------------------------------------------------------------------------------===//

const Inst *fence(const Inst *i, uint64_t *, Thread &t) {
  t.block->cluster->shadow.fence(t.number);
  return i + 1;
}
// What the thread has initialized may be used by the async proxy, and by others that know of the fence.
const Inst *fenceMbarriers(const Inst *i, uint64_t *, Thread &t) {
  for (auto &[address, barrier] : t.block->mbarriers)
    if (barrier.initializer == t.number && !barrier.fenceClock)
      barrier.fenceClock = t.block->cluster->shadow.clockOf(t.number);
  return i + 1;
}
const Inst *fenceProxy(const Inst *i, uint64_t *r, Thread &t) {
  fenceMbarriers(i, r, t);
  t.block->cluster->shadow.fenceProxy(t.number);
  return i + 1;
}
const Inst *fenceOfGlobal(const Inst *i, uint64_t *, Thread &) {
  return i + 1;
}
void decodeFence(Decoder &in) {
  in.skipModifiers({"sc", "acq_rel", "acquire", "release"});
  in.inst.run = &fence;
  if (in.take("proxy")) {
    // One of global memory has nothing to order here, where all of that is.
    if (in.take("async"))
      in.inst.run = in.take("global") ? &fenceOfGlobal : &fenceProxy;
    in.skipModifiers({"alias", "async::generic", "async.global", "global", "shared::cta", "shared::cluster", "generic",
                      "tensormap::generic", "sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  }
  if (in.take("mbarrier_init"))
    in.inst.run = &fenceMbarriers;
  takeScope(in);
  in.expectOperands(0);
}
void decodeMembar(Decoder &in) {
  if (in.takeOneOf({"cta", "gl", "sys"}).empty())
    in.fail("a scope is expected");
  in.expectOperands(0);
  in.inst.run = &fence;
}

const Inst *addOffset(const Inst *i, uint64_t *r, Thread &) {
  r[i->d] = r[i->a] + i->imm;
  return i + 1;
}
uint64_t windowOf(Where where) {
  switch (where) {
  case Where::Shared:
  case Where::SharedCluster: return kSharedWindow;
  case Where::Local: return kLocalWindow;
  case Where::LaunchParam: return kParamWindow;
  default: return 0;
  }
}
void decodeCvta(Decoder &in) {
  const bool isTo = in.take("to");
  const Where where = takeSpace(in);
  if (where == Where::Generic)
    in.fail("a state space is expected");
  const Type type = in.takeTypeOf({Type::U64});
  in.expectOperands(2);
  in.inst.d = in.target(0, type);
  in.inst.a = in.source(1, type);
  in.inst.imm = isTo ? 0 - windowOf(where) : windowOf(where);
  in.inst.run = &addOffset;
}

// `imm`: the window's number, or 0 for global memory; `extra`: of shared memory the block's own alone.
const Inst *isInSpace(const Inst *i, uint64_t *r, Thread &t) {
  const uint64_t region = r[i->a] >> kRegionBits;
  const uint64_t rank = (r[i->a] - kSharedWindow) >> kClusterRankShift; // plus one, or 0 for the block itself
  r[i->d] = i->imm ? region == i->imm && (!i->extra || rank == 0 || rank == t.block->rank + 1) : region >= kFirstRegion;
  return i + 1;
}
void decodeIsspacep(Decoder &in) {
  const Where where = takeSpace(in);
  in.expectOperands(2);
  in.inst.d = in.target(0, Type::Pred);
  in.inst.a = in.source(1, Type::U64);
  in.inst.imm = windowOf(where) >> kRegionBits;
  in.inst.extra = where == Where::Shared;
  if (where == Where::Generic)
    in.fail("a state space is expected");
  in.inst.run = &isInSpace;
}

const Inst *nothing(const Inst *i, uint64_t *, Thread &) {
  return i + 1;
}
// Prefetches and what else is a hint.
void decodeHint(Decoder &in) {
  takeSpace(in);
  in.skipModifiers({"L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap", "128"});
  skipCacheHints(in);
  in.inst.run = &nothing;
}
void decodeCreatePolicy(Decoder &in) {
  in.skipModifiers({"fractional", "range", "cvt", "L2", "L2::evict_last", "L2::evict_normal", "L2::evict_first",
                    "L2::evict_unchanged", "global"});
  in.inst.d = in.target(0, in.takeTypeOf({Type::B64}));
  in.inst.a = in.constant(0);
  in.inst.run = &addOffset;
}

constexpr Opcode kOpcodes[] = {
    {"ld", [](Decoder &in) { decodeAccess(in, true); }},
    {"ldu", [](Decoder &in) { decodeAccess(in, true); }},
    {"st", [](Decoder &in) { decodeAccess(in, false); }},
    {"atom", [](Decoder &in) { decodeAtomic(in, true); }},
    {"red", [](Decoder &in) { decodeAtomic(in, false); }},
    {"fence", decodeFence},
    {"membar", decodeMembar},
    {"cvta", decodeCvta},
    {"isspacep", decodeIsspacep},
    {"prefetch", decodeHint},
    {"prefetchu", decodeHint},
    {"applypriority", decodeHint},
    {"createpolicy", decodeCreatePolicy},
};

} // namespace

std::span<const Opcode> memoryOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
