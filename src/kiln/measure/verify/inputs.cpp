#include "kiln/measure/verify/inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::measure::verify {

namespace {

// Elements are kept to so many bits: the check computes with 32-bit integers.
constexpr int kMostBits = 30;
// Results keep this distance from the end of a narrow type's exact integers: room for what an output held before.
constexpr double kHeadroom = 64;
// A bias that is larger than any sum takes one of these; the other leaves the result well above zero.
constexpr int kBitsForBias = 2;
// Random signs make the sum of k products grow with the root of k. Sums of this size keep five standard deviations
// within f16's range, and are far above its 2^11.
constexpr double kTypicalSums = 36000;
constexpr double kSmallSums = 2048;
// What is dropped at an end of the reduction is seldom more than a few vectors.
constexpr int64_t kMostEnds = 64, kEndsOneIn = 16;
constexpr int64_t kMostSlots = 16, kMostOneIn = 4; // elements that are not zero against a wide operand

int sumBits(const Contraction &contraction) {
  return std::min(exactBits(contraction.accumulator), kMostBits);
}

int resultBits(const Contraction &contraction) {
  return std::min(exactBits(contraction.result), kMostBits);
}

} // namespace

InputPlan InputPlan::make(const Contraction &contraction, Pass pass, uint64_t seed, int64_t taps, bool roomForBias) {
  InputPlan plan;
  plan.taps = std::max<int64_t>(taps, 1);
  plan.reduction = contraction.k / plan.taps;
  plan.spare = roomForBias ? kBitsForBias : 0;
  plan.integers = isInteger(contraction.lhs);
  uint64_t key = randomBits(seed, static_cast<uint64_t>(pass) + 1);
  plan.lhsSide.key = randomBits(key, 1);
  plan.rhsSide.key = randomBits(key, 2);
  // An i32 holds one less than 2^31.
  plan.limit = plan.integers ? std::ldexp(1.0, exactBits(contraction.accumulator) - plan.spare) - 1
                             : std::ldexp(1.0, sumBits(contraction) - plan.spare);
  if (pass == Pass::Sums || plan.integers)
    plan.planSums(contraction);
  else if (pass == Pass::WideLhs)
    plan.planWide(contraction, plan.lhsSide, plan.rhsSide, 1);
  else
    plan.planWide(contraction, plan.rhsSide, plan.lhsSide, plan.taps);
  return plan;
}

double InputPlan::magnitude(const Side &side) {
  return std::max<double>(side.high, -side.low);
}

void InputPlan::planSums(const Contraction &contraction) {
  auto k = static_cast<double>(std::max<int64_t>(contraction.k, 1));
  lhsSide.lines = contraction.batch + contraction.m - 1;
  rhsSide.lines = contraction.batch + contraction.n - 1;
  double finalLimit = limit;
  if (!integers && resultBits(contraction) < sumBits(contraction)) {
    finalLimit = std::ldexp(1.0, resultBits(contraction) - (spare ? 1 : 0)) - kHeadroom;
    cancels = reduction >= 2;
    if (!cancels)
      limit = std::min(limit, finalLimit);
  }
  resultBound = std::min(limit, finalLimit);
  // What does not cancel comes on top of the products of the largest elements.
  double room = cancels ? limit - finalLimit : limit, product = room / k;
  if (!integers && contraction.accumulator != ElementType::F64)
    product = std::min(product, kTypicalSums / std::sqrt(k));
  auto largest = static_cast<int32_t>(std::clamp(std::floor(std::sqrt(product)), 1.0, 0x1p15));
  for (auto [side, type] : {std::pair(&lhsSide, contraction.lhs), std::pair(&rhsSide, contraction.rhs)}) {
    side->high = std::min(largest, static_cast<int32_t>(1) << std::min(contraction.operandBits(type), kMostBits));
    side->low = -side->high;
    if (integers) {
      side->high = static_cast<int32_t>(std::min<int64_t>(largest, largestInteger(type)));
      side->low = static_cast<int32_t>(std::max<int64_t>(-largest, smallestInteger(type)));
    }
  }
  if (cancels)
    planCancelling(std::floor(finalLimit / static_cast<double>(taps)));
  // Where types or limits keep elements small, random signs keep sums below what f16 holds; one sign does not.
  double typicalSum = magnitude(lhsSide) * magnitude(rhsSide) * std::sqrt(k) / 3;
  lhsSide.biased = rhsSide.biased = integers || typicalSum < kSmallSums;
  planEnds(room, contraction.slice);
}

// Of k products, which are 1 or -1 where they are too many, so many may be other than zero: those at the ends, and of
// the rest as many as there is room for. The side with more lines has more positions that are not zero in one of them.
void InputPlan::planEnds(double room, int64_t slice) {
  piece = std::max<int64_t>(1, slice > 0 ? std::min(slice, reduction) : reduction);
  auto perTap = static_cast<int64_t>(room) / taps;
  int64_t pieces = divideUp(reduction, piece);
  ends = std::min({kMostEnds, piece / kEndsOneIn, perTap / (8 * std::max<int64_t>(pieces, 1))});
  double product = magnitude(lhsSide) * magnitude(rhsSide);
  if (product * double(reduction) <= double(perTap))
    return;
  int64_t atEnds = 2 * ends * pieces;
  // A run of positions has one more than its length says, and so has its mirror image.
  int64_t rest = std::max<int64_t>(1, perTap - atEnds - 2);
  (rhsSide.lines > lhsSide.lines ? rhsSide : lhsSide).sparse = divideUp(std::max<int64_t>(1, reduction - atEnds), rest);
}

