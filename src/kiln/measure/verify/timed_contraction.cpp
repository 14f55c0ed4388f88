#include "kiln/measure/verify/timed_contraction.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fmt/format.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"
#include "kiln/measure/verify/sampled_lines.h"
#include "kiln/measure/verify/tolerance.h"

namespace kiln::measure::verify {

//===--- Products -------------------------------------------------------------------------------------------------===//

namespace {

constexpr int64_t kRun = 1024; // elements that are converted at once, in the first-level cache
constexpr unsigned kThreads = 2;
// Independent sums, so that compilers make vectors of them.
constexpr int64_t kLanes = 8;

void load(const RealOperand &operand, bool down, int64_t b, int64_t row, int64_t column, int64_t count, double *out) {
  down ? operand.numbersDown(b, row, column, count, out) : operand.numbersAlong(b, row, column, count, out);
}

void load(const RealOperand &operand, bool down, int64_t b, int64_t row, int64_t column, int64_t count, uint32_t *out) {
  // The signed and the unsigned type may stand for each other.
  auto *integers = reinterpret_cast<int32_t *>(out);
  down ? operand.loadDown(b, row, column, count, integers) : operand.loadAlong(b, row, column, count, integers);
}

// `count` elements of row `row` from column `column` on, or of column `column` from row `row` on.
template <typename Sum>
void loadOf(const MatrixView &matrix, bool alongRow, int64_t row, int64_t column, int64_t count, Sum *out) {
  if (matrix.transposed)
    load(matrix.operand, alongRow, matrix.b, matrix.firstColumn + column, matrix.firstRow + row, count, out);
  else
    load(matrix.operand, !alongRow, matrix.b, matrix.firstRow + row, matrix.firstColumn + column, count, out);
}

template <typename Sum, int kVectors> void addDots(const Sum *run, const Sum *vectors, int64_t count, Sum *sums) {
  constexpr int64_t lanesOfEach = kVectors == 1 ? kLanes : 1;
  Sum lanes[kVectors * lanesOfEach] = {};
  int64_t i = 0;
  for (; i + lanesOfEach <= count; i += lanesOfEach)
    for (int64_t lane = 0; lane < kVectors * lanesOfEach; ++lane)
      lanes[lane] += run[i + (kVectors == 1 ? lane : 0)] * vectors[i * kVectors + lane];
  for (int64_t lane = 0; lane < kVectors * lanesOfEach; ++lane)
    sums[kVectors == 1 ? 0 : lane] += lanes[lane];
  for (; i < count; ++i)
    for (int64_t vector = 0; vector < kVectors; ++vector)
      sums[vector] += run[i] * vectors[i * kVectors + vector];
}

template <typename Sum, int kVectors>
void multiplyByRows(const MatrixView &matrix, const Sum *vectors, int64_t begin, int64_t end, Sum *out) {
  std::array<Sum, kRun> run;
  for (int64_t row = begin; row < end; ++row)
    for (int64_t column = 0; column < matrix.columns; column += kRun) {
      int64_t count = std::min(kRun, matrix.columns - column);
      loadOf(matrix, /*alongRow=*/true, row, column, count, run.data());
      addDots<Sum, kVectors>(run.data(), vectors + column * kVectors, count, out + row * kVectors);
    }
}

template <typename Sum, int kVectors>
void multiplyByColumns(const MatrixView &matrix, const Sum *vectors, int64_t begin, int64_t end, Sum *out) {
  std::array<Sum, kRun> run;
  for (int64_t row = begin; row < end; row += kRun) {
    int64_t count = std::min(kRun, end - row);
    for (int64_t column = 0; column < matrix.columns; ++column) {
      loadOf(matrix, /*alongRow=*/false, row, column, count, run.data());
      std::array<Sum, kVectors> factor;
      std::copy_n(vectors + column * kVectors, kVectors, factor.begin());
      for (int64_t i = 0; i < count; ++i)
        for (int64_t vector = 0; vector < kVectors; ++vector)
          out[(row + i) * kVectors + vector] += run[i] * factor[vector];
    }
  }
}

} // namespace

template <typename Sum, int kVectors>
std::vector<Sum> product(const MatrixView &matrix, const std::vector<Sum> &vectors) {
  std::vector<Sum> out(matrix.rows * kVectors);
  auto part = [&](int64_t begin, int64_t end) {
    bool byRows = matrix.operand.runsDown() == matrix.transposed;
    (byRows ? multiplyByRows<Sum, kVectors> : multiplyByColumns<Sum, kVectors>)(matrix, vectors.data(), begin, end,
                                                                                out.data());
  };
  forParts(matrix.rows, matrix.rows * std::max<int64_t>(matrix.columns, 1), kThreads, part);
  return out;
}
template std::vector<double> product<double, 1>(const MatrixView &, const std::vector<double> &);
template std::vector<double> product<double, kSampledLines>(const MatrixView &, const std::vector<double> &);
template std::vector<uint32_t> product<uint32_t, 1>(const MatrixView &, const std::vector<uint32_t> &);
template std::vector<uint32_t> product<uint32_t, kSampledLines>(const MatrixView &, const std::vector<uint32_t> &);

//===--- Projection -----------------------------------------------------------------------------------------------===//

float deviationOf(ElementType accumulator, ElementType result, int64_t terms, double meanSquare,
                  std::span<const float> weights, double ofCuts) {
  double ofWeights = 0;
  for (float weight : weights)
    ofWeights += double(weight) * double(weight);
  // A program may flush what is below the smallest normal number.
  double smallest = 0;
  for (ElementType type : {accumulator, result})
    if (std::optional<FloatFormat> format = floatFormat(type))
      smallest = std::max(smallest, std::ldexp(1.0, format->lowestExponent));
  double relative = relativeDeviation(accumulator, result, terms);
  return static_cast<float>(
      std::sqrt(ofWeights * (meanSquare * (relative * relative + ofCuts * ofCuts) + smallest * smallest)));
}

// Inputs are any f32 numbers: two of them that are cut off to tf32 take up to 2^-9 off their product, and 2^-10 on
// average. Sums are cut off, too.
double deviationOfCuts(const Contraction &c) {
  return std::hypot(c.tf32 ? 0x1p-10 : 0, relativeDeviationOfCuts(c));
}

namespace {

// Lines are cut into kBlocks where they are so long that this costs little beside the contraction, and into kManyBlocks
// where they are few: many sums tell more together.
constexpr int64_t kLongLine = 1024, kFewLines = 8;
constexpr int kBlocks = 8, kManyBlocks = 64;
static_assert(kBlocks == kSampledLines, "products are made for one vector and for so many");

io::TensorSpan flat(ElementType type, std::span<const uint8_t> bytes) {
  return {type, {}, bytes};
}

double resultMeanSquare(const Contraction &c, std::span<const uint8_t> lhs, std::span<const uint8_t> rhs,
                        std::span<const uint8_t> bias) {
  double ofBias = bias.empty() ? 0 : meanSquare(flat(c.result, bias));
  return double(c.k) * meanSquare(flat(c.lhs, lhs)) * meanSquare(flat(c.rhs, rhs)) + ofBias;
}

template <typename Sum, int kBlocks>
std::vector<Sum> expectedSums(const Contraction &c, const RealOperand &lhs, const RealOperand &rhs,
                              const LineCase<Sum> &subject) {
  std::vector<Sum> expected, weights(subject.weights.begin(), subject.weights.end());
  for (int64_t b = 0; b < c.batch; ++b) {
    // Block by block rhs times the weights, as one matrix of k x kBlocks.
    std::vector<Sum> projected(c.k * kBlocks);
    for (int64_t block = 0, at = 0; at < c.n; ++block, at += subject.block) {
      int64_t count = std::min(subject.block, c.n - at);
      std::vector<Sum> ofBlock =
          product<Sum, 1>({rhs, b, c.k, count, false, 0, at}, {weights.begin() + at, weights.begin() + at + count});
      for (int64_t p = 0; p < c.k; ++p)
        projected[p * kBlocks + block] = ofBlock[p];
    }
    std::vector<Sum> ofBatch = product<Sum, kBlocks>({lhs, b, c.m, c.k}, projected);
    int64_t used = (c.n + subject.block - 1) / subject.block;
    for (int64_t i = 0; i < c.m; ++i)
      expected.insert(expected.end(), ofBatch.begin() + i * kBlocks, ofBatch.begin() + i * kBlocks + used);
  }
  return expected;
}

// The sums of what lies together, without a bias and without what rounding may add.
template <typename Sum>
LineCase<Sum> projectionOf(const Contraction &c, const RealOperand &lhs, const RealOperand &rhs,
                           std::span<const uint64_t> outShape, uint64_t seed) {
  const int blocks = c.n < kLongLine ? 1 : c.m <= kFewLines ? kManyBlocks : kBlocks;
  LineCase<Sum> subject;
  subject.type = c.result;
  subject.shape.assign(outShape.begin(), outShape.end());
  subject.length = c.n;
  subject.block = (c.n + blocks - 1) / blocks;
  subject.weights = randomWeights<Sum>(seed, c.n);
  subject.expected = blocks == kManyBlocks ? expectedSums<Sum, kManyBlocks>(c, lhs, rhs, subject)
                     : blocks == kBlocks   ? expectedSums<Sum, kBlocks>(c, lhs, rhs, subject)
                                           : expectedSums<Sum, 1>(c, lhs, rhs, subject);
  return subject;
}

std::unique_ptr<TimedCheck> projectionOfReals(const Contraction &c, std::span<const uint8_t> lhs,
                                              std::span<const uint8_t> rhs, std::span<const uint8_t> bias,
                                              std::span<const uint64_t> outShape, uint64_t seed) {
  TensorOperand left(c.lhs, c.lhsLayout, lhs), right(c.rhs, c.rhsLayout, rhs);
  LineCase<double> subject = projectionOf<double>(c, left, right, outShape, seed);
  double results = resultMeanSquare(c, lhs, rhs, bias);
  std::vector<float> deviations;
  std::vector<double> ofBias;
  for (int64_t at = 0; at < c.n; at += subject.block) {
    int64_t count = std::min(subject.block, c.n - at);
    std::span<const float> weights(subject.weights.data() + at, static_cast<size_t>(count));
    deviations.push_back(deviationOf(c.accumulator, c.result, c.k, results, weights, deviationOfCuts(c)));
    std::vector<double> numbers(bias.empty() ? 0 : count);
    readElements(c.result, bias, static_cast<uint64_t>(at), numbers);
    ofBias.push_back(0);
    for (size_t j = 0; j < numbers.size(); ++j)
      ofBias.back() += numbers[j] * double(weights[j]);
  }
  subject.deviations.resize(subject.expected.size());
  for (size_t i = 0; i < subject.expected.size(); ++i) {
    subject.deviations[i] = deviations[i % deviations.size()];
    subject.expected[i] += ofBias[i % deviations.size()];
  }
  return checkOfLines(std::move(subject));
}

//===--- Sampled lines --------------------------------------------------------------------------------------------===//

struct SampledLines {
  ElementType type;
  std::vector<uint64_t> shape;
  int64_t m, n;
  std::array<int64_t, kSampledLines> rows, columns;
  std::array<std::vector<SampledElement>, kSampledLines> ofRows, ofColumns;
};

class SampledLineCheck final : public TimedCheck {
public:
  explicit SampledLineCheck(SampledLines given) : lines(std::move(given)) {}

