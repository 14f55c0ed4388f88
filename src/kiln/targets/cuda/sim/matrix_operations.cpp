// Products of small matrices by a warp, and the loads that lay their fragments out.
#include "kiln/targets/cuda/sim/matrix_elements.h"
#include "kiln/targets/cuda/sim/memory_access.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace kiln::cudasim {

namespace {

//===--- mma.sync -------------------------------------------------------------------------------------------------===//

// A product's shape and types, as an instruction has them in `imm`.
struct Product {
  uint32_t m, n, k;
  Type d, a, b, c;
  bool saturates;
};

uint64_t packProduct(const Product &p) {
  return uint64_t(p.m) | uint64_t(p.n) << 8 | uint64_t(p.k) << 16 | uint64_t(p.d) << 28 | uint64_t(p.a) << 36 |
         uint64_t(p.b) << 44 | uint64_t(p.c) << 52 | uint64_t(p.saturates) << 60;
}
Product unpackProduct(uint64_t bits) {
  auto type = [&](int at) { return Type(bits >> at & 0xff); };
  return {uint32_t(bits & 0xff),
          uint32_t(bits >> 8 & 0xff),
          uint32_t(bits >> 16 & 0xfff),
          type(28),
          type(36),
          type(44),
          type(52),
          (bits >> 60 & 1) != 0};
}

uint32_t registerBits(Type element) {
  return element == Type::F64 ? 64 : 32;
}
uint32_t perRegister(Type element) {
  return registerBits(element) / typeBits(element);
}
// Registers of each thread.
uint32_t registersOf(uint32_t elements, Type element) {
  return std::max<uint32_t>(elements / 32 / perRegister(element), 1);
}

// The operands of a warp as matrices of numbers; integers are exact as doubles.
struct Matrices {
  std::array<double, 16 * 64> a; // m x k
  std::array<double, 64 * 8> b;  // k x n
  std::array<double, 16 * 8> c;  // m x n
};

// Where a thread's parts of the operands are: the manual's figures of fragments, for all shapes with 8 columns. Rows
// repeat every 8 lanes' groups; the parts of a register lie along k.
void gather(Block &block, uint32_t warp, const Product &p, Matrices &matrices) {
  const uint32_t aParts = perRegister(p.a), bParts = perRegister(p.b), cParts = perRegister(p.c);
  const uint32_t rows = p.m / 8;
  const uint32_t dRegisters = registersOf(p.m * p.n, p.d), aRegisters = registersOf(p.m * p.k, p.a),
                 bRegisters = registersOf(p.k * p.n, p.b), cRegisters = registersOf(p.m * p.n, p.c);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const Thread &thread = block.lane(warp, lane);
    const uint32_t *slots = thread.next->list + dRegisters;
    const uint32_t group = lane / 4, inGroup = lane % 4;
    for (uint32_t i = 0; i < aRegisters; ++i)
      for (uint32_t j = 0; j < aParts; ++j)
        matrices.a[(group + 8 * (i % rows)) * p.k + inGroup * aParts + j + i / rows * 4 * aParts] =
            part(thread.registers[slots[i]], p.a, j);
    for (uint32_t i = 0; i < bRegisters; ++i)
      for (uint32_t j = 0; j < bParts; ++j)
        matrices.b[(inGroup * bParts + j + i * 4 * bParts) * p.n + group] =
            part(thread.registers[slots[aRegisters + i]], p.b, j);
    for (uint32_t i = 0; i < cRegisters * cParts; ++i)
      matrices.c[(group + i / 2 * 8) * p.n + inGroup * 2 + i % 2] =
          part(thread.registers[slots[aRegisters + bRegisters + i / cParts]], p.c, i % cParts);
  }
}

// The sum of products is exact but for f64, or rounded in f64 where it is longer than that; then it is rounded once.
double element(const Product &p, const Matrices &matrices, uint32_t row, uint32_t column) {
  double sum = p.a == Type::F64 ? matrices.c[row * p.n + column] : 0;
  for (uint32_t k = 0; k < p.k; ++k)
    sum = std::fma(matrices.a[row * p.k + k], matrices.b[k * p.n + column], sum);
  return p.a == Type::F64 ? sum : sum + matrices.c[row * p.n + column];
}

uint64_t resultBits(const Product &p, double value) {
  switch (p.d) {
  case Type::F16: return encode(value, kHalf);
  case Type::F32: return put(float(value));
  case Type::F64: return put(value);
  default: break;
  }
  const auto exact = int64_t(value);
  return uint32_t(p.saturates ? std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX) : exact);
}

