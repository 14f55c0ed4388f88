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

namespace {
// A row in f64.
struct Exponentials : RowExponentials {
  std::vector<double> values; // exp(x - maximum)
  double maximum = 0;

  explicit Exponentials(std::span<const double> row) : values(row.size()), maximum(*std::ranges::max_element(row)) {
    for (size_t c = 0; c < row.size(); ++c) {
      values[c] = std::exp(row[c] - maximum);
      add(values[c], maximum - row[c]);
    }
  }
};
} // namespace

void softmaxRow(const RowSpec &spec, std::span<const double> row, std::span<Expectation> expected) {
  const Exponentials exponentials(row);
  const NumberWidth width = widthOf(spec.result);
  for (size_t c = 0; c < row.size(); ++c)
    expected[c] = softmaxElement(width, exponentials, static_cast<double>(row.size()), exponentials.values[c],
                                 exponentials.maximum - row[c]);
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
           double ofSum = Exponentials(row).areExact ? 8 : double(spec.columns) + 400;
           return rounded(widthOf(spec.result), value, std::isfinite(value) ? value * kRowRoundoff * ofSum : 0);
         }});
  }

  const RowSpec &spec;
  const io::TensorSpan &input;
  std::vector<Suspicion> found;
};

} // namespace

std::string softmaxMethod(const RowSpec &spec) {
  return fmt::format("bound: rounding errors of f32 sums of {} exponentials", spec.columns);
}

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
  subject.method = softmaxMethod(spec);
  subject.suspicions = Suspicions(spec, input).all();
  return checkElements(subject);
}

} // namespace kiln::families
