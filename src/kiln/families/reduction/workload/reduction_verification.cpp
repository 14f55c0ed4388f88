#include "kiln/families/reduction/workload/reduction_verification.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "kiln/measure/verify/number.h"

namespace kiln::families {

using hal::ElementType;
using namespace measure::verify;

Pass rowPrefill(RowPass pass) {
  return pass == RowPass::Wide || pass == RowPass::Special ? Pass::WideRhs : Pass::Sums;
}

std::vector<double> readRow(const RowSpec &spec, const io::TensorSpan &input, uint64_t row) {
  std::vector<double> numbers;
  forRows(spec, input.bytes, row, 1,
          [&](uint64_t, std::span<const double> elements) { numbers.assign(elements.begin(), elements.end()); });
  return numbers;
}

std::vector<double> readSwappedRow(const RowSpec &spec, const io::TensorSpan &input, uint64_t row,
                                   std::pair<size_t, size_t> dimensions) {
  std::vector<double> numbers(spec.columns);
  for (uint64_t c = 0; c < spec.columns; ++c) {
    std::array<uint64_t, 3> at = {row / spec.inner, c, row % spec.inner};
    std::swap(at[dimensions.first], at[dimensions.second]);
    readElements(spec.type, input.bytes, (at[0] * spec.columns + at[1]) * spec.inner + at[2], {&numbers[c], 1});
  }
  return numbers;
}

std::vector<std::pair<size_t, size_t>> equalDimensions(const RowSpec &spec) {
  std::array<uint64_t, 3> shape = {spec.rows, spec.columns, spec.inner};
  std::vector<std::pair<size_t, size_t>> equal;
  for (auto [a, b] : {std::pair<size_t, size_t>{1, 2}, {0, 2}, {0, 1}})
    if (shape[a] == shape[b] && shape[a] > 1)
      equal.emplace_back(a, b);
  return equal;
}

//===--- What is right --------------------------------------------------------------------------------------------===//

static double extremum(const RowSpec &spec, std::span<const double> row) {
  return spec.op == RowOp::Max ? *std::ranges::max_element(row) : *std::ranges::min_element(row);
}

// The sums that this is used for are integers below 2^53, or have one term.
static double sumOf(std::span<const double> row) {
  double sum = 0;
  for (double element : row)
    sum += element;
  return sum;
}

static Expectation resultOf(const RowSpec &spec, double sum) {
  if (spec.op == RowOp::Mean)
    return meanOfSum(widthOf(spec.result), sum, static_cast<double>(spec.columns));
  return {roundTo(spec.result, sum), 0};
}

Expectation reduceRow(const RowSpec &spec, std::span<const double> row) {
  return spec.isExtremum() ? Expectation{extremum(spec, row), 0} : resultOf(spec, sumOf(row));
}

//===--- What went wrong ------------------------------------------------------------------------------------------===//

namespace {

class Suspicions {
public:
  Suspicions(const RowSpec &spec, RowPass pass, const io::TensorSpan &input) : spec(spec), pass(pass), input(input) {}

  std::vector<Suspicion> all() {
    for (uint64_t columns : shorterRows(spec.columns))
      add(Cause::DroppedTail, fmt::format("they are the results for the first {} of {} columns", columns, spec.columns),
          [columns, spec = spec](std::span<const double> row) {
            if (spec.isExtremum())
              return Expectation{extremum(spec, row.first(columns)), 0};
            return resultOf(spec, sumOf(row.first(columns)));
          });
    if (spec.isExtremum())
      addWrongStart();
    addNarrowInputs();
    if (!spec.isExtremum() && spec.type != ElementType::I8)
      addNarrowSums();
    for (auto dimensions : equalDimensions(spec))
      found.push_back({Cause::SwappedLayout, "they are the results for an input read in the other layout",
                       [spec = spec, input = input, dimensions](uint64_t row) {
                         return reduceRow(spec, readSwappedRow(spec, input, row, dimensions));
                       }});
    return std::move(found);
  }

private:
  using Row = std::span<const double>;

  void add(Cause cause, std::string reason, std::function<Expectation(Row)> expected) {
    found.push_back(
        {cause, std::move(reason), [expected = std::move(expected), spec = spec, input = input](uint64_t row) {
           return expected(readRow(spec, input, row));
         }});
  }

  // A maximum starts from minus infinity, or from the smallest integer.
  void addWrongStart() {
    auto startFrom = [this](double start, const std::string &what) {
      add(Cause::WrongStart,
          "they are right but for " + what + " that takes part: what is kept along a row starts from it",
          [start, spec = spec](Row row) {
            double value = extremum(spec, row);
            return Expectation{spec.op == RowOp::Max ? std::max(start, value) : std::min(start, value), 0};
          });
    };
    startFrom(0, "a zero");
    if (std::optional<FloatFormat> format = floatFormat(spec.type))
      startFrom(spec.op == RowOp::Max ? -format->largest : format->largest,
                fmt::format("the {} number of {}", spec.op == RowOp::Max ? "smallest" : "largest", format->name));
    found.push_back({Cause::NotZeroed, "what is kept along a row starts from what the output held before",
                     [spec = spec, pass = pass, input = input](uint64_t row) {
                       double value = extremum(spec, readRow(spec, input, row));
                       double before = prefilledNumber(spec.result, rowPrefill(pass), row);
                       return Expectation{spec.op == RowOp::Max ? std::max(before, value) : std::min(before, value), 0};
                     }});
  }

  void addNarrowInputs() {
    for (const Narrowing &narrowing : narrowings(spec.type))
      add(Cause::NarrowedInputs, fmt::format("they are the results for inputs {}", narrowing.text()),
          [narrowing, spec = spec](Row row) { return reduceRow(spec, narrowRow(row, narrowing)); });
  }

  void addNarrowSums() {
    for (const FloatFormat &format : {kFormatF16, kFormatBF16})
      for (size_t lanes = 1; lanes <= 256; lanes *= 2)
        add(Cause::NarrowAccumulator, narrowSumText(format, lanes),
            [format, lanes, spec = spec](Row row) { return resultOf(spec, narrowSum(format, row, lanes)); });
  }

  const RowSpec &spec;
  const RowPass pass;
  const io::TensorSpan &input;
  std::vector<Suspicion> found;
};

} // namespace

std::string reductionMethod(const RowSpec &spec) {
  if (spec.op == RowOp::Mean)
    return "bound: exact sums of integers, each mean within the roundings of its division";
  return spec.isExtremum() ? "exact: each row computed again" : "exact: sums of integers, each row computed again";
}

Verdict checkReduction(const RowSpec &spec, RowPass pass, const io::TensorSpan &input, const io::TensorSpan &output) {
  ElementCase subject;
  subject.type = spec.result;
  subject.shape = spec.output().shape;
  subject.bytes = output.bytes;
  subject.unitWork = spec.columns * 2;
  subject.expected = [&](uint64_t first, std::span<Expectation> expected) {
    forRows(spec, input.bytes, first, expected.size(),
            [&](uint64_t row, std::span<const double> elements) { expected[row - first] = reduceRow(spec, elements); });
  };
  subject.before = [&](uint64_t element) { return prefilledNumber(spec.result, rowPrefill(pass), element); };
  subject.method = reductionMethod(spec);
  subject.suspicions = Suspicions(spec, pass, input).all();
  return checkElements(subject);
}

} // namespace kiln::families
