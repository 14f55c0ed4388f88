// Rows of the output, and what their inputs give in f64.
#include <algorithm>
#include <cmath>

#include "kiln/families/reduction/workload/row_inputs.h"
#include "kiln/families/reduction/workload/row_timed_check.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/line_check.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"

namespace kiln::families {

using hal::ElementType;
using measure::verify::LineCase;
using measure::verify::readElements;

// Roundings of f32 of a softmax's element but for those of the sum: exp within 4 ULP, a difference, a quotient.
static constexpr double kSoftmaxRoundings = 24;

namespace {
struct Row {
  double value;
  float deviation;
};

double extremeOf(const RowSpec &spec, std::span<const double> row) {
  return spec.op == RowOp::Max ? *std::ranges::max_element(row) : *std::ranges::min_element(row);
}

double sumOf(std::span<const double> row) {
  constexpr size_t kLanes = 8;
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= row.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += row[i + lane];
  double sum = 0;
  for (double lane : lanes)
    sum += lane;
  for (; i < row.size(); ++i)
    sum += row[i];
  return sum;
}

// `meanSquare` is that of the inputs.
Row reduced(const RowSpec &spec, std::span<const double> row, double meanSquare) {
  if (spec.isExtremum()) {
    double value = extremeOf(spec, row);
    return {value, static_cast<float>(std::fabs(value) * 0x1p-24 / measure::verify::kLargestDeviation + 0x1p-126)};
  }
  auto columns = static_cast<double>(spec.columns), scale = spec.op == RowOp::Mean ? 1 / columns : 1.0;
  double relative =
      measure::verify::relativeDeviation(spec.accumulator(), spec.result, static_cast<int64_t>(spec.columns));
  double smallest = std::ldexp(1.0, measure::verify::floatFormat(spec.result)->lowestExponent);
  return {sumOf(row) * scale, static_cast<float>(std::sqrt(columns * meanSquare) * scale * relative + smallest)};
}

// The weighted sum of the row's softmax.
Row projectedSoftmax(const RowSpec &spec, std::span<const double> row, std::span<const float> weights) {
  measure::verify::FloatFormat format = *measure::verify::floatFormat(spec.result);
  double most = *std::ranges::max_element(row), sum = 0, projected = 0, squares = 0;
  // Half a unit of the smallest number, relative to the sum, which is at most the number of columns.
  double smallest = std::ldexp(1.0, format.lowestExponent - format.significand) * static_cast<double>(row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    double distance = most - row[i], value = std::exp(-distance);
    double bound = value * (format.unitRoundoff() + 0x1p-24 * (kSoftmaxRoundings + distance)) + smallest;
    sum += value;
    projected += value * weights[i];
    squares += double(weights[i]) * double(weights[i]) * bound * bound;
  }
  // What the sum loses is the same factor for the whole row. Elements within 2 of the maximum make most of the sum, and
  // are so many numbers at most as the type has there.
  double spacing = 2 * measure::verify::halfSpacing(spec.type, std::max(std::fabs(most), std::fabs(most - 2)));
  auto columns = static_cast<double>(row.size());
  double ofSum =
      std::min(columns * 0x1p-24 / 8, measure::verify::relativeDeviationOfSum(columns, std::max(1.0, 2 / spacing)));
  return {projected / sum, static_cast<float>((std::sqrt(squares) / 2 + ofSum * std::fabs(projected)) / sum)};
}

template <typename Sum> LineCase<Sum> emptyCase(const RowSpec &spec) {
  LineCase<Sum> subject;
  subject.type = spec.result;
  subject.shape = spec.output().shape;
  subject.expected.resize(spec.rowCount());
  subject.length = subject.block = spec.isSoftmax() ? static_cast<int64_t>(spec.columns) : 1;
  return subject;
}

// Calls set(r, row) for each row of the input, from several threads.
void forAllRows(const RowSpec &spec, const io::TensorSpan &input, auto set) {
  auto rows = static_cast<int64_t>(spec.rowCount());
  measure::verify::forParts(rows, rows * static_cast<int64_t>(spec.columns), 2,
                            [&](int64_t begin, int64_t end) { forRows(spec, input.bytes, begin, end - begin, set); });
}
} // namespace

std::unique_ptr<measure::verify::TimedCheck> timedRows(const RowSpec &spec, measure::Tensors inputs, uint64_t seed) {
  if (inputs.size() != 1 || inputs[0].type != spec.type || !std::ranges::equal(inputs[0].shape, spec.input().shape))
    return nullptr;
  if (measure::verify::isInteger(spec.result)) {
    auto subject = emptyCase<uint32_t>(spec);
    subject.weights = {1};
    forAllRows(spec, inputs[0], [&](uint64_t r, std::span<const double> row) {
      double value = spec.isExtremum() ? extremeOf(spec, row) : sumOf(row);
      subject.expected[r] = static_cast<uint32_t>(static_cast<int64_t>(value));
    });
    return checkOfLines(std::move(subject));
  }
  auto subject = emptyCase<double>(spec);
  subject.deviations.resize(spec.rowCount());
  subject.weights = {1};
  if (spec.isSoftmax())
    subject.weights = measure::verify::randomWeights<double>(seed, subject.length);
  double meanSquare = measure::verify::meanSquare(inputs[0]);
  forAllRows(spec, inputs[0], [&](uint64_t r, std::span<const double> row) {
    Row expected = spec.isSoftmax() ? projectedSoftmax(spec, row, subject.weights) : reduced(spec, row, meanSquare);
    subject.expected[r] = expected.value;
    subject.deviations[r] = expected.deviation;
  });
  return checkOfLines(std::move(subject));
}

} // namespace kiln::families
