#include "kiln/families/reduction/workload/norm_verification.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/families/reduction/workload/reduction_verification.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/line_check.h"
#include "kiln/measure/verify/narrowing.h"
#include "kiln/measure/verify/parts.h"

namespace kiln::families {

using hal::ElementType;
using namespace measure::verify;

//===--- Inputs ---------------------------------------------------------------------------------------------------===//

std::string_view normPassName(NormPass pass) {
  return pass == NormPass::Values ? "values" : "large";
}

RowNumbers normNumbers(const NormSpec &spec, NormPass pass, uint64_t seed, size_t input) {
  using Kind = RowNumbers::Kind;
  RowNumbers numbers;
  numbers.key = randomBits(seed, static_cast<uint64_t>(pass), 0x4E + input);
  numbers.columns = spec.columns;
  numbers.kind = input == 1                 ? Kind::Gamma
                 : input == 2               ? Kind::Beta
                 : pass == NormPass::Values ? Kind::NormValues
                                            : Kind::NormLarge;
  return numbers;
}

void fillNorm(const NormSpec &spec, NormPass pass, uint64_t seed, measure::MutableTensors inputs) {
  uint64_t size = hal::elementTypeByteSize(spec.type);
  for (size_t which = 0; which < inputs.size(); ++which) {
    const RowNumbers numbers = normNumbers(spec, pass, seed, which);
    auto rows = static_cast<int64_t>(which == 0 ? spec.rows : 1);
    forParts(rows, rows * static_cast<int64_t>(spec.columns) * 8, 2, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (uint64_t column = 0; column < spec.columns; ++column)
          writeElement(spec.type, numbers.at(row, column),
                       inputs[which].bytes.data() + (row * spec.columns + column) * size);
    });
  }
}

static Pass prefillOf(NormPass pass) {
  return pass == NormPass::Values ? Pass::Sums : Pass::WideRhs;
}

void prefillNorm(NormPass pass, const measure::MutableTensor &output) {
  prefillOutput(output.type, prefillOf(pass), output.bytes);
}

//===--- What is right --------------------------------------------------------------------------------------------===//

RowMoments momentsOf(const NormSpec &spec, std::span<const double> row) {
  const auto columns = static_cast<double>(row.size());
  RowMoments moments;
  moments.epsilon = kNormEpsilon;
  if (spec.isLayerNorm) {
    double sum = 0, magnitudes = 0;
    for (double x : row)
      sum += x, magnitudes += std::fabs(x);
    const bool areEqual = std::ranges::all_of(row, [&](double x) { return x == row[0]; });
    moments.setMean(sum, magnitudes, columns, RowMoments::isExactSum(areEqual, row[0], columns));
  }
  double squares = 0, distances = 0;
  for (double x : row) {
    double distance = x - moments.mean;
    squares += distance * distance, distances += std::fabs(distance);
  }
  moments.setVariance(squares, distances, columns);
  return moments;
}

Expectation normalizedElement(const NormSpec &spec, const RowMoments &moments, double x, double gamma, double beta) {
  return measure::verify::normalizedElement(widthOf(spec.type), moments, x, gamma, beta);
}

//===--- What went wrong ------------------------------------------------------------------------------------------===//

namespace {

// What is known of one element.
struct Place {
  std::span<const double> row;
  size_t column;
  double gamma, beta;
};

class NormCheck {
public:
  NormCheck(const NormSpec &spec, NormPass pass, measure::Tensors inputs)
      : spec(spec), pass(pass), rows(spec.asRows()), inputs(inputs), gamma(spec.columns), beta(spec.columns, 0.0) {
    readElements(spec.type, inputs[1].bytes, 0, gamma);
    if (spec.isLayerNorm)
      readElements(spec.type, inputs[2].bytes, 0, beta);
  }

  Verdict run(const io::TensorSpan &output) {
    ElementCase subject;
    subject.type = spec.type;
    subject.shape = spec.input().shape;
    subject.bytes = output.bytes;
    subject.unit = spec.columns;
    subject.unitWork = spec.columns * 8;
    subject.expected = [&](uint64_t first, std::span<Expectation> expected) {
      forRows(rows, inputs[0].bytes, first / spec.columns, expected.size() / spec.columns,
              [&](uint64_t row, std::span<const double> elements) {
                RowMoments moments = momentsOf(spec, elements);
                for (size_t c = 0; c < elements.size(); ++c)
                  expected[row * spec.columns - first + c] =
                      normalizedElement(spec, moments, elements[c], gamma[c], beta[c]);
              });
    };
    subject.before = [&](uint64_t element) { return prefilledNumber(spec.type, prefillOf(pass), element); };
    subject.mayFlush = true;
    subject.method = normMethod(spec);
    addSuspicions();
    subject.suspicions = std::move(found);
    return checkElements(subject);
  }

private:
  Expectation right(const Place &place) const {
    return normalizedElement(spec, momentsOf(spec, place.row), place.row[place.column], place.gamma, place.beta);
  }
  // With other moments, which are kept in f32 otherwise.
  Expectation withMoments(const Place &place, double mean, double variance) const {
    RowMoments moments = momentsOf(spec, place.row);
    moments.mean = mean, moments.variance = variance;
    return normalizedElement(spec, moments, place.row[place.column], place.gamma, place.beta);
  }

