#include "kiln/families/reduction/workload/softmax_verification.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "kiln/families/reduction/workload/reduction_verification.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {

using hal::ElementType;
using namespace measure::verify;

//===--- What is right --------------------------------------------------------------------------------------------===//

// Half the distance from 1 to the next number of f32, in which softmax is computed.
static constexpr double kRoundoff = 0x1p-24;
// exp within 4 ULP, as for elementwise operations.
static constexpr double kExpRoundings = 8;

namespace {
// A row in f64.
struct Exponentials {
  std::vector<double> values; // exp(x - maximum)
  double sum = 0;
  double maximum = 0;
  double meanDistance = 0; // from the maximum, weighted by what each contributes to the sum

  explicit Exponentials(std::span<const double> row) : values(row.size()), maximum(*std::ranges::max_element(row)) {
    double distances = 0;
    for (size_t c = 0; c < row.size(); ++c) {
      double distance = maximum - row[c];
      values[c] = std::exp(-distance);
      sum += values[c];
      if (values[c] > 0)
        distances += values[c] * distance;
    }
    meanDistance = distances / sum;
  }
};
} // namespace

// Where every exponential is 1 or 0, they and their sum are exact in f32, in any order: exp(0) is 1, as C has it. So
// long sums are checked as closely as short ones, and no narrow accumulator hides behind what f32 may lose.
static bool isExactSum(const Exponentials &exponentials) {
  return exponentials.values.size() < (size_t(1) << 24) &&
         std::ranges::all_of(exponentials.values, [](double value) { return value == 0 || value == 1; });
}

static double withRounding(const RowSpec &spec, double value, double bound) {
  return spec.result == ElementType::F32 ? bound : bound + halfSpacing(spec.result, value + bound);
}

void softmaxRow(const RowSpec &spec, std::span<const double> row, std::span<Expectation> expected) {
  Exponentials exponentials(row);
  // The difference is rounded once, which exp turns into a relative error; then come exp, a sum of as many terms as
  // there are columns in any order, and a division, or an inverse and a product.
  double ofSum = exponentials.meanDistance + kExpRoundings + static_cast<double>(row.size());
  double ofExp = kExpRoundings;
  if (isExactSum(exponentials))
    ofSum = ofExp = 0;
  for (size_t c = 0; c < row.size(); ++c) {
    double value = exponentials.values[c] / exponentials.sum;
    double distance = value > 0 ? exponentials.maximum - row[c] : 0;
    double roundings = kRoundoff * (distance + ofExp + ofSum + 3);
    double bound = roundings < 1 ? value * roundings / (1 - roundings) + 8 * 0x1p-149 : HUGE_VAL;
    expected[c] = {value, withRounding(spec, value, bound)};
  }
}

//===--- What went wrong ------------------------------------------------------------------------------------------===//

namespace {

class Suspicions {
public:
  Suspicions(const RowSpec &spec, const io::TensorSpan &input) : spec(spec), input(input) {}

  std::vector<Suspicion> all() {
    add(Cause::NotANumber, "they are what exp without the row's maximum subtracted gives: large inputs overflow",
        [](std::span<const double> row, size_t column) {
          double sum = 0;
          for (double element : row)
            sum += inSinglePrecision(std::exp(element));
          return inSinglePrecision(std::exp(row[column])) / inSinglePrecision(sum);
        });
    add(Cause::Unknown, "they are exponentials that were not divided by their sum",
        [](std::span<const double> row, size_t column) { return Exponentials(row).values[column]; });
    if (std::optional<FloatFormat> format = floatFormat(spec.result); format && spec.result != ElementType::F32)
      add(Cause::NarrowAccumulator,
          fmt::format("they are exponentials that were rounded to {} before they were divided by their sum",
                      format->name),
          [format](std::span<const double> row, size_t column) {
            Exponentials exponentials(row);
            return roundTo(*format, exponentials.values[column]) / exponentials.sum;
          });
    for (uint64_t columns : shorterRows(spec.columns))
      add(Cause::DroppedTail,
          fmt::format("they are exponentials over the sum of the first {} of {} columns", columns, spec.columns),
          [columns](std::span<const double> row, size_t column) {
            Exponentials exponentials(row);
            double sum = 0;
            for (uint64_t c = 0; c < columns; ++c)
              sum += exponentials.values[c];
            return exponentials.values[column] / sum;
          });
    for (const Narrowing &narrowing : narrowings(spec.type))
      add(Cause::NarrowedInputs, fmt::format("they are the results for inputs {}", narrowing.text()),
          [narrowing](std::span<const double> row, size_t column) {
            Exponentials exponentials(narrowRow(row, narrowing));
            return exponentials.values[column] / exponentials.sum;
          });
    addNarrowSums();
    addSwapped();
    return std::move(found);
  }

private:
  void addNarrowSums() {
    for (const FloatFormat &format : {kFormatF16, kFormatBF16})
      for (size_t lanes = 1; lanes <= 256; lanes *= 2)
        add(Cause::NarrowAccumulator, narrowSumText(format, lanes),
            [format, lanes](std::span<const double> row, size_t column) {
              Exponentials exponentials(row);
              return exponentials.values[column] / narrowSum(format, exponentials.values, lanes);
            });
  }

  void addSwapped() {
    for (auto dimensions : equalDimensions(spec))
      found.push_back({Cause::SwappedLayout, "they are the results for an input read in the other layout",
                       [spec = spec, input = input, dimensions](uint64_t element) {
                         std::vector<Expectation> expected(spec.columns);
                         softmaxRow(spec, readSwappedRow(spec, input, element / spec.columns, dimensions), expected);
                         return expected[element % spec.columns];
                       }});
  }

  static double inSinglePrecision(double value) { return roundTo(kFormatF32, value); }

  void add(Cause cause, std::string reason, std::function<double(std::span<const double>, size_t)> expected) {
    found.push_back(
        {cause, std::move(reason), [expected = std::move(expected), spec = spec, input = input](uint64_t element) {
           std::vector<double> row = readRow(spec, input, element / spec.columns);
           double value = expected(row, element % spec.columns);
           double ofSum = isExactSum(Exponentials(row)) ? 8 : double(spec.columns) + 400;
           double bound = std::isfinite(value) ? value * kRoundoff * ofSum : 0;
           return Expectation{value, withRounding(spec, value, bound)};
         }});
  }

  const RowSpec &spec;
  const io::TensorSpan &input;
  std::vector<Suspicion> found;
};

} // namespace

Verdict checkSoftmax(const RowSpec &spec, RowPass pass, const io::TensorSpan &input, const io::TensorSpan &output) {
  ElementCase subject;
  subject.type = spec.result;
  subject.shape = {spec.rows, spec.columns};
  subject.bytes = output.bytes;
  subject.unit = spec.columns;
  subject.unitWork = spec.columns * 20;
  subject.expected = [&](uint64_t first, std::span<Expectation> expected) {
    std::vector<double> row(spec.columns);
    for (size_t done = 0; done < expected.size(); done += row.size()) {
      readElements(spec.type, input.bytes, first + done, row);
      softmaxRow(spec, row, expected.subspan(done, row.size()));
    }
  };
  subject.before = [&](uint64_t element) { return prefilledNumber(spec.result, rowPrefill(pass), element); };
  subject.mayFlush = true;
  subject.method = fmt::format("bound: rounding errors of f32 sums of {} exponentials", spec.columns);
  subject.suspicions = Suspicions(spec, input).all();
  return checkElements(subject);
}

} // namespace kiln::families