  Verdict check(std::span<const io::TensorSpan> outputs) const override {
    if (std::string mismatch = mismatchOf(outputs, lines.type, lines.shape); !mismatch.empty())
      return timedFailure(mismatch, 1, 1, 0);
    const io::TensorSpan &output = outputs[0];
    auto total = static_cast<int64_t>(output.elementCount());
    if (!allFinite(lines.type, output.bytes.data(), total))
      return timedFailure("some elements are no numbers", 1, static_cast<uint64_t>(total), countPoisoned(output));
    SampledComparison comparison;
    std::vector<double> row(lines.n), column(lines.m);
    for (int at = 0; at < kSampledLines; ++at) {
      readElements(lines.type, output.bytes, static_cast<uint64_t>(lines.rows[at] * lines.n), row);
      comparison.add(lines.ofRows[at], row);
      for (int64_t i = 0; i < lines.m; ++i)
        readElements(lines.type, output.bytes, static_cast<uint64_t>(i * lines.n + lines.columns[at]),
                     std::span(&column[i], 1));
      comparison.add(lines.ofColumns[at], column);
    }
    return comparison.verdict(fmt::format("{0} rows and {0} columns", kSampledLines), output);
  }

private:
  SampledLines lines;
};

// What an element is that goes through a function, and how far off rounding may leave it.
class ActivatedElement {
public:
  ActivatedElement(const Contraction &c, double meanSquare, const std::function<double(double)> &activation)
      : activation(activation), scale(std::sqrt(meanSquare)), ofResult(relativeDeviationOfResult(c.result)) {
    const float one = 1;
    ofSum = deviationOf(c.accumulator, ElementType::F64, c.k, meanSquare, {&one, 1}, deviationOfCuts(c));
    smallest = std::ldexp(1.0, floatFormat(c.result)->lowestExponent);
  }

