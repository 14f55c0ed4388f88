#include "kiln/families/matmul/workload/quantized_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kiln/measure/verify/element_inputs.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {

using measure::verify::largestInteger;
using measure::verify::randomBits;
using measure::verify::smallestInteger;

static constexpr uint64_t kLhs = 1, kRhs = 2, kScale = 3, kTerm = 4;
// Elements that are the smallest or the largest together: as many as instructions for 8-bit products take at once.
static constexpr uint64_t kRun = 4;
// No product with zero points is larger, so that sums of so many stay below 2^31.
static constexpr uint64_t kLargestProduct = 255 * 255, kMostProducts = ((uint64_t(1) << 31) - 1) / kLargestProduct;
// Both ends of the reduction take part for certain, as far as what is dropped there is likely to go.
static constexpr uint64_t kEnds = 64;
static constexpr uint64_t kMostTerms = 3;
// Results are spread so far, of 128 to each side.
static constexpr double kSpread = 60;

std::string_view passName(QuantizedPass pass) {
  switch (pass) {
  case QuantizedPass::Sums: return "sums";
  case QuantizedPass::Ties: return "ties";
  case QuantizedPass::NearTies: return "near-ties";
  }
  return "?";
}

std::span<const QuantizedPass> passesOf(const QuantizedSpec &spec) {
  static constexpr QuantizedPass all[] = {QuantizedPass::Sums, QuantizedPass::Ties, QuantizedPass::NearTies};
  return std::span(all).first(spec.requantizes() ? 3 : 1);
}

int32_t requantize(const QuantizedSpec &spec, int64_t sum, float scale) {
  // The sum is that of i32, wrapped around.
  auto real = static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(sum)));
  float scaled = real * scale;
  double result = std::nearbyint(double(scaled)) + spec.resultZero;
  return static_cast<int32_t>(
      std::clamp(result, double(smallestInteger(spec.result.type)), double(largestInteger(spec.result.type))));
}

//===--- Operands -------------------------------------------------------------------------------------------------===//

QuantizedInputs::QuantizedInputs(const QuantizedSpec &given, QuantizedPass pass, uint64_t seed)
    : spec(given), pass(pass), key(randomBits(seed, static_cast<uint64_t>(pass), 0x9A)) {
  // Each block of the reduction may have one more than its length says.
  constexpr uint64_t kRest = kMostProducts - 2 * kEnds - kBlocks;
  if (spec.k > kMostProducts)
    sparse = (spec.k - 2 * kEnds + kRest - 1) / kRest;
  if (!spec.requantizes())
    return;
  if (pass == QuantizedPass::Sums)
    makeTable();
  else
    makeTerms();
  makeScales();
}

uint64_t QuantizedInputs::blockOf(uint64_t p) const {
  return p * kBlocks / spec.k;
}

uint64_t QuantizedInputs::lineOf(uint64_t which, uint64_t index, uint64_t block) const {
  // Rows and columns of sums in i32 are all different.
  return spec.requantizes() ? randomBits(key ^ which, index, block) % kLines : index;
}

// Any number of 8 bits, as its bits: in every fourth run of positions the smallest or the largest of the type, and so
// in the first two of each line.
int32_t QuantizedInputs::dense(uint64_t which, uint64_t line, uint64_t p) const {
  ElementType type = which == kLhs ? spec.lhs.type : spec.rhs.type;
  uint64_t run = p / kRun, kind = randomBits(key + which, line, run) % 8;
  // Every fourth line of sums in i32 is large nearly everywhere, so that sums exceed what f32 has room for; and any
  // number in the rest, since runs alone would make multiples of four, which f32 has.
  if (!spec.requantizes() && line % 4 == 3)
    kind = kind == 0 ? 2 : 1;
  if (run < 2)
    kind = (line + (which == kLhs ? run : 0)) % 2;
  int64_t low = smallestInteger(type), value = kind == 0 ? low : largestInteger(type);
  if (kind >= 2)
    value = low + static_cast<int64_t>(randomBits(key + which + 0x100, line, p) & 0xFF);
  // What is multiplied by zero may be missing.
  if (value == (which == kLhs ? spec.lhsZero : spec.rhsZero) && p + kEnds >= spec.k)
    value ^= 1;
  return static_cast<int32_t>(value);
}

int32_t QuantizedInputs::lhsOfLine(uint64_t line, uint64_t p) const {
  return dense(kLhs, line, p);
}

int32_t QuantizedInputs::rhsOfLine(uint64_t line, uint64_t p) const {
  bool end = p < kEnds || p + kEnds >= spec.k;
  // Neighbouring lines have others each.
  if (sparse > 1 && !end && (key / 2 + line + p) % sparse != 0)
    return spec.rhsZero;
  return dense(kRhs, line, p);
}

int32_t QuantizedInputs::lhs(uint64_t row, uint64_t p) const {
  // With few products each element is looked at, so that any may be used.
  uint64_t line = pass == QuantizedPass::Sums ? lineOf(kLhs, row, blockOf(p)) : row;
  return lhsOfLine(line, p);
}