double InputPlan::usedPart() const {
  const Side &side = lhsSide.sparse > 1 ? lhsSide : rhsSide;
  if (side.sparse <= std::max<int64_t>(side.lines, 1))
    return 1;
  double atEnds = std::min(1.0, 2.0 * double(ends) / double(piece));
  return atEnds + (1 - atEnds) * double(side.lines) / double(side.sparse);
}

// Per tap, what is left over is at most: residues on the left times elements on the right, the other way round, one
// for each pair that has both, and the product of the positions in the middle.
void InputPlan::planCancelling(double finalLimit) {
  int32_t middle = reduction % 2 == 0 || finalLimit < 1 ? 0 : finalLimit < 24 ? 1 : 3;
  double rest = finalLimit - double(middle) * middle;
  auto cap = static_cast<int32_t>(std::max(1.0, std::floor(rest / 6)));
  for (Side *side : {&lhsSide, &rhsSide}) {
    side->high = std::min(side->high, cap);
    side->low = -side->high;
    side->middle = middle;
  }
  auto residues = static_cast<int64_t>(rest / (double(lhsSide.high) + rhsSide.high + 1));
  if (residues < 1)
    return;
  int64_t every = divideUp(reduction / 2, residues);
  lhsSide.residueEvery = rhsSide.residueEvery = every;
}

void InputPlan::planWide(const Contraction &contraction, Side &wide, Side &narrow, int64_t wideTaps) {
  int bits = std::min(sumBits(contraction), resultBits(contraction)) - spare;
  resultBound = std::ldexp(1.0, bits);
  int tapBits = std::bit_width(static_cast<uint64_t>(wideTaps - 1));
  ElementType type = &wide == &lhsSide ? contraction.lhs : contraction.rhs;
  wide.wideBits = std::max(1, std::min(contraction.operandBits(type), bits - tapBits));
  int rest = std::max(0, bits - tapBits - wide.wideBits);
  int64_t sparse = std::max<int64_t>(1, contraction.k / (taps * kMostOneIn));
  narrow.slots = std::min({kMostSlots, sparse, int64_t(1) << std::min(rest, 8)});
  narrow.high = 1;
}

namespace {

// The bits of each small integer in a narrow type.
constexpr int32_t kTableRange = 2048;

std::vector<uint16_t> makeTable(ElementType type) {
  std::vector<uint16_t> table(2 * kTableRange + 1);
  for (int32_t value = -kTableRange; value <= kTableRange; ++value) {
    uint8_t bytes[2] = {};
    io::storeFloat(type, value, bytes);
    table[value + kTableRange] = static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
  }
  return table;
}

uint16_t narrowBits(ElementType type, int32_t value) {
  static const std::vector<uint16_t> f16 = makeTable(ElementType::F16), bf16 = makeTable(ElementType::BF16);
  return (type == ElementType::F16 ? f16 : bf16)[value + kTableRange];
}

template <typename T> void write(T value, uint8_t *element) {
  std::memcpy(element, &value, sizeof(T));
}

// element(line, position) for each line (a row of lhs, a column of rhs) and position of the reduction in [begin, end).
template <typename Element>
void fill(ElementType type, const Layout &layout, int64_t lineStride, int64_t positionStride,
          const std::vector<uint64_t> &lines, int64_t b, int64_t begin, int64_t end, uint8_t *bytes, Element element) {
  auto elementBytes = static_cast<int64_t>(hal::elementTypeByteSize(type));
  uint8_t *start = bytes + layout.offset(b, 0, 0) * elementBytes;
  auto count = static_cast<int64_t>(lines.size());
  auto fillWith = [&](auto store) {
    auto one = [&](int64_t line, int64_t position) {
      store(element(lines[line], position), start + (line * lineStride + position * positionStride) * elementBytes);
    };
    if (lineStride >= positionStride) {
      for (int64_t line = 0; line < count; ++line)
        for (int64_t position = begin; position < end; ++position)
          one(line, position);
    } else {
      for (int64_t position = begin; position < end; ++position)
        for (int64_t line = 0; line < count; ++line)
          one(line, position);
    }
  };
  if (type == ElementType::F32) // not to ask for the type of each element
    fillWith([](int32_t value, uint8_t *at) { write(static_cast<float>(value), at); });
  else
    fillWith([&](int32_t value, uint8_t *at) { storeInteger(type, value, at); });
}

// The same of an operand that is zero but for one element in each slot of a line: none of the others is looked at.
// Zero has no bits in any type.
void fillSparse(ElementType type, const Layout &layout, int64_t lineStride, int64_t positionStride,
                const std::vector<uint64_t> &lines, int64_t b, int64_t begin, int64_t end, uint8_t *bytes,
                const InputPlan &plan, bool isLhs) {
  auto size = static_cast<int64_t>(hal::elementTypeByteSize(type));
  uint8_t *start = bytes + layout.offset(b, 0, 0) * size;
  auto count = static_cast<int64_t>(lines.size());
  auto at = [&](int64_t line, int64_t position) {
    return start + (line * lineStride + position * positionStride) * size;
  };
  if (positionStride == 1)
    for (int64_t line = 0; line < count; ++line)
      std::memset(at(line, begin), 0, (end - begin) * size);
  else
    for (int64_t position = begin; position < end; ++position)
      for (int64_t line = 0; line < count; line += lineStride == 1 ? count : 1)
        std::memset(at(line, position), 0, (lineStride == 1 ? count : 1) * size);
  for (int64_t line = 0; line < count; ++line)
    for (int64_t slot = 0; slot < plan.slots(isLhs); ++slot) {
      InputNumbers::Single single = plan.single(isLhs, lines[line], slot);
      if (single.position >= begin && single.position < end)
        storeInteger(type, single.value, at(line, single.position));
    }
}

} // namespace

