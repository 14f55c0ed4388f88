#include "kiln/measure/verify/real.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"
#include "kiln/measure/verify/tolerance.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::measure::verify {

namespace {

constexpr uint64_t kLhs = 0x4C4853, kRhs = 0x524853, kSamples = 0x53414D50;
// Beyond so many powers of two, products of small numbers would vanish beside the f32 numbers that add up.
constexpr int kLargestRange = 48;
// Multiplications that a check takes about, and how many elements it looks at.
constexpr uint64_t kSampleWork = uint64_t(1) << 24, kFewestSamples = 256, kMostSamples = 4096;
// No number is beyond it.
constexpr double kLargestNormal = 4;

// Ends of the parts.
const std::vector<double> &normalQuantiles() {
  static const std::vector<double> quantiles = [] {
    std::vector<double> ends = {-kLargestNormal};
    for (int part = 1; part < kNormalParts; ++part) {
      double low = -kLargestNormal, high = kLargestNormal;
      while (high - low > 1e-12) {
        double middle = (low + high) / 2;
        (0.5 * std::erfc(-middle * std::sqrt(0.5)) * kNormalParts < part ? low : high) = middle;
      }
      ends.push_back(low);
    }
    ends.push_back(kLargestNormal);
    return ends;
  }();
  return quantiles;
}

double normalOf(const std::vector<double> &quantiles, uint64_t bits) {
  uint64_t part = bits >> (64 - kNormalPartBits);
  double within = std::ldexp(static_cast<double>(bits << kNormalPartBits >> 11), -53);
  return quantiles[part] + (quantiles[part + 1] - quantiles[part]) * within;
}

int exponentOf(uint64_t key, int64_t line, int range) {
  return static_cast<int>(randomBits(key ^ kScalesKey, static_cast<uint64_t>(line)) %
                          static_cast<uint64_t>(2 * range + 1)) -
         range;
}

double narrowNormal(uint64_t number) {
  return normalOf(normalQuantiles(), randomBits(kNarrowNumbers, number));
}

// Encoding narrow numbers is slow: for each exponent so many different ones are encoded once.
std::vector<uint8_t> narrowNumbers(ElementType type, int range) {
  uint64_t size = hal::elementTypeByteSize(type);
  std::vector<uint8_t> numbers(static_cast<size_t>(2 * range + 1) * kNarrowNumbers * size);
  for (int exponent = -range; exponent <= range; ++exponent)
    for (int i = 0; i < kNarrowNumbers; ++i) {
      io::storeFloat(type, std::ldexp(narrowNormal(static_cast<uint64_t>(i)), exponent),
                     numbers.data() + (static_cast<size_t>(exponent + range) * kNarrowNumbers + i) * size);
    }
  return numbers;
}

} // namespace

bool hasRealPass(const Contraction &contraction) {
  return !isInteger(contraction.result);
}

int realScaleRange(const Contraction &contraction) {
  // Largest sums: each product within 16, and few sums beyond 8 of their root mean square.
  double growth = 4 + std::log2(8 * std::sqrt(static_cast<double>(std::max<int64_t>(contraction.k, 1))));
  double range = kLargestRange;
  for (ElementType type : {contraction.result, contraction.accumulator})
    if (std::optional<FloatFormat> format = floatFormat(type))
      range = std::min(range, (std::floor(std::log2(format->largest)) - growth) / 2);
  for (ElementType type : {contraction.lhs, contraction.rhs})
    if (std::optional<FloatFormat> format = floatFormat(type))
      range = std::min({range, std::floor(std::log2(format->largest)) - 2, -format->lowestExponent / 2.0});
  return std::max(0, static_cast<int>(range));
}

static void fillMatrix(ElementType type, int64_t rows, int64_t columns, bool scalesRows, int range, uint64_t key,
                       std::span<uint8_t> bytes) {
  const std::vector<double> &quantiles = normalQuantiles();
  std::vector<uint8_t> narrow = type == ElementType::F32 ? std::vector<uint8_t>() : narrowNumbers(type, range);
  uint64_t size = hal::elementTypeByteSize(type);
  std::vector<int> exponents;
  for (int64_t line = 0; line < (scalesRows ? rows : columns); ++line)
    exponents.push_back(exponentOf(key, line, range));
  std::vector<float> powers;
  for (int exponent : exponents)
    powers.push_back(std::ldexp(1.0F, exponent));
  forParts(rows, rows * columns, 2, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        int64_t element = row * columns + column, line = scalesRows ? row : column;
        uint64_t bits = randomBits(key, static_cast<uint64_t>(element));
        uint8_t *out = bytes.data() + static_cast<uint64_t>(element) * size;
        if (narrow.empty()) {
          float number = static_cast<float>(normalOf(quantiles, bits)) * powers[line];
          std::memcpy(out, &number, sizeof(number));
        } else {
          uint64_t chosen = static_cast<uint64_t>(exponents[line] + range) * kNarrowNumbers + bits % kNarrowNumbers;
          std::memcpy(out, narrow.data() + chosen * size, size);
        }
      }
  });
}

void keepTF32(std::span<uint8_t> bytes) {
  constexpr uint32_t kept = ~((1U << (kFormatF32.significand - kFormatTF32.significand)) - 1);
  for (size_t at = 0; at + sizeof(uint32_t) <= bytes.size(); at += sizeof(uint32_t)) {
    uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, sizeof(bits));
    bits &= kept;
    std::memcpy(bytes.data() + at, &bits, sizeof(bits));
  }
}

