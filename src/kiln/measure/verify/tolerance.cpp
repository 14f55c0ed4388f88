#include "kiln/measure/verify/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/number.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::measure::verify {

namespace {

constexpr size_t kExamples = 8;
// A grid has at least so many rows and columns, where there are as many: a mistake in a few lines is not missed.
constexpr int64_t kGridLines = 64;

// What was compared, and what was too far off.
class Comparison {
public:
  Comparison(ElementType type, uint64_t total, uint64_t samples) : type(type), total(total), samples(samples) {}

  // `index` makes the coordinates, where the element is shown.
  template <typename Index> void compare(double expected, double actual, double bound, Index index) {
    if (std::isinf(bound)) {
      ++unbounded;
      return;
    }
    // A NaN or an infinity that is expected is right.
    if (sameNumber(expected, actual) || std::fabs(actual - expected) <= bound || overflows(expected, actual, bound))
      return;
    ++wrong;
    notFinite += !std::isfinite(actual);
    double ulps = ulpsBetween(type, expected, actual);
    worst = std::max(worst, std::fabs(actual - expected) / bound);
    if (examples.size() < kExamples)
      examples.push_back({index(), expected, actual, ulps});
  }

  Verdict verdict(const std::string &method) const {
    Verdict verdict;
    verdict.total = total;
    uint64_t judged = samples - unbounded;
    bool all = judged == total;
    verdict.method = fmt::format("{}; {} of {} elements were looked at", method, judged, total);
    if (unbounded)
      verdict.method += fmt::format(", and {} that have no bound: the sum may overflow, or is too long", unbounded);
    // One wrong element among all, which is the hardest to meet.
    verdict.escapeProbability = total == 0 ? 0 : 1.0 - double(judged) / double(total);
    if (wrong == 0)
      return verdict;
    verdict.cause = notFinite == wrong          ? Cause::NotANumber
                    : all && wrong <= kExamples ? Cause::WrongElements
                                                : Cause::Unknown;
    verdict.wrong = std::max<uint64_t>(1, std::llround(double(wrong) / double(judged) * double(total)));
    verdict.examples = examples;
    verdict.explanation =
        fmt::format("{}{} of {} elements are wrong, the first that was seen at [{}]: {:g} instead of {:g}; ",
                    all ? "" : "about ", verdict.wrong, total, fmt::join(examples.front().index, ", "),
                    examples.front().actual, examples.front().expected);
    verdict.explanation += notFinite == wrong ? "they are NaN or infinite"
                                              : fmt::format("they are off by up to {:.3g} times the bound", worst);
    return verdict;
  }

private:
  // Infinity stands for what the type has no number for.
  bool overflows(double expected, double actual, double bound) const {
    std::optional<FloatFormat> format = floatFormat(type);
    return format && std::isinf(actual) && std::fabs(expected) + bound >= format->largest &&
           std::signbit(expected) == std::signbit(actual);
  }

  ElementType type;
  uint64_t total, samples, wrong = 0, notFinite = 0, unbounded = 0;
  double worst = 0;
  std::vector<Mismatch> examples;
};

// `count` of [0, extent), one from each of as many equal parts, the first and the last included.
std::vector<int64_t> stratified(int64_t extent, int64_t count, uint64_t key) {
  count = std::min(extent, count);
  std::set<int64_t> chosen = {0, extent - 1};
  for (int64_t part = 0; part < count; ++part) {
    int64_t begin = extent * part / count, end = extent * (part + 1) / count;
    chosen.insert(begin + static_cast<int64_t>(randomBits(key, part) % static_cast<uint64_t>(end - begin)));
  }
  return {chosen.begin(), chosen.end()};
}

double numberAt(ElementType type, std::span<const uint8_t> bytes, int64_t element) {
  return io::elementAsDouble(type, bytes.data() + element * static_cast<int64_t>(hal::elementTypeByteSize(type)));
}

struct Exactly {
  double sum, magnitudes;
};

// In f64, with the rounding of each sum caught and added at the end (Neumaier): far below the bound of any accumulator
// that is promised, f64 included.
Exactly dot(const std::vector<double> &left, const std::vector<double> &right) {
  double sum = 0, lost = 0, magnitudes = 0;
  for (size_t p = 0; p < left.size(); ++p) {
    double product = left[p] * right[p];
    double next = sum + product;
    lost += std::fma(left[p], right[p], -product);
    lost += std::fabs(sum) >= std::fabs(product) ? (sum - next) + product : (product - next) + sum;
    sum = next;
    magnitudes += std::fabs(product);
  }
  return {sum + lost, magnitudes};
}

// Half the distance between neighbours at `value`.
double halfUlp(ElementType type, double value) {
  std::optional<FloatFormat> format = floatFormat(type);
  if (!format || !std::isfinite(value))
    return 0;
  int exponent = value == 0 ? format->lowestExponent : std::max(std::ilogb(value), format->lowestExponent);
  return std::ldexp(0.5, exponent - (format->significand - 1));
}

class BoundCheck {
public:
  BoundCheck(const Contraction &contraction, std::span<const uint8_t> lhs, std::span<const uint8_t> rhs,
             std::span<const uint8_t> out)
      : c(contraction), lhs(lhs), rhs(rhs), out(out) {}