int32_t QuantizedInputs::rhs(uint64_t p, uint64_t column) const {
  if (pass == QuantizedPass::Sums)
    return rhsOfLine(lineOf(kRhs, column, blockOf(p)), p);
  for (uint64_t term = 0; term < termsOfColumn; ++term)
    if (const Term &of = terms[column * termsOfColumn + term]; of.place == p)
      return spec.rhsZero + of.factor;
  return spec.rhsZero;
}

//===--- Sums -----------------------------------------------------------------------------------------------------===//

void QuantizedInputs::makeTable() {
  table.assign(kBlocks * kLines * kLines, 0);
  std::array<int64_t, kLines> left, right;
  for (uint64_t p = 0; p < spec.k; ++p) {
    for (uint64_t line = 0; line < kLines; ++line) {
      left[line] = lhsOfLine(line, p) - spec.lhsZero;
      right[line] = rhsOfLine(line, p) - spec.rhsZero;
    }
    int64_t *sums = table.data() + blockOf(p) * kLines * kLines;
    for (uint64_t i = 0; i < kLines; ++i)
      for (uint64_t j = 0; j < kLines; ++j)
        sums[i * kLines + j] += left[i] * right[j];
  }
}

// Of each column so many places in different parts of the reduction, where rhs is next to its zero point.
void QuantizedInputs::makeTerms() {
  termsOfColumn = std::min(kMostTerms, spec.k);
  for (uint64_t j = 0; j < spec.n; ++j)
    for (uint64_t term = 0; term < termsOfColumn; ++term) {
      uint64_t begin = spec.k * term / termsOfColumn, end = spec.k * (term + 1) / termsOfColumn;
      uint64_t bits = randomBits(key + kTerm, j, term);
      int32_t factor = (bits & 1) ? 1 : -1;
      int32_t element = spec.rhsZero + factor;
      if (element < smallestInteger(spec.rhs.type) || element > largestInteger(spec.rhs.type))
        factor = -factor;
      // A dropped tail shows in every fourth column at least.
      bool last = j % 4 == 0 && end == spec.k;
      terms.push_back({last ? end - 1 : begin + (bits >> 8) % (end - begin), factor});
    }
}

int64_t QuantizedInputs::sum(uint64_t row, uint64_t column) const {
  int64_t total = 0;
  if (pass == QuantizedPass::Sums) {
    for (uint64_t block = 0; block < kBlocks; ++block)
      total += table[(block * kLines + lineOf(kLhs, row, block)) * kLines + lineOf(kRhs, column, block)];
    return total;
  }
  for (uint64_t term = 0; term < termsOfColumn; ++term) {
    const Term &of = terms[column * termsOfColumn + term];
    total += of.factor * (lhsOfLine(row, of.place) - spec.lhsZero);
  }
  return total;
}

//===--- Scales ---------------------------------------------------------------------------------------------------===//

void QuantizedInputs::makeScales() {
  static constexpr float kOfTies[] = {0.5F, 0.25F, 0.75F, 1.5F, 0.125F};
  // As f32 has them, the first and the third are smaller than the fractions, and the others larger.
  static constexpr float kOfNearTies[] = {5.0F / 6, 1.0F / 6, 7.0F / 10, 3.0F / 14, 1.0F / 10};
  double squares = 1;
  constexpr uint64_t kSamples = 256;
  if (pass == QuantizedPass::Sums)
    for (uint64_t sample = 0; sample < kSamples; ++sample) {
      auto total = double(sum(sample % spec.m, sample / 2 % spec.n));
      squares += total * total / kSamples;
    }
  for (uint64_t j = 0; j < (spec.perColumn ? spec.n : 1); ++j) {
    uint64_t bits = randomBits(key + kScale, j);
    // A scale of all columns is not so small that nothing is clamped.
    double random = std::ldexp(double(bits >> 11), -53), factor = spec.perColumn ? 0.5 + random : 1 + random / 8;
    if (pass == QuantizedPass::Sums)
      scales.push_back(static_cast<float>(kSpread / std::sqrt(squares) * factor));
    else
      // The first one of all columns makes the most halves.
      scales.push_back((pass == QuantizedPass::Ties ? kOfTies : kOfNearTies)[spec.perColumn ? bits % 5 : 0]);
  }
}

//===--- Filling --------------------------------------------------------------------------------------------------===//

Status fillQuantized(const QuantizedSpec &spec, QuantizedPass pass, uint64_t seed, measure::MutableTensors inputs) {
  QuantizedInputs numbers(spec, pass, seed);
  auto place = [](uint64_t element, uint64_t rows, uint64_t columns, bool columnMajor) {
    return columnMajor ? std::pair(element % rows, element / rows) : std::pair(element / columns, element % columns);
  };
  measure::verify::fillElements<uint8_t>(inputs[0].bytes, [&](uint64_t element) {
    auto [row, p] = place(element, spec.m, spec.k, spec.lhs.columnMajor);
    return static_cast<uint8_t>(numbers.lhs(row, p));
  });
  measure::verify::fillElements<uint8_t>(inputs[1].bytes, [&](uint64_t element) {
    auto [p, column] = place(element, spec.k, spec.n, spec.rhs.columnMajor);
    return static_cast<uint8_t>(numbers.rhs(p, column));
  });
  if (spec.requantizes())
    measure::verify::fillElements<float>(inputs[2].bytes, [&](uint64_t j) { return numbers.scale(j); });
  return okStatus();
}

} // namespace kiln::families