// Of a matrix that is stored by columns, these are the rows.
static ScaledOperand scaledOperand(ElementType type, const Layout &layout, int64_t batch, int64_t rows, int64_t columns,
                                   bool scalesRows, int range, uint64_t key, bool tf32) {
  const bool rowMajor = layout.column == 1;
  return {
      type, batch, rowMajor ? rows : columns, rowMajor ? columns : rows, layout.batch, scalesRows == rowMajor, range,
      key,  tf32};
}

ScaledOperands realOperands(const Contraction &c, uint64_t seed) {
  int range = realScaleRange(c);
  return {scaledOperand(c.lhs, c.lhsLayout, c.batch, c.m, c.k, true, range, randomBits(seed, kLhs), c.tf32),
          scaledOperand(c.rhs, c.rhsLayout, c.batch, c.k, c.n, false, range, randomBits(seed, kRhs), c.tf32)};
}

void fillScaled(const ScaledOperand &operand, std::span<uint8_t> bytes) {
  const uint64_t size = hal::elementTypeByteSize(operand.type);
  for (int64_t b = 0; b < operand.batch; ++b)
    fillMatrix(operand.type, operand.rows, operand.columns, operand.scalesRows, operand.range,
               randomBits(operand.key, static_cast<uint64_t>(b)),
               bytes.subspan(static_cast<uint64_t>(b * operand.batchStride) * size,
                             static_cast<uint64_t>(operand.rows * operand.columns) * size));
  if (operand.tf32)
    keepTF32(bytes);
}

Status fillReal(const Contraction &contraction, uint64_t seed, std::span<uint8_t> lhsBytes,
                std::span<uint8_t> rhsBytes) {
  const ScaledOperands operands = realOperands(contraction, seed);
  fillScaled(operands.lhs, lhsBytes);
  fillScaled(operands.rhs, rhsBytes);
  return okStatus();
}

void storeScaled(const ScaledOperand &operand, int64_t b, int64_t element, uint8_t *out) {
  const uint64_t key = randomBits(operand.key, static_cast<uint64_t>(b)),
                 bits = randomBits(key, static_cast<uint64_t>(element));
  const int exponent =
      exponentOf(key, operand.scalesRows ? element / operand.columns : element % operand.columns, operand.range);
  const double number =
      operand.type == ElementType::F32 ? normalOf(normalQuantiles(), bits) : narrowNormal(bits % kNarrowNumbers);
  if (operand.type == ElementType::F32) {
    const float scaled = static_cast<float>(number) * std::ldexp(1.0F, exponent);
    std::memcpy(out, &scaled, sizeof(scaled));
  } else {
    io::storeFloat(operand.type, std::ldexp(number, exponent), out);
  }
  if (operand.tf32)
    keepTF32({out, hal::elementTypeByteSize(operand.type)});
}

std::vector<uint8_t> scaledNumbers(ElementType type, int range) {
  if (type != ElementType::F32)
    return narrowNumbers(type, range);
  const std::vector<double> &quantiles = normalQuantiles();
  std::vector<uint8_t> bytes(quantiles.size() * sizeof(double));
  std::memcpy(bytes.data(), quantiles.data(), bytes.size());
  return bytes;
}

SampleOptions realSamples(const Contraction &contraction, uint64_t seed) {
  uint64_t samples = kSampleWork / static_cast<uint64_t>(std::max<int64_t>(contraction.k, 1));
  return {
      .samples = std::clamp(samples, kFewestSamples, kMostSamples), .seed = randomBits(seed, kSamples), .model = true};
}

Verdict rightRealVerdict(const Contraction &contraction, uint64_t seed) {
  Verdict verdict;
  verdict.total = contraction.outputCount();
  verdict.method = fmt::format("bound: rounding errors of {} sums in {}, within the sqrt(k) model; {} of {} elements "
                               "were looked at",
                               contraction.k, hal::elementTypeName(contraction.accumulator),
                               samplePlaces(contraction, realSamples(contraction, seed)).size(), verdict.total);
  return verdict;
}

Verdict checkReal(const Contraction &contraction, uint64_t seed, const RealOperand &lhs, const RealOperand &rhs,
                  std::span<const uint8_t> outBytes) {
  Verdict verdict = checkWithinBound(contraction, lhs, rhs, outBytes, realSamples(contraction, seed));
  // Outputs hold NaN before the pass.
  uint64_t size = hal::elementTypeByteSize(contraction.result);
  bool untouched = verdict.cause == Cause::NotANumber;
  for (uint64_t at = 0; untouched && at + size <= outBytes.size(); at += size)
    untouched = std::isnan(io::elementAsDouble(contraction.result, outBytes.data() + at));
  if (untouched) {
    verdict.cause = Cause::NothingWritten;
    verdict.wrong = verdict.total;
    verdict.explanation = "all elements are NaN, as they were before the run";
  }
  // Single wrong elements are found by the exact passes. This pass looks for errors that all elements have in common,
  // which a sample of hundreds shows as well as all.
  verdict.escapeProbability = 0;
  return verdict;
}

} // namespace kiln::measure::verify