bool multiplyAll(Block &block, uint32_t warp, uint32_t) {
  const Product p = unpackProduct(block.lane(warp, 0).next->imm);
  Matrices matrices;
  gather(block, warp, p, matrices);
  const uint32_t parts = perRegister(p.d), registers = registersOf(p.m * p.n, p.d);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Thread &thread = block.lane(warp, lane);
    for (uint32_t i = 0; i < registers; ++i) {
      uint64_t bits = 0;
      for (uint32_t j = 0; j < parts; ++j) {
        const uint32_t index = i * parts + j;
        bits |= resultBits(p, element(p, matrices, lane / 4 + index / 2 * 8, lane % 4 * 2 + index % 2)) << (16 * j);
      }
      thread.registers[thread.next->list[i]] = bits;
    }
  }
  return true;
}
const Inst *multiply(const Inst *i, uint64_t *, Thread &t) {
  return t.block->meet(t, i, ~0u, &multiplyAll, true);
}

struct ProductForm {
  uint32_t m, n, k;
  Type a, b;
};
bool isKnownProduct(const Product &p) {
  static constexpr ProductForm kForms[] = {
      {16, 8, 8, Type::F16, Type::F16},    {16, 8, 16, Type::F16, Type::F16},  {16, 8, 8, Type::BF16, Type::BF16},
      {16, 8, 16, Type::BF16, Type::BF16}, {16, 8, 4, Type::TF32, Type::TF32}, {16, 8, 8, Type::TF32, Type::TF32},
      {8, 8, 4, Type::F64, Type::F64},
  };
  auto isOneOf = [](Type type, std::initializer_list<Type> types) {
    return std::ranges::find(types, type) != types.end();
  };
  const bool bytes = isOneOf(p.a, {Type::U8, Type::S8}) && isOneOf(p.b, {Type::U8, Type::S8});
  const bool nibbles = isOneOf(p.a, {Type::U4, Type::S4}) && isOneOf(p.b, {Type::U4, Type::S4});
  const bool small = isOneOf(p.a, {Type::E4M3, Type::E5M2}) && isOneOf(p.b, {Type::E4M3, Type::E5M2});
  if (bytes || nibbles) {
    const uint32_t least = bytes ? 16 : 32;
    const bool fits = (p.m == 8 && p.k == least) || (p.m == 16 && (p.k == least || p.k == 2 * least));
    return p.n == 8 && fits && p.c == Type::S32 && p.d == Type::S32;
  }
  if (p.saturates)
    return false;
  if (small)
    return p.m == 16 && p.n == 8 && p.k == 32 && p.c == p.d && isOneOf(p.d, {Type::F32, Type::F16});
  if (p.a == Type::F64 ? p.c != Type::F64 || p.d != Type::F64
                       : p.c != p.d || !(p.d == Type::F32 || (p.d == Type::F16 && p.a == Type::F16)))
    return false;
  return std::ranges::any_of(kForms, [&](const ProductForm &form) {
    return form.m == p.m && form.n == p.n && form.k == p.k && form.a == p.a && form.b == p.b;
  });
}

// "m16n8k16"
bool takeShape(Decoder &in, Product &p) {
  for (const std::string &modifier : in.instruction().modifiers) {
    unsigned m = 0, n = 0, k = 0;
    char end = 0;
    if (std::sscanf(modifier.c_str(), "m%3un%3uk%3u%c", &m, &n, &k, &end) == 3) {
      p.m = m, p.n = n, p.k = k;
      return in.take(modifier);
    }
  }
  return false;
}

void appendFragment(Decoder &in, size_t operand, uint32_t registers, Type element, bool isResult,
                    std::vector<uint32_t> &slots) {
  const Operand &list = in.operand(operand);
  const Type type = element == Type::F64 ? Type::F64 : element == Type::F32 ? Type::F32 : Type::B32;
  // A fragment of one register may stand without braces.
  if (list.kind != Operand::Kind::List && registers == 1)
    return slots.push_back(isResult ? in.target(list, type) : in.source(list, type));
  if (list.kind != Operand::Kind::List || list.parts.size() != registers)
    return in.fail(fmt::format("an operand has {} registers", registers));
  for (const Operand &each : list.parts)
    slots.push_back(isResult ? in.target(each, type) : in.source(each, type));
}

void requireAligned(Decoder &in) {
  if (!in.take("sync") || !in.take("aligned"))
    in.fail("'.sync.aligned' is expected");
}

void decodeMma(Decoder &in) {
  requireAligned(in);
  Product p{};
  if (!takeShape(in, p) || !in.take("row") || !in.take("col"))
    return in.fail("a shape and '.row.col' are expected");
  p.saturates = in.take("satfinite");
  p.d = in.takeType();
  p.a = in.takeType();
  p.b = in.takeType();
  p.c = in.takeType();
  if (!isKnownProduct(p))
    return in.fail("it has no product of this shape and these types that is simulated");
  in.expectOperands(4);
  std::vector<uint32_t> slots;
  appendFragment(in, 0, registersOf(p.m * p.n, p.d), p.d, true, slots);
  appendFragment(in, 1, registersOf(p.m * p.k, p.a), p.a, false, slots);
  appendFragment(in, 2, registersOf(p.k * p.n, p.b), p.b, false, slots);
  appendFragment(in, 3, registersOf(p.m * p.n, p.c), p.c, false, slots);
  in.inst.list = in.list(std::move(slots));
  in.inst.imm = packProduct(p);
  in.inst.run = &multiply;
}