  static double inSinglePrecision(double value) { return roundTo(kFormatF32, value); }

  void add(Cause cause, std::string reason, std::function<Expectation(const Place &)> expected) {
    found.push_back({cause, std::move(reason), [this, expected = std::move(expected)](uint64_t element) {
                       std::vector<double> row = readRow(rows, inputs[0], element / spec.columns);
                       size_t column = element % spec.columns;
                       return expected({row, column, gamma[column], beta[column]});
                     }});
  }

  void addSuspicions() {
    addOtherFormulas();
    for (bool ofMean : {false, true})
      for (uint64_t columns : ofMean && !spec.isLayerNorm ? std::vector<uint64_t>() : shorterRows(spec.columns))
        add(Cause::DroppedTail,
            fmt::format("they are what {} of the first {} of {} columns gives",
                        !spec.isLayerNorm ? "the mean square"
                        : ofMean          ? "mean and variance"
                                          : "the variance",
                        columns, spec.columns),
            [this, columns, ofMean](const Place &place) {
              double mean = momentsOf(spec, place.row).mean, squares = 0;
              auto all = static_cast<double>(spec.columns);
              if (ofMean)
                mean = momentsOf(spec, place.row.first(columns)).mean * static_cast<double>(columns) / all;
              for (double x : place.row.first(columns))
                squares += (x - mean) * (x - mean);
              return withMoments(place, mean, squares / all);
            });
    for (const Narrowing &narrowing : narrowings(spec.type))
      add(Cause::NarrowedInputs, fmt::format("they are the results for inputs {}", narrowing.text()),
          [this, narrowing](const Place &place) {
            std::vector<double> narrow = narrowRow(place.row, narrowing);
            return right({narrow, place.column, narrowing.of(place.gamma), narrowing.of(place.beta)});
          });
    for (const FloatFormat &format : {kFormatF16, kFormatBF16})
      for (size_t lanes = 1; lanes <= 256; lanes *= 2)
        add(Cause::NarrowAccumulator, narrowSumText(format, lanes), [this, format, lanes](const Place &place) {
          auto columns = static_cast<double>(spec.columns);
          // All else is kept in f32: a last digit may decide how a sum is rounded.
          double mean = spec.isLayerNorm ? inSinglePrecision(narrowSum(format, place.row, lanes) / columns) : 0;
          std::vector<double> squares(place.row.begin(), place.row.end());
          for (double &x : squares) {
            double distance = inSinglePrecision(x - mean);
            x = inSinglePrecision(distance * distance);
          }
          return withMoments(place, mean, narrowSum(format, squares, lanes) / columns);
        });
    for (auto dimensions : equalDimensions(rows))
      found.push_back({Cause::SwappedLayout, "they are the results for an input read in the other layout",
                       [this, dimensions](uint64_t element) {
                         std::vector<double> row = readSwappedRow(rows, inputs[0], element / spec.columns, dimensions);
                         size_t column = element % spec.columns;
                         return right({row, column, gamma[column], beta[column]});
                       }});
  }

  void addOtherFormulas() {
    add(Cause::WrongEpilogue, "they are the results without gamma",
        [this](const Place &place) { return right({place.row, place.column, 1, place.beta}); });
    if (spec.isLayerNorm) {
      add(Cause::WrongEpilogue, "they are the results without beta",
          [this](const Place &place) { return right({place.row, place.column, place.gamma, 0}); });
      add(Cause::Unknown, "they are what the root of the mean square alone gives: the mean is not subtracted",
          [this](const Place &place) {
            NormSpec other = spec;
            other.isLayerNorm = false;
            return normalizedElement(spec, momentsOf(other, place.row), place.row[place.column], place.gamma,
                                     place.beta);
          });
      if (spec.columns > 1)
        add(Cause::Unknown, "they are what a variance gives that is a sum over one less than the number of columns",
            [this](const Place &place) {
              RowMoments moments = momentsOf(spec, place.row);
              auto columns = static_cast<double>(spec.columns);
              return withMoments(place, moments.mean, moments.variance * columns / (columns - 1));
            });
    }
    add(Cause::Unknown, "they are the results without epsilon", [this](const Place &place) {
      RowMoments moments = momentsOf(spec, place.row);
      if (moments.variance == 0)
        return Expectation{std::numeric_limits<double>::quiet_NaN(), 0};
      moments.epsilon = 0;
      return normalizedElement(spec, moments, place.row[place.column], place.gamma, place.beta);
    });
  }

