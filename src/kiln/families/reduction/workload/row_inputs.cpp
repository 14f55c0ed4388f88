#include "kiln/families/reduction/workload/row_inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "kiln/base/random.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"

namespace kiln::families {

using hal::ElementType;

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

namespace {

// A number in [0, count).
uint64_t below(uint64_t bits, uint64_t count) {
  return static_cast<uint64_t>((static_cast<measure::verify::Int128>(bits) * count) >> 64);
}

// The elements of one row, before they are rounded to their type.
class RowMaker {
public:
  RowMaker(const RowSpec &spec, RowPass pass, uint64_t seed)
      : spec(spec), pass(pass), key(randomBits(seed, static_cast<uint64_t>(pass), 0x70)) {
    if (pass == RowPass::Sums)
      planSums();
  }

  void make(uint64_t row, std::span<double> elements) const {
    switch (pass) {
    case RowPass::Sums: return spec.type == ElementType::I8 ? makeBytes(row, elements) : makeSums(row, elements);
    case RowPass::Wide: return makeWide(row, elements);
    case RowPass::Values: return spec.isSoftmax() ? makeExponents(row, elements) : makeValues(row, elements);
    case RowPass::Special: return makeSpecial(row, elements);
    case RowPass::Large: return makeLarge(row, elements);
    }
  }

private:
  uint64_t random(uint64_t row, uint64_t column) const { return randomBits(key, row, column); }
  // One position in each row: the last, the first, or any, in turn.
  uint64_t place(uint64_t row) const {
    if (row % 4 < 2)
      return row % 4 == 0 ? spec.columns - 1 : 0;
    return below(random(row, uint64_t(1) << 40), spec.columns);
  }

  //===--- Sums
  //-----------------------------------------------------------------------------------------------------===//

  // The sum of a row's magnitudes is at most 2^24, so that f32 sums are exact in any order.
  void planSums() {
    int bits = measure::verify::exactBits(spec.type);
    double total = 0x1p24;
    magnitude = std::min(std::ldexp(1, std::min(bits - 1, 20)), std::floor(total / double(spec.columns)) - 1);
    if (magnitude < 1) {
      magnitude = 1;
      sparse = static_cast<uint64_t>(std::ceil(2 * double(spec.columns) / total));
    }
    // A result that is narrower than the sums takes pairs which cancel but for a few units.
    cancels = spec.op == RowOp::Sum && spec.result != spec.accumulator();
    double residues = std::ldexp(1, measure::verify::exactBits(spec.result) - 2);
    residueEvery = static_cast<uint64_t>(std::ceil(std::max(1.0, double(spec.columns) / residues)));
  }

  // All integers of 8 bits but zero, which may be left out; in every other row only large positive ones.
  void makeBytes(uint64_t row, std::span<double> elements) const {
    for (uint64_t c = 0; c < elements.size(); ++c) {
      double any = double(random(row, c) % 256) - 128;
      elements[c] = row % 2 ? double(64 + random(row, c) % 64) : any == 0 ? 1 : any;
    }
  }

  double plain(uint64_t row, uint64_t column) const {
    uint64_t bits = random(row, column);
    if (sparse > 1 && column % sparse != row % sparse)
      return 0;
    double value = 1 + double(below(bits, static_cast<uint64_t>(magnitude)));
    return row % 2 == 0 && bits % 2 ? -value : value;
  }

  void makeSums(uint64_t row, std::span<double> elements) const {
    if (!cancels) {
      for (uint64_t c = 0; c < elements.size(); ++c)
        elements[c] = plain(row, c);
      return;
    }
    uint64_t columns = elements.size();
    // Partners keep their order: a narrow accumulator that went up and came back the same way would lose what it had
    // gained in rounding.
    for (uint64_t c = 0; c < columns / 2; ++c) {
      double value = plain(row, c);
      double residue = value != 0 && c % residueEvery == 0 ? 1 : 0;
      elements[c] = value;
      elements[columns / 2 + c] = residue - value;
    }
    if (columns % 2)
      elements[columns - 1] = 2;
  }

  void makeWide(uint64_t row, std::span<double> elements) const {
    std::ranges::fill(elements, 0.0);
    int bits = measure::verify::exactBits(spec.type);
    uint64_t wide = (random(row, 0) >> (64 - bits)) | uint64_t(1) << (bits - 1) | 1;
    elements[place(row)] = row % 3 == 0 ? -double(wide) : double(wide);
  }

  //===--- Maximum and minimum
  //--------------------------------------------------------------------------------------===//

