// wgmma: products by four warps, of matrices that lie in shared memory as a descriptor says.
#include "kiln/targets/cuda/sim/matrix_elements.h"
#include "kiln/targets/cuda/sim/operations.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace kiln::cudasim {

namespace {

// The shape is m64 by n by k.
struct Form {
  uint32_t n, k;
  Type d, a, b;
  bool saturates, aInRegisters, negatesA, negatesB, transposesA, transposesB;
};

uint64_t packForm(const Form &f) {
  uint64_t flags = 0;
  for (bool flag : {f.saturates, f.aInRegisters, f.negatesA, f.negatesB, f.transposesA, f.transposesB})
    flags = flags << 1 | uint64_t(flag);
  return f.n | uint64_t(f.k) << 12 | uint64_t(f.d) << 24 | uint64_t(f.a) << 32 | uint64_t(f.b) << 40 | flags << 48;
}
Form unpackForm(uint64_t bits) {
  auto flag = [&](int at) { return (bits >> (48 + at) & 1) != 0; };
  return {uint32_t(bits & 0xfff),
          uint32_t(bits >> 12 & 0xfff),
          Type(bits >> 24 & 0xff),
          Type(bits >> 32 & 0xff),
          Type(bits >> 40 & 0xff),
          flag(5),
          flag(4),
          flag(3),
          flag(2),
          flag(1),
          flag(0)};
}

// Where the manual's canonical layouts have an element. `outer` is the row of a or the column of b, and the matrix is
// stored along k, or along the outer dimension where it is transposed.
struct Descriptor {
  uint32_t start, leading, stride, width; // bytes; `width` of the swizzle, 16 where there is none

  explicit Descriptor(uint64_t bits)
      : start(uint32_t(bits & 0x3fff) << 4), leading(uint32_t(bits >> 16 & 0x3fff) << 4),
        stride(uint32_t(bits >> 32 & 0x3fff) << 4), width(16) {
    static constexpr uint32_t kWidths[] = {16, 128, 64, 32};
    width = kWidths[bits >> 62];
  }
  uint32_t placeOf(uint32_t outer, uint32_t k, uint32_t elementBytes, bool transposed) const {
    const uint32_t perChunk = 16 / elementBytes;
    uint32_t at = start;
    if (!transposed) {
      at += outer / 8 * stride + outer % 8 * width + k / perChunk * (width == 16 ? leading : 16) +
            k % perChunk * elementBytes;
    } else {
      const uint32_t chunk = outer / perChunk, chunks = width / 16;
      at += outer % perChunk * elementBytes + chunk % chunks * 16 + chunk / chunks * (width == 16 ? stride : leading) +
            k % 8 * width + k / 8 * (width == 16 ? leading : stride);
    }
    return at ^ (at >> 3 & (width - 16)); // chunks of 16 bytes change places by the row of 128 bytes
  }
};

// Whether what a warp reads of an operand may be read: initialized, ordered, fenced.
bool mayRead(Thread &t, const Inst *i, uint64_t descriptor, uint32_t first, uint32_t count, const Form &f, Type type,
             bool transposed) {
  const Descriptor matrix(descriptor);
  const uint32_t bytes = typeBytes(type == Type::TF32 ? Type::B32 : type);
  for (uint32_t outer = first; outer < first + count; outer += transposed ? 16 / bytes : 1)
    for (uint32_t k = 0; k < f.k; k += transposed ? 1 : 16 / bytes)
      if (!t.sharedUnaligned(i, matrix.placeOf(outer, k, bytes, transposed) & ~15u, 16, Access::AsyncRead))
        return false;
  return true;
}

bool mayReadAll(Thread &t, const Thread::WarpgroupProduct &product) {
  const Form f = unpackForm(product.inst->imm);
  const uint32_t rows = t.index / 32 % 4 * 16;
  return (f.aInRegisters || mayRead(t, product.inst, product.a, rows, 16, f, f.a, f.transposesA)) &&
         mayRead(t, product.inst, product.b, 0, f.n, f, f.b, f.transposesB);
}

double load(const Block &block, const Descriptor &matrix, uint32_t outer, uint32_t k, Type type, bool transposed) {
  const uint32_t bytes = typeBytes(type == Type::TF32 ? Type::B32 : type);
  uint32_t bits = 0;
  std::memcpy(&bits, block.sharedMemory.data() + matrix.placeOf(outer, k, bytes, transposed), bytes);
  return part(bits, type, 0);
}

uint64_t resultBits(double value, Type type, bool saturates) {
  if (type == Type::F16)
    return encode(value, kHalf);
  if (type == Type::F32)
    return put(float(value));
  const auto exact = int64_t(value);
  return uint32_t(saturates ? std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX) : exact);
}

