// Products of small matrices by a warp, and the loads that lay their fragments out.
#include "kiln/targets/cuda/sim/matrix_elements.h"
#include "kiln/targets/cuda/sim/memory_access.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace kiln::cudasim {

namespace {

//===--- Products -------------------------------------------------------------------------------------------------===//

// A product's shape and types, as an instruction has them in `imm`. Which inputs are column-major is of wmma alone.
struct Product {
  uint32_t m, n, k;
  Type d, a, b, c;
  bool saturates, isColumnMajorA, isColumnMajorB;
};

uint64_t packProduct(const Product &p) {
  return uint64_t(p.m) | uint64_t(p.n) << 8 | uint64_t(p.k) << 16 | uint64_t(p.d) << 28 | uint64_t(p.a) << 36 |
         uint64_t(p.b) << 44 | uint64_t(p.c) << 52 | uint64_t(p.saturates) << 60 | uint64_t(p.isColumnMajorA) << 61 |
         uint64_t(p.isColumnMajorB) << 62;
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
          (bits >> 60 & 1) != 0,
          (bits >> 61 & 1) != 0,
          (bits >> 62 & 1) != 0};
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
  std::array<double, 16 * 16> c; // m x n
};

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

// Writes the products to the registers of a warp. `elementAt` gives the number of the element, row by row, that a lane
// has in a place of its registers.
template <typename ElementAt>
void writeProducts(Block &block, uint32_t warp, const Product &p, const Matrices &matrices, ElementAt elementAt) {
  const uint32_t parts = perRegister(p.d), registers = registersOf(p.m * p.n, p.d);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Thread &thread = block.lane(warp, lane);
    for (uint32_t i = 0; i < registers; ++i) {
      uint64_t bits = 0;
      for (uint32_t j = 0; j < parts; ++j) {
        const uint32_t number = elementAt(lane, i * parts + j);
        bits |= resultBits(p, element(p, matrices, number / p.n, number % p.n)) << (16 * j);
      }
      thread.registers[thread.next->list[i]] = bits;
    }
  }
}

//===--- mma.sync -------------------------------------------------------------------------------------------------===//

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

bool multiplyAll(Block &block, uint32_t warp, uint32_t) {
  const Product p = unpackProduct(block.lane(warp, 0).next->imm);
  Matrices matrices;
  gather(block, warp, p, matrices);
  writeProducts(block, warp, p, matrices, [&](uint32_t lane, uint32_t place) {
    return (lane / 4 + place / 2 * 8) * p.n + lane % 4 * 2 + place % 2;
  });
  return true;
}
const Inst *multiply(const Inst *i, uint64_t *, Thread &t) {
  return t.block->meet(t, i, ~0u, &multiplyAll, true);
}

bool isOneOf(Type type, std::initializer_list<Type> types) {
  return std::ranges::find(types, type) != types.end();
}