  // Every other row has one sign, so that a maximum which starts from zero shows; the others go beyond what outputs
  // hold before the run. A minimum gets the mirror image.
  void makeValues(uint64_t row, std::span<double> elements) const {
    bool bytes = spec.type == ElementType::I8;
    double unit = bytes ? 14 : row % 2 ? 100 : 10, top = row % 2 ? -1 : 8, range = row % 2 ? 8 : 16;
    for (uint64_t c = 0; c < elements.size(); ++c)
      elements[c] = unit * (top - range * fraction(random(row, c)));
    elements[place(row)] = unit * (top + 0.25 + 0.5 * fraction(random(row, elements.size())));
    for (double &element : elements) {
      element = bytes ? std::round(element) : element;
      element = spec.op == RowOp::Min ? -element : element;
    }
  }

  void makeSpecial(uint64_t row, std::span<double> elements) const {
    if (spec.type == ElementType::I8) {
      for (uint64_t c = 0; c < elements.size(); ++c)
        elements[c] = row % 4 == 0 ? (spec.op == RowOp::Max ? -128 : 127) : double(random(row, c) % 256) - 128;
      return;
    }
    measure::verify::FloatFormat format = *measure::verify::floatFormat(spec.type);
    double smallest = std::ldexp(1, format.lowestExponent - (format.significand - 1));
    double worst = spec.op == RowOp::Max ? -HUGE_VAL : HUGE_VAL;
    for (uint64_t c = 0; c < elements.size(); ++c) {
      uint64_t bits = random(row, c);
      double sign = bits % 2 ? -1 : 1;
      switch (row % 4) {
      case 0: elements[c] = worst; break;
      case 1: elements[c] = sign * smallest * double(bits >> 60); break;
      default: // Any exponent.
        elements[c] = sign * format.largest *
                      std::ldexp(1 - fraction(bits) / 2, -static_cast<int>(below(bits << 8, 2 * format.significand)));
        if (bits >> 61 == 0)
          elements[c] = bits >> 60 ? worst : 0.0;
      }
    }
    if (row % 4 == 3)
      elements[place(row / 4)] = -worst;
  }

  //===--- Softmax
  //--------------------------------------------------------------------------------------------------===//

  void makeExponents(uint64_t row, std::span<double> elements) const {
    for (uint64_t c = 0; c < elements.size(); ++c)
      elements[c] = 8 * fraction(random(row, c)) - 4;
    elements[place(row)] = 5;
  }

  // Every fourth row is of exponentials that are exactly 1 or 0. As many are 1 as f16 has no number for, where there
  // are so many columns: every sum of f16 is off by half a unit then, and so is the result by one. They
  // come first, so that a dropped tail does not look the same.
  void makeOnes(uint64_t row, std::span<double> elements) const {
    uint64_t ones = elements.size();
    for (uint64_t power = 2048; power <= 8192 && power + power / 2048 <= elements.size(); power *= 2)
      ones = power + power / 2048;
    for (uint64_t c = 0; c < elements.size(); ++c)
      elements[c] = c < ones ? (row % 8 < 4 ? -300 : 300) : -HUGE_VAL;
  }

  void makeLarge(uint64_t row, std::span<double> elements) const {
    if (row % 4 == 2)
      return makeOnes(row, elements);
    double offset = row % 2 ? -300 : 300;
    for (uint64_t c = 0; c < elements.size(); ++c) {
      uint64_t bits = random(row, c);
      elements[c] = bits % 16 == 0 ? -HUGE_VAL : offset + 8 * fraction(bits) - 4;
    }
    elements[place(row)] = offset + (row % 8 == 4 ? 60 : 5);
  }

  const RowSpec &spec;
  const RowPass pass;
  const uint64_t key;
  double magnitude = 1;
  uint64_t sparse = 1, residueEvery = 1;
  bool cancels = false;
};

} // namespace

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
  RowMaker maker(spec, pass, seed);
  uint64_t size = hal::elementTypeByteSize(spec.type);
  auto work = static_cast<int64_t>(spec.rowCount() * spec.columns * (size == 2 ? 16 : 4));
  measure::verify::forParts(static_cast<int64_t>(spec.rowCount()), work, 2, [&](int64_t begin, int64_t end) {
    std::vector<double> rows(kRowsTogether * spec.columns);
    forParts(spec, begin, end - begin, [&](uint64_t row, uint64_t together) {
      for (uint64_t r = 0; r < together; ++r)
        maker.make(row + r, std::span(rows).subspan(r * spec.columns, spec.columns));
      RowPlace place = placeOfRow(spec, row);
      for (uint64_t c = 0; c < spec.columns; ++c)
        for (uint64_t r = 0; r < together; ++r)
          measure::verify::writeElement(spec.type, rows[r * spec.columns + c],
                                        input.bytes.data() + (place.start + c * place.step + r) * size);
    });
  });
}

} // namespace kiln::families