// The parts of a that another thread of the warp had in its registers for the same product.
const std::array<uint32_t, 4> &capturedBy(const Thread &t, const Thread::WarpgroupProduct &product) {
  for (const std::vector<Thread::WarpgroupProduct> &group : t.productGroups)
    for (const Thread::WarpgroupProduct &each : group)
      if (each.number == product.number)
        return each.parts;
  return product.parts;
}

// The thread's own elements: as of mma.sync, for each 8 columns of the 16 rows of its warp.
void multiply(Thread &t, const Thread::WarpgroupProduct &product) {
  const Form f = unpackForm(product.inst->imm);
  const Descriptor a(product.a), b(product.b);
  const uint32_t group = t.lane() / 4, inGroup = t.lane() % 4, firstRow = t.index / 32 % 4 * 16;
  // The warp's rows of a that this thread has results of; of registers, from the lanes of its group.
  std::vector<double> rows(size_t(2) * f.k);
  for (uint32_t half = 0; half < 2; ++half)
    for (uint32_t k = 0; k < f.k; ++k) {
      double &value = rows[half * f.k + k];
      if (f.aInRegisters) {
        const uint32_t perRegister = 32 / typeBits(f.a == Type::TF32 ? Type::B32 : f.a);
        const uint32_t lane = t.lane() / 4 * 4 + k / perRegister % 4;
        const uint32_t number = half + 2 * (k / (4 * perRegister));
        value = part(capturedBy(t.block->lane(t.index / 32, lane), product)[number], f.a, k % perRegister);
      } else {
        value = load(*t.block, a, firstRow + group + 8 * half, k, f.a, f.transposesA);
      }
      value = f.negatesA ? -value : value;
    }
  const uint32_t perSlot = f.d == Type::F16 ? 2 : 1;
  for (uint32_t i = 0; i < f.n / 2; ++i) {
    const uint32_t column = i / 4 * 8 + inGroup * 2 + i % 2, half = i % 4 / 2;
    uint64_t &slot = t.registers[product.inst->list[i / perSlot]];
    double sum = 0;
    for (uint32_t k = 0; k < f.k; ++k)
      sum += rows[half * f.k + k] * load(*t.block, b, column, k, f.b, f.transposesB);
    sum = f.negatesB ? -sum : sum;
    const uint32_t shift = perSlot == 2 ? 16 * (i % 2) : 0;
    const Type held = f.d == Type::S32 ? Type::S32 : f.d;
    if (product.adds)
      sum += held == Type::S32 ? double(int32_t(uint32_t(slot))) : part(slot >> shift, held, 0);
    const uint64_t bits = resultBits(sum, f.d, f.saturates);
    slot = perSlot == 2 ? (slot & ~(uint64_t(0xffff) << shift)) | bits << shift : bits;
    t.fencedRegisters[product.inst->list[i / perSlot]] = slot;
  }
}

// Whether a register of a product may be read and written by it: it holds what it held at the last wgmma.fence, or what
// products have left there since. What was only moved from another register counts as that: assemblers make one
// register of the two.
bool isFenced(const Thread &t, uint32_t slot) {
  const uint64_t value = t.registers[slot];
  if (value == t.fencedRegisters[slot] || std::ranges::binary_search(t.busySlots, slot))
    return true;
  const std::vector<uint64_t> &first = t.code().frame; // constants stay what they are there
  for (size_t other = 0; other < first.size(); ++other)
    if (t.fencedRegisters[other] == value && first[other] != value)
      return true;
  return false;
}