struct ProductForm {
  uint32_t m, n, k;
  Type a, b;
};
bool isKnownProduct(const Product &p) {
  static constexpr ProductForm kForms[] = {
      {16, 8, 8, Type::F16, Type::F16},    {16, 8, 16, Type::F16, Type::F16},  {16, 8, 8, Type::BF16, Type::BF16},
      {16, 8, 16, Type::BF16, Type::BF16}, {16, 8, 4, Type::TF32, Type::TF32}, {16, 8, 8, Type::TF32, Type::TF32},
      {8, 8, 4, Type::F64, Type::F64},     {16, 8, 4, Type::F64, Type::F64},   {16, 8, 8, Type::F64, Type::F64},
      {16, 8, 16, Type::F64, Type::F64},
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
    // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): three digits are no overflow
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

//===--- wmma -----------------------------------------------------------------------------------------------------===//

// A matrix in the registers of a warp. The manual leaves open which thread holds which elements where, and some
// architectures hold elements of f16 more than once.
struct Fragment {
  char matrix; // a, b; c, as which d is laid out too
  Type type;
  uint32_t rows, columns;
  bool isColumnMajor; // in memory

  uint32_t registers() const { return matrix != 'c' && type == Type::F16 ? 8 : registersOf(rows * columns, type); }
  uint32_t places() const { return registers() * perRegister(type); }
  // Rows or columns start at multiples of the bytes of the fragment, or of their own where those are fewer, as by
  // default one follows the other.
  uint32_t alignment() const { return std::min(registers() * 4, (isColumnMajor ? rows : columns) * typeBytes(type)); }
  uint32_t pack() const {
    return uint32_t(matrix) | uint32_t(type) << 8 | rows << 16 | columns << 23 | uint32_t(isColumnMajor) << 30;
  }
  static Fragment unpack(uint32_t bits) {
    return {char(bits & 0xff), Type(bits >> 8 & 0xff), bits >> 16 & 0x7f, bits >> 23 & 0x7f, (bits >> 30 & 1) != 0};
  }
};

// Where a fragment's elements are follows from the seed of the launch, so that code which takes a layout for granted
// is wrong. Of sums the layout in memory does not matter, as products do not name it.
class FragmentLayout {
public:
  FragmentLayout(const Block &block, Fragment fragment)
      : places(fragment.places()), elements(fragment.rows * fragment.columns) {
    fragment.isColumnMajor = fragment.matrix != 'c' && fragment.isColumnMajor;
    const uint64_t bits = randomBits(block.launch->options.seed, fragment.pack(), 7);
    flipped = uint32_t(bits & 0xffff);
    offset = uint32_t(bits >> 16 & 0xffff);
    factor = uint32_t(bits >> 32 & 0xfff8) | 5; // odd, and neither 1 nor -1
  }
  // The number, row by row, of the element that a lane has in a place of its registers.
  uint32_t element(uint32_t lane, uint32_t place) const {
    return (((lane * places + place) ^ flipped) * factor + offset) % elements; // a power of two
  }

private:
  uint32_t places, elements, flipped, factor, offset;
};

template <bool isLoad> bool moveFragment(Block &block, uint32_t warp, uint32_t) {
  Thread &first = block.lane(warp, 0);
  const auto addressOf = [](const Thread &t) { return t.registers[t.next->a] + t.next->imm; };
  const auto strideOf = [](const Thread &t) { return uint64_t(uint32_t(t.registers[t.next->b])); };
  const Fragment fragment = Fragment::unpack(first.next->d);
  const uint64_t address = addressOf(first), bytes = typeBytes(fragment.type), stride = strideOf(first) * bytes;
  for (uint32_t lane = 1; lane < 32; ++lane) {
    Thread &thread = block.lane(warp, lane);
    if (addressOf(thread) != address || strideOf(thread) * bytes != stride) {
      thread.fault(thread.next, FaultCode::IllegalInstruction,
                   fmt::format("has the address {:#x} and a stride of {} bytes, while the first thread of its warp has "
                               "{:#x} and {}; all of them have the same",
                               addressOf(thread), strideOf(thread) * bytes, address, stride));
      return false;
    }
  }
  if (address % fragment.alignment() || stride % fragment.alignment()) {
    first.fault(first.next, FaultCode::Misaligned,
                fmt::format("has rows or columns at {:#x} and every {} bytes from there, which are no multiples of {}",
                            address, stride, fragment.alignment()));
    return false;
  }
  const FragmentLayout layout(block, fragment);
  const auto where = Where(first.next->extra);
  const uint32_t parts = perRegister(fragment.type);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Thread &thread = block.lane(warp, lane);
    for (uint32_t place = 0; place < fragment.places(); ++place) {
      const uint32_t number = layout.element(lane, place), row = number / fragment.columns,
                     column = number % fragment.columns;
      const uint64_t distance = fragment.isColumnMajor ? column * stride + row * bytes : row * stride + column * bytes;
      uint8_t *at = locate(where, thread, thread.next, address + distance, uint32_t(bytes),
                           isLoad ? Access::Read : Access::Write);
      if (!at)
        return false;
      uint64_t &value = thread.registers[thread.next->list[place / parts]];
      const uint32_t shift = place % parts * typeBits(fragment.type);
      uint64_t bits = value >> shift;
      if constexpr (isLoad) {
        bits = 0;
        std::memcpy(&bits, at, bytes);
        value = (shift == 0 ? 0 : value) | bits << shift;
      } else {
        std::memcpy(at, &bits, bytes);
      }
    }
  }
  return true;
}

bool multiplyFragments(Block &block, uint32_t warp, uint32_t) {
  const Product p = unpackProduct(block.lane(warp, 0).next->imm);
  Matrices matrices;
  uint32_t slots = registersOf(p.m * p.n, p.d); // before the fragment's
  const auto take = [&](const Fragment &fragment, double *matrix) {
    const FragmentLayout layout(block, fragment);
    const uint32_t parts = perRegister(fragment.type);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const Thread &thread = block.lane(warp, lane);
      for (uint32_t place = 0; place < fragment.places(); ++place)
        matrix[layout.element(lane, place)] =
            part(thread.registers[thread.next->list[slots + place / parts]], fragment.type, place % parts);
    }
    slots += fragment.registers();
  };
  take({'a', p.a, p.m, p.k, p.isColumnMajorA}, matrices.a.data());
  take({'b', p.b, p.k, p.n, p.isColumnMajorB}, matrices.b.data());
  take({'c', p.c, p.m, p.n, false}, matrices.c.data());
  const FragmentLayout layout(block, {'c', p.d, p.m, p.n, false});
  writeProducts(block, warp, p, matrices, [&](uint32_t lane, uint32_t place) { return layout.element(lane, place); });
  return true;
}

