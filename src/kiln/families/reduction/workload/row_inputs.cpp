#include "kiln/families/reduction/workload/row_inputs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "kiln/base/random.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"

namespace kiln::families {

using hal::ElementType;
using measure::verify::RowNumbers;

std::string_view rowPassName(RowPass pass) {
  switch (pass) {
  case RowPass::Sums: return "sums";
  case RowPass::Wide: return "wide";
  case RowPass::Values: return "values";
  case RowPass::Special: return "special";
  case RowPass::Large: return "large";
  }
  return "?";
}

std::vector<RowPass> rowPasses(const RowSpec &spec) {
  if (spec.isSoftmax())
    return {RowPass::Values, RowPass::Large};
  if (spec.isExtremum())
    return {RowPass::Values, RowPass::Special};
  // Integers have no width to lose.
  return spec.type == ElementType::I8 ? std::vector<RowPass>{RowPass::Sums}
                                      : std::vector<RowPass>{RowPass::Sums, RowPass::Wide};
}

// The sum of a row's magnitudes is at most 2^24, so that f32 sums are exact in any order.
static void planSums(const RowSpec &spec, RowNumbers &numbers) {
  const int bits = measure::verify::exactBits(spec.type);
  constexpr double kTotal = 0x1p24;
  numbers.magnitude = std::min(std::ldexp(1, std::min(bits - 1, 20)), std::floor(kTotal / double(spec.columns)) - 1);
  if (numbers.magnitude < 1) {
    numbers.magnitude = 1;
    numbers.sparse = static_cast<uint64_t>(std::ceil(2 * double(spec.columns) / kTotal));
  }
  // A result that is narrower than the sums takes pairs which cancel but for a few units.
  if (spec.op == RowOp::Sum && spec.result != spec.accumulator())
    numbers.kind = RowNumbers::Kind::Cancelling;
  const double residues = std::ldexp(1, measure::verify::exactBits(spec.result) - 2);
  numbers.residueEvery = static_cast<uint64_t>(std::ceil(std::max(1.0, double(spec.columns) / residues)));
}

RowNumbers rowNumbers(const RowSpec &spec, RowPass pass, uint64_t seed) {
  using Kind = RowNumbers::Kind;
  RowNumbers numbers;
  numbers.key = randomBits(seed, static_cast<uint64_t>(pass), 0x70);
  numbers.columns = spec.columns;
  numbers.isMinimum = spec.op == RowOp::Min;
  numbers.isBytes = spec.type == ElementType::I8;
  numbers.significand = measure::verify::exactBits(spec.type);
  if (const std::optional<measure::verify::FloatFormat> format = measure::verify::floatFormat(spec.type)) {
    numbers.smallest = std::ldexp(1, format->lowestExponent - (format->significand - 1));
    numbers.largest = format->largest;
  }
  switch (pass) {
  case RowPass::Sums:
    numbers.kind = numbers.isBytes ? Kind::Bytes : Kind::Sums;
    if (!numbers.isBytes)
      planSums(spec, numbers);
    break;
  case RowPass::Wide: numbers.kind = Kind::Wide; break;
  case RowPass::Values: numbers.kind = spec.isSoftmax() ? Kind::Exponents : Kind::Values; break;
  case RowPass::Special: numbers.kind = Kind::Special; break;
  case RowPass::Large: numbers.kind = Kind::Large; break;
  }
  return numbers;
}

// So many rows that lie side by side go through memory together.
static constexpr uint64_t kRowsTogether = 16;

// Calls part(row, count) for the rows from `first` on, in parts whose elements lie side by side.
static void forParts(const RowSpec &spec, uint64_t first, uint64_t count, auto part) {
  for (uint64_t row = first, end = first + count; row < end;) {
    uint64_t together = std::min({kRowsTogether, spec.inner - row % spec.inner, end - row});
    part(row, together);
    row += together;
  }
}

void forRows(const RowSpec &spec, std::span<const uint8_t> input, uint64_t first, uint64_t count,
             const std::function<void(uint64_t row, std::span<const double> elements)> &use) {
  std::vector<double> rows(kRowsTogether * spec.columns), across(kRowsTogether);
  forParts(spec, first, count, [&](uint64_t row, uint64_t together) {
    RowPlace place = placeOfRow(spec, row);
    if (place.step == 1) {
      measure::verify::readElements(spec.type, input, place.start, std::span(rows).first(spec.columns));
    } else {
      for (uint64_t c = 0; c < spec.columns; ++c) {
        measure::verify::readElements(spec.type, input, place.start + c * place.step,
                                      std::span(across).first(together));
        for (uint64_t r = 0; r < together; ++r)
          rows[r * spec.columns + c] = across[r];
      }
    }
    for (uint64_t r = 0; r < together; ++r)
      use(row + r, std::span(rows).subspan(r * spec.columns, spec.columns));
  });
}

void fillRows(const RowSpec &spec, RowPass pass, uint64_t seed, const measure::MutableTensor &input) {
  const RowNumbers numbers = rowNumbers(spec, pass, seed);
  uint64_t size = hal::elementTypeByteSize(spec.type);
  auto work = static_cast<int64_t>(spec.rowCount() * spec.columns * (size == 2 ? 16 : 4));
  measure::verify::forParts(static_cast<int64_t>(spec.rowCount()), work, 2, [&](int64_t begin, int64_t end) {
    std::vector<double> rows(kRowsTogether * spec.columns);
    forParts(spec, begin, end - begin, [&](uint64_t row, uint64_t together) {
      for (uint64_t r = 0; r < together; ++r)
        for (uint64_t c = 0; c < spec.columns; ++c)
          rows[r * spec.columns + c] = numbers.at(row + r, c);
      RowPlace place = placeOfRow(spec, row);
      for (uint64_t c = 0; c < spec.columns; ++c)
        for (uint64_t r = 0; r < together; ++r)
          measure::verify::writeElement(spec.type, rows[r * spec.columns + c],
                                        input.bytes.data() + (place.start + c * place.step + r) * size);
    });
  });
}

} // namespace kiln::families