// `list` has the slots of d, and of a where it is in registers; `a` and `b` the descriptors', `c` that of scale-d.
bool startAll(Block &block, uint32_t warp, uint32_t) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Thread &t = block.lane(warp, lane);
    const Inst *i = t.next;
    const Form f = unpackForm(i->imm);
    uint64_t *r = t.registers;
    if (lane == 0 && !block.arriveInWarpgroup(t, i))
      return false;
    if (t.fencedRegisters.size() != t.code().frame.size()) {
      t.fault(i, FaultCode::LaunchFailed, "is a wgmma before which there is no wgmma.fence");
      return false;
    }
    const uint32_t slots = f.n / 2 / (f.d == Type::F16 ? 2 : 1);
    for (uint32_t k = 0; k < slots + (f.aInRegisters ? 4 : 0); ++k)
      if (!isFenced(t, i->list[k])) {
        t.fault(i, FaultCode::LaunchFailed,
                "is a wgmma of a register that was written since the last wgmma.fence; another fence is missing");
        return false;
      }
    Thread::WarpgroupProduct product{i, r[i->a], r[i->b], {}, r[i->c] != 0, t.startedProducts++};
    for (uint32_t k = 0; f.aInRegisters && k < 4; ++k)
      product.parts[k] = uint32_t(r[i->list[slots + k]]);
    if (lane == 0 && !mayReadAll(t, product))
      return false;
    t.products.push_back(product);
    t.busySlots.insert(t.busySlots.end(), i->list, i->list + slots + (f.aInRegisters ? 4 : 0));
    std::ranges::sort(t.busySlots);
  }
  return true;
}
const Inst *start(const Inst *i, uint64_t *, Thread &t) {
  return t.block->meet(t, i, ~0u, &startAll, true);
}

bool fenceAll(Block &block, uint32_t warp, uint32_t) {
  if (!block.arriveInWarpgroup(block.lane(warp, 0), block.lane(warp, 0).next))
    return false;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Thread &t = block.lane(warp, lane);
    t.fencedRegisters.assign(t.registers, t.registers + t.code().frame.size());
  }
  return true;
}
const Inst *fence(const Inst *i, uint64_t *, Thread &t) {
  return t.block->meet(t, i, ~0u, &fenceAll, true);
}
bool commitAll(Block &block, uint32_t warp, uint32_t) {
  if (!block.arriveInWarpgroup(block.lane(warp, 0), block.lane(warp, 0).next))
    return false;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Thread &t = block.lane(warp, lane);
    t.productGroups.push_back(std::move(t.products));
    t.products.clear();
  }
  return true;
}
const Inst *commit(const Inst *i, uint64_t *, Thread &t) {
  return t.block->meet(t, i, ~0u, &commitAll, true);
}

// All groups of the warp's threads but the newest `imm` end.
bool waitAll(Block &block, uint32_t warp, uint32_t) {
  if (!block.arriveInWarpgroup(block.lane(warp, 0), block.lane(warp, 0).next))
    return false;
  const uint64_t kept = block.lane(warp, 0).next->imm;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Thread &t = block.lane(warp, lane);
    while (t.productGroups.size() > kept + t.endedGroups)
      for (const Thread::WarpgroupProduct &product : t.productGroups[t.endedGroups++]) {
        if (lane == 0 && !mayReadAll(t, product))
          return false;
        multiply(t, product);
      }
  }
  // The first lane has read for all of the warp.
  std::array<uint32_t, 31> others;
  std::iota(others.begin(), others.end(), block.lane(warp, 1).number);
  block.cluster->shadow.tell(block.lane(warp, 0).number, others);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Thread &t = block.lane(warp, lane);
    t.productGroups.erase(t.productGroups.begin(), t.productGroups.begin() + long(t.endedGroups));
    t.endedGroups = 0;
    t.busySlots.clear();
    auto busy = [&](const std::vector<Thread::WarpgroupProduct> &products) {
      for (const Thread::WarpgroupProduct &product : products) {
        const Form f = unpackForm(product.inst->imm);
        const uint32_t slots = f.n / 2 / (f.d == Type::F16 ? 2 : 1) + (f.aInRegisters ? 4 : 0);
        t.busySlots.insert(t.busySlots.end(), product.inst->list, product.inst->list + slots);
      }
    };
    busy(t.products);
    std::ranges::for_each(t.productGroups, busy);
    std::ranges::sort(t.busySlots);
  }
  return true;
}
const Inst *wait(const Inst *i, uint64_t *, Thread &t) {
  return t.block->meet(t, i, ~0u, &waitAll, true);
}