  SampledElement of(double sum, double bias) const {
    const double argument = sum + bias, value = activation(argument), step = 0x1p-10 * scale + smallest;
    const double slope = std::fabs(activation(argument + step) - activation(argument - step)) / (2 * step);
    // The sum may be rounded to the result's type before the bias is added, and before it goes through the function.
    const double rounded = ofResult * ofResult * (argument * argument + bias * bias + value * value);
    const double deviation = std::max(1.0, slope) * std::sqrt(ofSum * ofSum + rounded + smallest * smallest);
    // The function itself, within 16 roundoffs of f32.
    return {value, static_cast<float>(deviation), static_cast<float>(0x1p-20 * (1 + scale)), slope > 0.5};
  }

private:
  const std::function<double(double)> &activation;
  double scale, ofResult, ofSum, smallest;
};

// One of each of as many parts.
std::array<int64_t, kSampledLines> draw(int64_t extent, uint64_t key) {
  std::array<int64_t, kSampledLines> drawn;
  for (int64_t part = 0; part < kSampledLines; ++part) {
    int64_t begin = extent * part / kSampledLines, end = std::max(begin + 1, extent * (part + 1) / kSampledLines);
    drawn[part] =
        begin + static_cast<int64_t>(randomBits(key, static_cast<uint64_t>(part)) % static_cast<uint64_t>(end - begin));
  }
  return drawn;
}

} // namespace

std::unique_ptr<TimedCheck> timedContraction(const Contraction &contraction, std::span<const uint8_t> lhs,
                                             std::span<const uint8_t> rhs, std::span<const uint8_t> bias,
                                             std::span<const uint64_t> outShape, uint64_t seed) {
  if (!isInteger(contraction.result))
    return projectionOfReals(contraction, lhs, rhs, bias, outShape, seed);
  return timedContraction(contraction, TensorOperand(contraction.lhs, contraction.lhsLayout, lhs),
                          TensorOperand(contraction.rhs, contraction.rhsLayout, rhs), outShape, seed);
}

std::unique_ptr<TimedCheck> timedContraction(const Contraction &contraction, const RealOperand &lhs,
                                             const RealOperand &rhs, std::span<const uint64_t> outShape,
                                             uint64_t seed) {
  return checkOfLines(projectionOf<uint32_t>(contraction, lhs, rhs, outShape, seed));
}

std::unique_ptr<TimedCheck> timedActivation(const Contraction &c, std::span<const uint8_t> lhs,
                                            std::span<const uint8_t> rhs, std::span<const uint8_t> bias,
                                            std::span<const uint64_t> outShape,
                                            const std::function<double(double)> &activation, uint64_t seed) {
  TensorOperand left(c.lhs, c.lhsLayout, lhs), right(c.rhs, c.rhsLayout, rhs);
  SampledLines lines{.type = c.result,
                     .shape = {outShape.begin(), outShape.end()},
                     .m = c.m,
                     .n = c.n,
                     .rows = draw(c.m, randomBits(seed, 1)),
                     .columns = draw(c.n, randomBits(seed, 2)),
                     .ofRows = {},
                     .ofColumns = {}};
  // The sampled rows of lhs, and columns of rhs, as k x kSampledLines.
  std::vector<double> rows(c.k * kSampledLines), columns(c.k * kSampledLines), line(c.k), biases(c.n);
  for (int at = 0; at < kSampledLines; ++at) {
    left.numbersAlong(0, lines.rows[at], 0, c.k, line.data());
    for (int64_t p = 0; p < c.k; ++p)
      rows[p * kSampledLines + at] = line[p];
    right.numbersDown(0, 0, lines.columns[at], c.k, line.data());
    for (int64_t p = 0; p < c.k; ++p)
      columns[p * kSampledLines + at] = line[p];
  }
  readElements(c.result, bias, 0, biases);
  std::vector<double> ofRows = product<double, kSampledLines>({right, 0, c.n, c.k, /*transposed=*/true}, rows);
  std::vector<double> ofColumns = product<double, kSampledLines>({left, 0, c.m, c.k}, columns);
  const ActivatedElement element(c, resultMeanSquare(c, lhs, rhs, bias), activation);
  for (int at = 0; at < kSampledLines; ++at) {
    for (int64_t j = 0; j < c.n; ++j)
      lines.ofRows[at].push_back(element.of(ofRows[j * kSampledLines + at], biases[j]));
    for (int64_t i = 0; i < c.m; ++i)
      lines.ofColumns[at].push_back(element.of(ofColumns[i * kSampledLines + at], biases[lines.columns[at]]));
  }
  return std::make_unique<SampledLineCheck>(std::move(lines));
}

} // namespace kiln::measure::verify
