// What requantized results are held against while they are timed. Integers have no poison that could not be a result,
// so that elements that look like it are computed again.
#include <algorithm>
#include <array>

#include "fmt/format.h"
#include "kiln/families/matmul/workload/quantized_verification.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/line_check.h"
#include "kiln/measure/verify/operand.h"
#include "kiln/measure/verify/parts.h"
#include "kiln/measure/verify/timed_contraction.h"

namespace kiln::families {

using measure::verify::Contraction;
using measure::verify::Layout;
using measure::verify::ShiftedOperand;
using measure::verify::TensorOperand;
using measure::verify::TimedCheck;
using measure::verify::Verdict;

namespace {

constexpr uint64_t kSampledLines = 8;
// Of each row, elements that hold what outputs held before, and are computed again.
constexpr uint64_t kSuspectsOfRow = 16;

ShiftedOperand lhsOf(const QuantizedSpec &spec, std::span<const uint8_t> bytes) {
  auto m = static_cast<int64_t>(spec.m), k = static_cast<int64_t>(spec.k);
  Layout layout = spec.lhs.columnMajor ? Layout::columnMajor(m, k) : Layout::rowMajor(m, k);
  return {TensorOperand(spec.lhs.type, layout, bytes), spec.lhsZero};
}

ShiftedOperand rhsOf(const QuantizedSpec &spec, std::span<const uint8_t> bytes) {
  auto k = static_cast<int64_t>(spec.k), n = static_cast<int64_t>(spec.n);
  Layout layout = spec.rhs.columnMajor ? Layout::columnMajor(k, n) : Layout::rowMajor(k, n);
  return {TensorOperand(spec.rhs.type, layout, bytes), spec.rhsZero};
}

class RequantizedTimedCheck final : public TimedCheck {
public:
  RequantizedTimedCheck(const QuantizedSpec &spec, measure::Tensors inputs, uint64_t seed) : spec(spec), seed(seed) {
    std::vector<double> numbers(spec.perColumn ? spec.n : 1);
    measure::verify::readElements(ElementType::F32, inputs[2].bytes, 0, numbers);
    scales.assign(numbers.begin(), numbers.end());
    copyOperands(inputs);
    draw(spec.m, 1, rows);
    draw(spec.n, 2, columns);
    for (uint64_t row : rows)
      for (uint64_t j = 0; j < spec.n; ++j)
        ofRows.push_back(expected(row, j));
    for (uint64_t i = 0; i < spec.m; ++i)
      for (uint64_t column : columns)
        ofColumns.push_back(expected(i, column));
  }

  Verdict check(measure::Tensors outputs) const override;

private:
  // Both with the reduction innermost.
  void copyOperands(measure::Tensors inputs) {
    auto k = static_cast<int64_t>(spec.k);
    std::vector<int32_t> line(spec.k);
    ShiftedOperand left = lhsOf(spec, inputs[0].bytes), right = rhsOf(spec, inputs[1].bytes);
    for (uint64_t i = 0; i < spec.m; ++i) {
      left.loadAlong(0, static_cast<int64_t>(i), 0, k, line.data());
      lhs.insert(lhs.end(), line.begin(), line.end());
    }
    for (uint64_t j = 0; j < spec.n; ++j) {
      right.loadDown(0, 0, static_cast<int64_t>(j), k, line.data());
      rhs.insert(rhs.end(), line.begin(), line.end());
    }
  }
  // One of each of as many parts.
  void draw(uint64_t extent, uint64_t key, std::array<uint64_t, kSampledLines> &drawn) const {
    for (uint64_t part = 0; part < kSampledLines; ++part) {
      uint64_t begin = extent * part / kSampledLines, end = std::max(begin + 1, extent * (part + 1) / kSampledLines);
      drawn[part] = begin + measure::verify::randomBits(seed, key, part) % (end - begin);
    }
  }
  uint8_t expected(uint64_t i, uint64_t j) const {
    const int16_t *left = lhs.data() + i * spec.k, *right = rhs.data() + j * spec.k;
    constexpr uint64_t kRun = 16384; // whose products stay within i32
    int64_t total = 0;
    for (uint64_t begin = 0; begin < spec.k; begin += kRun) {
      int32_t sum = 0;
      for (uint64_t p = begin; p < std::min(spec.k, begin + kRun); ++p)
        sum += int32_t(left[p]) * right[p];
      total += sum;
    }
    return static_cast<uint8_t>(requantize(spec, total, scales[spec.perColumn ? j : 0]));
  }
  uint64_t wrongSuspects(const uint8_t *bytes) const;