// Whether wmma has products of these inputs in this shape.
bool isWmmaShape(const Product &p, Type input) {
  if (input == Type::TF32)
    return p.m == 16 && p.n == 16 && p.k == 8;
  return isOneOf(input, {Type::F16, Type::BF16, Type::S8, Type::U8}) && p.k == 16 &&
         ((p.m == 16 && p.n == 16) || (p.m == 8 && p.n == 32) || (p.m == 32 && p.n == 8));
}
bool isWmmaSum(const Product &p, Type sum) {
  return sum == Type::F32 ? isWmmaShape(p, Type::F16) || isWmmaShape(p, Type::TF32)
                          : isOneOf(sum, {Type::F16, Type::S32}) && isWmmaShape(p, Type::F16);
}
bool isWmmaProduct(const Product &p) {
  if (p.a != p.b || !isWmmaShape(p, p.a))
    return false;
  if (isOneOf(p.a, {Type::S8, Type::U8}))
    return p.c == Type::S32 && p.d == Type::S32;
  const auto isSum = [&](Type type) { return type == Type::F32 || (type == Type::F16 && p.a == Type::F16); };
  return !p.saturates && isSum(p.c) && isSum(p.d);
}

// ".row" or ".col", the first that is left.
bool takeIsColumnMajor(Decoder &in) {
  for (const std::string &modifier : in.instruction().modifiers)
    if (modifier == "row" || modifier == "col")
      if (in.take(modifier))
        return modifier == "col";
  in.fail("'.row' or '.col' is expected");
  return false;
}