  Verdict run(const SampleOptions &options) const;

private:
  double bound(const Exactly &exactly) const;
  std::vector<double> row(int64_t b, int64_t i) const;
  std::vector<double> column(int64_t b, int64_t j) const;

  const Contraction &c;
  std::span<const uint8_t> lhs, rhs, out;
};

std::vector<double> BoundCheck::row(int64_t b, int64_t i) const {
  std::vector<double> numbers(c.k);
  for (int64_t p = 0; p < c.k; ++p)
    numbers[p] = numberAt(c.lhs, lhs, c.lhsLayout.offset(b, i, p));
  return numbers;
}

std::vector<double> BoundCheck::column(int64_t b, int64_t j) const {
  std::vector<double> numbers(c.k);
  for (int64_t p = 0; p < c.k; ++p)
    numbers[p] = numberAt(c.rhs, rhs, c.rhsLayout.offset(b, p, j));
  return numbers;
}

double BoundCheck::bound(const Exactly &exactly) const {
  std::optional<FloatFormat> accumulator = floatFormat(c.accumulator);
  if (!accumulator)
    return 0; // integers are exact
  double roundings = double(c.k) * accumulator->unitRoundoff();
  if (roundings >= 1)
    return std::numeric_limits<double>::infinity(); // a sum that long is not bounded at all
  // Products of tiny numbers lose up to half of the accumulator's smallest number each.
  double tiny = double(c.k) * std::ldexp(0.5, accumulator->lowestExponent - (accumulator->significand - 1));
  double ofSum = roundings / (1 - roundings) * exactly.magnitudes + tiny;
  if (exactly.magnitudes + ofSum >= accumulator->largest)
    return std::numeric_limits<double>::infinity();
  // The sum may lie where the result's numbers are further apart.
  return ofSum + halfUlp(c.result, std::fabs(exactly.sum) + ofSum);
}

Verdict BoundCheck::run(const SampleOptions &options) const {
  int64_t area = std::max<int64_t>(1, static_cast<int64_t>(options.samples) / std::max<int64_t>(c.batch, 1));
  int64_t rowCount = std::clamp<int64_t>(static_cast<int64_t>(std::sqrt(double(area))), 2, kGridLines);
  std::vector<std::vector<int64_t>> rows(c.batch), columns(c.batch);
  uint64_t samples = 0;
  for (int64_t b = 0; b < c.batch && c.m > 0 && c.n > 0; ++b) {
    rows[b] = stratified(c.m, std::max(rowCount, area / std::max<int64_t>(c.n, 1)), randomBits(options.seed, b, 1));
    columns[b] = stratified(c.n, std::max<int64_t>(2, area / static_cast<int64_t>(rows[b].size())),
                            randomBits(options.seed, b, 2));
    samples += rows[b].size() * columns[b].size();
  }
  Comparison comparison(c.result, c.outputCount(), samples);
  for (int64_t b = 0; b < c.batch; ++b) {
    std::vector<std::vector<double>> left;
    for (int64_t i : rows[b])
      left.push_back(row(b, i));
    for (int64_t j : columns[b]) {
      std::vector<double> right = column(b, j);
      for (size_t r = 0; r < left.size(); ++r) {
        int64_t i = rows[b][r];
        Exactly exactly = dot(left[r], right);
        auto index = [&] { return std::vector<uint64_t>{uint64_t(b), uint64_t(i), uint64_t(j)}; };
        comparison.compare(exactly.sum, numberAt(c.result, out, c.outLayout.offset(b, i, j)), bound(exactly), index);
      }
    }
  }
  return comparison.verdict(
      fmt::format("bound: rounding errors of {} sums in {}", c.k, hal::elementTypeName(c.accumulator)));
}

} // namespace

Result<Verdict> checkWithinBound(const Contraction &contraction, std::span<const uint8_t> lhsBytes,
                                 std::span<const uint8_t> rhsBytes, std::span<const uint8_t> outBytes,
                                 const SampleOptions &options) {
  KILN_RETURN_IF_ERROR(contraction.validate(lhsBytes, rhsBytes, outBytes));
  return BoundCheck(contraction, lhsBytes, rhsBytes, outBytes).run(options);
}

Verdict checkSampled(ElementType type, std::span<const uint64_t> shape, std::span<const uint8_t> outBytes,
                     const std::function<double(uint64_t element)> &expected, const ElementBound &bound,
                     const SampleOptions &options) {
  uint64_t total = outBytes.size() / hal::elementTypeByteSize(type);
  std::vector<int64_t> chosen;
  if (total > 0)
    chosen = stratified(static_cast<int64_t>(total), static_cast<int64_t>(std::max<uint64_t>(options.samples, 1)),
                        randomBits(options.seed, 3));
  Comparison comparison(type, total, chosen.size());
  for (int64_t element : chosen) {
    double right = expected(element);
    auto index = [&] {
      std::vector<uint64_t> coordinates(shape.size());
      uint64_t rest = element;
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
        coordinates[d] = rest % shape[d];
      return coordinates;
    };
    comparison.compare(right, numberAt(type, outBytes, element),
                       std::max(bound.absolute, 2 * bound.ulps * halfUlp(type, right)), index);
  }
  return comparison.verdict(fmt::format("sampled: within {:g} ULP or {:g} of f64", bound.ulps, bound.absolute));
}

} // namespace kiln::measure::verify