  QuantizedSpec spec;
  uint64_t seed;
  std::vector<float> scales;
  std::vector<int16_t> lhs, rhs;
  std::array<uint64_t, kSampledLines> rows, columns;
  std::vector<uint8_t> ofRows, ofColumns;
};

// Of each row a few of those elements that hold the poison, from a place on that nobody knows.
uint64_t RequantizedTimedCheck::wrongSuspects(const uint8_t *bytes) const {
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < spec.m; ++i) {
    const uint8_t *row = bytes + i * spec.n;
    std::vector<uint64_t> suspects;
    for (uint64_t j = 0; j < spec.n; ++j)
      if (row[j] == 0xFF)
        suspects.push_back(j);
    for (uint64_t at = 0; at < std::min<uint64_t>(suspects.size(), kSuspectsOfRow); ++at) {
      uint64_t chosen =
          suspects.size() <= kSuspectsOfRow ? at : measure::verify::randomBits(seed, 3 + i, at) % suspects.size();
      wrong += expected(i, suspects[chosen]) != 0xFF;
    }
  }
  return wrong;
}

Verdict RequantizedTimedCheck::check(measure::Tensors outputs) const {
  using measure::verify::timedFailure;
  if (std::string mismatch = measure::verify::mismatchOf(outputs, spec.result.type, spec.resultTensor().shape);
      !mismatch.empty())
    return timedFailure(mismatch, 1, 1, 0);
  const uint8_t *bytes = outputs[0].bytes.data();
  uint64_t wrong = 0, compared = kSampledLines * (spec.m + spec.n);
  for (uint64_t r = 0; r < kSampledLines; ++r)
    for (uint64_t j = 0; j < spec.n; ++j)
      wrong += bytes[rows[r] * spec.n + j] != ofRows[r * spec.n + j];
  for (uint64_t i = 0; i < spec.m; ++i)
    for (uint64_t c = 0; c < kSampledLines; ++c)
      wrong += bytes[i * spec.n + columns[c]] != ofColumns[i * kSampledLines + c];
  uint64_t poisoned = wrongSuspects(bytes);
  Verdict verdict;
  verdict.total = outputs[0].elementCount();
  verdict.method = fmt::format("{0} rows and {0} columns, and elements that may not have been written", kSampledLines);
  if (wrong + poisoned == 0)
    return verdict;
  std::string what =
      wrong ? fmt::format("{} of {} elements that were compared are not what the inputs give", wrong, compared)
            : fmt::format("{} elements that were computed again hold what was there before", poisoned);
  return timedFailure(what, wrong + poisoned, compared, poisoned);
}

} // namespace

std::unique_ptr<TimedCheck> timedQuantized(const QuantizedSpec &spec, measure::Tensors inputs, uint64_t seed) {
  if (!checkQuantizedInputs(spec, inputs).ok())
    return nullptr;
  if (spec.requantizes())
    return std::make_unique<RequantizedTimedCheck>(spec, inputs, seed);
  Contraction contraction =
      Contraction::dense(1, static_cast<int64_t>(spec.m), static_cast<int64_t>(spec.n), static_cast<int64_t>(spec.k),
                         ElementType::I8, ElementType::I32, ElementType::I32);
  return measure::verify::timedContraction(contraction, lhsOf(spec, inputs[0].bytes), rhsOf(spec, inputs[1].bytes),
                                           spec.resultTensor().shape, seed);
}

} // namespace kiln::families