void decodeFragment(Decoder &in, bool isLoad) {
  const std::string_view matrix = isLoad ? in.takeOneOf({"a", "b", "c"}) : in.takeOneOf({"d"});
  if (matrix.empty())
    return in.fail(isLoad ? "'.a', '.b' or '.c' is expected" : "'.d' is expected");
  requireAligned(in);
  Product p{};
  Fragment fragment{isLoad ? matrix[0] : 'c', Type::None, 0, 0, takeIsColumnMajor(in)};
  if (!takeShape(in, p))
    return in.fail("a shape is expected");
  Where where = takeSpace(in);
  if (where != Where::Generic && where != Where::Global && where != Where::Shared)
    return in.fail("its matrices are in global or shared memory");
  fragment.type = in.takeType();
  if (in.failed())
    return;
  if (fragment.matrix == 'c' ? !isWmmaSum(p, fragment.type) : !isWmmaShape(p, fragment.type))
    return in.fail("it has no fragment of this shape and this type that is simulated");
  fragment.rows = fragment.matrix == 'b' ? p.k : p.m;
  fragment.columns = fragment.matrix == 'a' ? p.k : p.n;
  in.expectOperands(2, 3);
  std::vector<uint32_t> slots;
  appendFragment(in, isLoad ? 0 : 1, fragment.registers(), fragment.type, isLoad, slots);
  in.inst.list = in.list(std::move(slots));
  decodeAddress(in, in.operand(isLoad ? 1 : 0), where, fragment.alignment());
  in.inst.b = in.operandCount() > 2 ? in.source(2, Type::U32)
                                    : in.constant(fragment.isColumnMajor ? fragment.rows : fragment.columns);
  in.inst.d = fragment.pack();
  in.inst.extra = uint32_t(where);
  in.inst.run = [](const Inst *i, uint64_t *, Thread &t) -> const Inst * {
    return t.block->meet(t, i, ~0u, &moveFragment<true>, true);
  };
  if (!isLoad)
    in.inst.run = [](const Inst *i, uint64_t *, Thread &t) -> const Inst * {
      return t.block->meet(t, i, ~0u, &moveFragment<false>, true);
    };
}

void decodeWmma(Decoder &in) {
  const std::string_view operation = in.takeOneOf({"load", "store", "mma"});
  if (operation != "mma")
    return operation.empty() ? in.fail("'.load', '.store' or '.mma' is expected")
                             : decodeFragment(in, operation == "load");
  requireAligned(in);
  Product p{};
  p.isColumnMajorA = takeIsColumnMajor(in);
  p.isColumnMajorB = takeIsColumnMajor(in);
  if (!takeShape(in, p))
    return in.fail("a shape is expected");
  p.saturates = in.take("satfinite");
  p.d = in.takeType();
  p.a = p.b = Type::F16;
  p.c = in.takeType();
  if (!isOneOf(p.c, {Type::F16, Type::F32})) { // Inputs of other types are named.
    p.a = p.c;
    p.b = in.takeType();
    p.c = in.takeType();
  }
  if (in.failed())
    return;
  if (!isWmmaProduct(p))
    return in.fail("it has no product of this shape and these types that is simulated");
  in.expectOperands(4);
  std::vector<uint32_t> slots;
  appendFragment(in, 0, registersOf(p.m * p.n, p.d), p.d, true, slots);
  appendFragment(in, 1, Fragment{'a', p.a, p.m, p.k, false}.registers(), p.a, false, slots);
  appendFragment(in, 2, Fragment{'b', p.b, p.k, p.n, false}.registers(), p.b, false, slots);
  appendFragment(in, 3, registersOf(p.m * p.n, p.c), p.c, false, slots);
  in.inst.list = in.list(std::move(slots));
  in.inst.imm = packProduct(p);
  in.inst.run = [](const Inst *i, uint64_t *, Thread &t) -> const Inst * {
    return t.block->meet(t, i, ~0u, &multiplyFragments, true);
  };
}

constexpr Opcode kOpcodes[] = {
    {"mma", decodeMma},
    {"ldmatrix", decodeMatrices<true>},
    {"stmatrix", decodeMatrices<false>},
    {"movmatrix", decodeMovmatrix},
    {"wmma", decodeWmma},
};

} // namespace

std::span<const Opcode> matrixOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