  const NormSpec &spec;
  const NormPass pass;
  const RowSpec rows;
  const measure::Tensors inputs;
  std::vector<double> gamma, beta;
  std::vector<Suspicion> found;
};

} // namespace

std::string normMethod(const NormSpec &spec) {
  return fmt::format("bound: rounding errors of f32 sums of {} columns", spec.columns);
}

DeviceCase normOnDevice(const NormSpec &spec, NormPass pass, uint64_t seed) {
  DeviceCase subject{};
  subject.pass = prefillOf(pass);
  subject.seed = seed;
  subject.check = DeviceCase::Check::Rows;
  subject.rows = {.rule = spec.isLayerNorm ? DeviceRows::Rule::LayerNorm : DeviceRows::Rule::RmsNorm,
                  .type = spec.type,
                  .result = spec.type,
                  .rows = static_cast<int64_t>(spec.rows),
                  .columns = static_cast<int64_t>(spec.columns),
                  .epsilon = kNormEpsilon};
  for (size_t input = 0; input < spec.inputs().size(); ++input)
    subject.rows.inputs.push_back(normNumbers(spec, pass, seed, input));
  subject.right.method = normMethod(spec);
  subject.right.total = static_cast<uint64_t>(subject.rows.results());
  return subject;
}

Verdict checkNorm(const NormSpec &spec, NormPass pass, measure::Tensors inputs, const io::TensorSpan &output) {
  return NormCheck(spec, pass, inputs).run(output);
}

//===--- What was timed -------------------------------------------------------------------------------------------===//

// Twice what rounding adds to a row's moments in the root mean square, instead of at most: sums of many numbers are off
// by far less than their bounds, and a mean of a part of the row is not.
static RowMoments timedMoments(const NormSpec &spec, std::span<const double> row) {
  RowMoments moments = momentsOf(spec, row);
  double magnitudes = 0;
  for (double x : row)
    magnitudes += std::fabs(x);
  auto columns = static_cast<double>(row.size());
  // Numbers of a row are near its largest ones, where the type has so many for each exponent.
  double ofSum = 2 * relativeDeviationOfSum(columns, std::ldexp(1.0, floatFormat(spec.type)->significand - 1));
  moments.meanBound = spec.isLayerNorm ? ofSum * magnitudes / columns + kRowRoundoff * std::fabs(moments.mean) : 0;
  // Programs may sum squares, of which that of the mean is subtracted.
  moments.varianceBound = (ofSum + 8 * kRowRoundoff) * (moments.variance + moments.mean * moments.mean) +
                          moments.meanBound * moments.meanBound;
  return moments;
}

std::unique_ptr<TimedCheck> timedNorm(const NormSpec &spec, measure::Tensors inputs, uint64_t seed) {
  std::vector<measure::TensorType> expected = spec.inputs();
  if (!std::ranges::equal(inputs, expected, [](const io::TensorSpan &tensor, const measure::TensorType &type) {
        return tensor.type == type.type && std::ranges::equal(tensor.shape, type.shape);
      }))
    return nullptr;
  std::vector<double> gamma(spec.columns), beta(spec.columns, 0.0);
  readElements(spec.type, inputs[1].bytes, 0, gamma);
  if (spec.isLayerNorm)
    readElements(spec.type, inputs[2].bytes, 0, beta);
  LineCase<double> subject;
  subject.type = spec.type;
  subject.shape = spec.input().shape;
  subject.length = subject.block = static_cast<int64_t>(spec.columns);
  subject.weights = randomWeights<double>(seed, subject.length);
  subject.expected.resize(spec.rows);
  // Short rows are alike when they are normalized, those of two elements all the same.
  constexpr uint64_t kShortRow = 32;
  subject.arePooled = spec.columns >= kShortRow;
  subject.deviations.resize(spec.rows);
  auto rows = static_cast<int64_t>(spec.rows);
  forParts(rows, rows * subject.length * 4, 2, [&](int64_t begin, int64_t end) {
    forRows(spec.asRows(), inputs[0].bytes, begin, end - begin, [&](uint64_t row, std::span<const double> elements) {
      RowMoments moments = timedMoments(spec, elements);
      double sum = 0, squares = 0x1p-200;
      for (size_t c = 0; c < elements.size(); ++c) {
        Expectation element = normalizedElement(spec, moments, elements[c], gamma[c], beta[c]);
        double weight = subject.weights[c],
               off = weight * (element.bound + 3 * kRowRoundoff * std::fabs(element.value));
        sum += weight * element.value;
        squares += off * off;
      }
      subject.expected[row] = sum;
      // Roundings are uniform within half the spacing of numbers, of which their root mean square is a third's root.
      subject.deviations[row] = static_cast<float>(std::sqrt(squares / 3));
    });
  });
  return checkOfLines(std::move(subject));
}

} // namespace kiln::families