//===--- ldmatrix, stmatrix, movmatrix ----------------------------------------------------------------------------===//

// What `extra` says: how many matrices, whether they are transposed, and where they are.
constexpr uint32_t kTransposed = 0x10, kGeneric = 0x20;

// Each thread's address is that of a row of 8 numbers of 16 bits; the rows of matrix i come from the threads 8i to 8i
// + 7.
template <bool isLoad> bool moveMatrices(Block &block, uint32_t warp, uint32_t) {
  const Inst *first = block.lane(warp, 0).next;
  const uint32_t count = first->extra & 0xf;
  const bool transposed = first->extra & kTransposed;
  const Where where = first->extra & kGeneric ? Where::Generic : Where::Shared;
  for (uint32_t matrix = 0; matrix < count; ++matrix) {
    std::array<uint8_t *, 8> rows{};
    for (uint32_t row = 0; row < 8; ++row) {
      Thread &thread = block.lane(warp, matrix * 8 + row);
      const Inst *i = thread.next;
      rows[row] = locate(where, thread, i, thread.registers[i->a] + i->imm, 16, isLoad ? Access::Read : Access::Write);
      if (!rows[row])
        return false;
    }
    for (uint32_t lane = 0; lane < 32; ++lane) {
      Thread &thread = block.lane(warp, lane);
      uint64_t &value = thread.registers[thread.next->list[matrix]];
      uint64_t loaded = 0;
      for (uint32_t j = 0; j < 2; ++j) {
        const uint32_t row = transposed ? lane % 4 * 2 + j : lane / 4,
                       column = transposed ? lane / 4 : lane % 4 * 2 + j;
        uint16_t number = uint16_t(value >> (16 * j));
        if (isLoad)
          std::memcpy(&number, rows[row] + 2 * column, 2);
        else
          std::memcpy(rows[row] + 2 * column, &number, 2);
        loaded |= uint64_t(number) << (16 * j);
      }
      value = loaded;
    }
  }
  return true;
}
template <bool isLoad> const Inst *matrices(const Inst *i, uint64_t *, Thread &t) {
  return t.block->meet(t, i, ~0u, &moveMatrices<isLoad>, true);
}

template <bool isLoad> void decodeMatrices(Decoder &in) {
  requireAligned(in);
  if (!in.take("m8n8"))
    in.fail("'.m8n8' is expected");
  const std::string_view number = in.takeOneOf({"x1", "x2", "x4"});
  if (number.empty())
    return in.fail("'.x1', '.x2' or '.x4' is expected");
  in.inst.extra = uint32_t(number[1] - '0');
  if (in.take("trans"))
    in.inst.extra |= kTransposed;
  Where where = takeSpace(in);
  if (where == Where::Generic)
    in.inst.extra |= kGeneric;
  else if (where != Where::Shared)
    in.fail("matrices are in shared memory");
  in.takeTypeOf({Type::B16});
  in.expectOperands(2);
  if (in.failed())
    return;
  std::vector<uint32_t> slots;
  appendFragment(in, isLoad ? 0 : 1, in.inst.extra & 0xf, Type::B32, isLoad, slots);
  in.inst.list = in.list(std::move(slots));
  decodeAddress(in, in.operand(isLoad ? 1 : 0), where, 16);
  in.inst.run = &matrices<isLoad>;
}

bool transposeAll(Block &block, uint32_t warp, uint32_t) {
  std::array<uint16_t, 64> numbers;
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t j = 0; j < 2; ++j) {
      const Thread &thread = block.lane(warp, lane);
      numbers[lane / 4 * 8 + lane % 4 * 2 + j] = uint16_t(thread.registers[thread.next->a] >> (16 * j));
    }
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Thread &thread = block.lane(warp, lane);
    auto at = [&](uint32_t j) { return uint32_t(numbers[(lane % 4 * 2 + j) * 8 + lane / 4]); };
    thread.registers[thread.next->d] = at(0) | at(1) << 16;
  }
  return true;
}
void decodeMovmatrix(Decoder &in) {
  requireAligned(in);
  if (!in.take("m8n8") || !in.take("trans"))
    in.fail("'.m8n8.trans' is expected");
  in.takeTypeOf({Type::B16});
  sameTypeOperands(in, Type::B32, 2);
  in.inst.run = [](const Inst *i, uint64_t *, Thread &t) -> const Inst * {
    return t.block->meet(t, i, ~0u, &transposeAll, true);
  };
}

constexpr Opcode kOpcodes[] = {
    {"mma", decodeMma},
    {"ldmatrix", decodeMatrices<true>},
    {"stmatrix", decodeMatrices<false>},
    {"movmatrix", decodeMovmatrix},
};

} // namespace

std::span<const Opcode> matrixOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