bool isKnown(const Form &f) {
  const bool isHalf = f.a == Type::F16 && f.b == Type::F16, isBrain = f.a == Type::BF16 && f.b == Type::BF16,
             isTensor = f.a == Type::TF32 && f.b == Type::TF32;
  const bool isSmall = (f.a == Type::E4M3 || f.a == Type::E5M2) && (f.b == Type::E4M3 || f.b == Type::E5M2);
  const bool isByte = (f.a == Type::U8 || f.a == Type::S8) && (f.b == Type::U8 || f.b == Type::S8);
  if (f.n < 8 || f.n > 256 || f.n % 8)
    return false;
  if (isByte)
    return f.d == Type::S32 && f.k == 32;
  if (f.saturates || (f.d == Type::F16 ? !isHalf && !isSmall : f.d != Type::F32))
    return false;
  return isHalf || isBrain ? f.k == 16 : isTensor ? f.k == 8 : isSmall && f.k == 32;
}

void decodeProduct(Decoder &in) {
  Form f{};
  for (const std::string &modifier : in.instruction().modifiers) {
    unsigned n = 0, k = 0;
    char end = 0;
    if (std::sscanf(modifier.c_str(), "m64n%3uk%3u%c", &n, &k, &end) == 2) {
      f.n = n, f.k = k;
      in.take(modifier);
      break;
    }
  }
  f.saturates = in.take("satfinite");
  f.d = in.takeType();
  f.a = in.takeType();
  f.b = in.takeType();
  if (!isKnown(f))
    return in.fail("it has no product of this shape and these types that is simulated");
  const bool isInteger = f.d == Type::S32;
  in.expectOperands(4, 8);
  if (in.failed())
    return;
  const Operand &d = in.operand(0), &a = in.operand(1);
  f.aInRegisters = a.kind == Operand::Kind::List;
  const bool hasTransposes = typeBits(f.a) == 16;
  const size_t scales = isInteger ? 0 : 2, transposes = hasTransposes ? (f.aInRegisters ? 1 : 2) : 0;
  in.expectOperands(4 + scales + transposes);
  const uint32_t slots = f.n / 2 / (f.d == Type::F16 ? 2 : 1);
  if (in.failed() || d.parts.size() != slots || (f.aInRegisters && a.parts.size() != 4))
    return in.fail(fmt::format("the result has {} registers, and a has 4 where it is in registers", slots));
  std::vector<uint32_t> list;
  for (const Operand &each : d.parts)
    list.push_back(in.target(each, f.d == Type::F32 ? Type::F32 : Type::B32));
  for (const Operand &each : a.parts)
    list.push_back(in.source(each, Type::B32));
  if (!f.aInRegisters)
    in.inst.a = in.source(1, Type::B64);
  in.inst.b = in.source(2, Type::B64);
  in.inst.c = in.source(3, Type::Pred);
  if (scales) {
    f.negatesA = int64_t(in.immediate(4)) < 0;
    f.negatesB = int64_t(in.immediate(5)) < 0;
  }
  if (transposes == 2)
    f.transposesA = in.immediate(6) != 0;
  if (transposes)
    f.transposesB = in.immediate(5 + transposes) != 0;
  in.inst.imm = packForm(f);
  in.inst.list = in.list(std::move(list));
  in.inst.run = &start;
}

void decodeWgmma(Decoder &in) {
  const std::string_view what = in.takeOneOf({"mma_async", "fence", "commit_group", "wait_group"});
  if (!in.take("sync") || !in.take("aligned"))
    return in.fail("'.sync.aligned' is expected");
  if (what == "mma_async")
    return decodeProduct(in);
  in.expectOperands(what == "wait_group" ? 1 : 0);
  if (what == "wait_group")
    in.inst.imm = in.immediate(0);
  in.inst.run = what == "fence" ? &fence : what == "commit_group" ? &commit : what == "wait_group" ? &wait : nullptr;
}

constexpr Opcode kOpcodes[] = {
    {"wgmma", decodeWgmma},
};

} // namespace

std::span<const Opcode> warpgroupOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