void storeInteger(ElementType type, int32_t value, uint8_t *element) {
  switch (type) {
  case ElementType::F32: return write(static_cast<float>(value), element);
  case ElementType::F64: return write(static_cast<double>(value), element);
  case ElementType::F16:
  case ElementType::BF16:
    if (value >= -kTableRange && value <= kTableRange)
      return write(narrowBits(type, value), element);
    return io::storeFloat(type, value, element);
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2: return io::storeFloat(type, value, element);
  default: std::memcpy(element, &value, std::min<uint64_t>(hal::elementTypeByteSize(type), 4));
  }
}

// Both operands at the positions [begin, end) of the reduction.
static void fillPart(const Contraction &contraction, const InputPlan &plan, int64_t begin, int64_t end, uint8_t *lhs,
                     uint8_t *rhs) {
  const Contraction &c = contraction;
  std::vector<uint64_t> rows(c.m), columns(c.n);
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t i = 0; i < c.m; ++i)
      rows[i] = plan.lhsLine(b, i);
    for (int64_t j = 0; j < c.n; ++j)
      columns[j] = plan.rhsLine(b, j);
    if (plan.slots(/*isLhs=*/true) > 0)
      fillSparse(c.lhs, c.lhsLayout, c.lhsLayout.row, c.lhsLayout.column, rows, b, begin, end, lhs, plan, true);
    else
      fill(c.lhs, c.lhsLayout, c.lhsLayout.row, c.lhsLayout.column, rows, b, begin, end, lhs,
           [&](uint64_t line, int64_t p) { return plan.lhsOf(line, p); });
    if (plan.slots(/*isLhs=*/false) > 0)
      fillSparse(c.rhs, c.rhsLayout, c.rhsLayout.column, c.rhsLayout.row, columns, b, begin, end, rhs, plan, false);
    else
      fill(c.rhs, c.rhsLayout, c.rhsLayout.column, c.rhsLayout.row, columns, b, begin, end, rhs,
           [&](uint64_t line, int64_t p) { return plan.rhsOf(line, 0, p); });
  }
}

Status fillInputs(const Contraction &contraction, Pass pass, uint64_t seed, std::span<uint8_t> lhsBytes,
                  std::span<uint8_t> rhsBytes, unsigned threads, bool roomForBias) {
  Contraction withoutOutput = contraction;
  withoutOutput.outLayout = {}; // there is none yet: a layout that reaches one element
  KILN_RETURN_IF_ERROR(withoutOutput.validate(lhsBytes.size(), rhsBytes.size(), sizeof(uint64_t)));
  InputPlan plan = InputPlan::make(contraction, pass, seed, 1, roomForBias);
  auto part = [&](int64_t begin, int64_t end) {
    fillPart(contraction, plan, begin, end, lhsBytes.data(), rhsBytes.data());
  };
  forParts(contraction.k, contraction.k * (contraction.m + contraction.n) * contraction.batch, threads, part);
  return okStatus();
}

void prefillOutput(ElementType type, Pass pass, std::span<uint8_t> outBytes) {
  if (pass == Pass::WideRhs && !isInteger(type)) {
    std::memset(outBytes.data(), 0xFF, outBytes.size());
    return;
  }
  auto size = static_cast<int64_t>(hal::elementTypeByteSize(type));
  auto count = static_cast<int64_t>(outBytes.size()) / size;
  forParts(count, count, 2, [&](int64_t begin, int64_t end) {
    for (int64_t element = begin; element < end; ++element)
      storeInteger(type, InputNumbers::prefill(element), outBytes.data() + element * size);
  });
}

double prefilledNumber(ElementType type, Pass pass, uint64_t element) {
  if (pass == Pass::WideRhs && !isInteger(type))
    return std::numeric_limits<double>::quiet_NaN();
  return InputNumbers::prefill(element);
}

} // namespace kiln::measure::verify
