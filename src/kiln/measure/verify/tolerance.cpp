#include "kiln/measure/verify/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
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

  // The error of one element, in deviations of the model, and the size of the sum's terms.
  void judge(double error, double deviation, double magnitude) {
    if (!(deviation > 0) || !std::isfinite(error))
      return;
    errors.push_back({error / deviation, magnitude});
  }

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
    // Of a single wrong element, which is the hardest to find.
    verdict.escapeProbability = total == 0 ? 0 : 1.0 - double(judged) / double(total);
    double largestError = 0, meanError = 0;
    for (const ModelError &error : errors) {
      largestError = std::max(largestError, std::fabs(error.deviations));
      meanError += error.deviations * error.deviations / static_cast<double>(errors.size());
    }
    meanError = std::sqrt(meanError);
    double meanLimit = largestMeanModelError(errors.size());
    std::string statistics = fmt::format("errors are up to {:.3g} of {:g} deviations of the sqrt(k) model, {:.3g} of "
                                         "{:.3g} in the root mean square",
                                         largestError, kLargestModelError, meanError, meanLimit);
    if (!errors.empty())
      verdict.method += "; " + statistics;
    bool imprecise = largestError > kLargestModelError || meanError > meanLimit;
    if (imprecise && notFinite == 0) {
      verdict.cause = Cause::LessPrecise;
      verdict.wrong = std::max<uint64_t>(wrong, 1);
      verdict.examples = examples;
      verdict.explanation = statistics + origin();
      return verdict;
    }
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
  struct ModelError {
    double deviations, magnitude;
  };

  // Where errors come from: those that are as large in small sums as in large ones come from rows or columns that were
  // mixed.
  std::string origin() const {
    std::vector<ModelError> sorted = errors;
    std::ranges::sort(sorted, {}, &ModelError::magnitude);
    auto mean = [](std::span<const ModelError> part) {
      double squares = 0;
      for (const ModelError &error : part)
        squares += error.deviations * error.deviations;
      return std::sqrt(squares / static_cast<double>(std::max<size_t>(part.size(), 1)));
    };
    size_t quarter = sorted.size() / 4;
    std::span<const ModelError> all(sorted);
    if (mean(all.first(quarter)) > 16 * mean(all.last(quarter)))
      return "; they are largest where rows and columns are small, as of an algorithm with fewer products (Strassen), "
             "which adds rows and columns of different sizes";
    return "; they are alike in all sums, as of products or sums of less precision than promised";
  }

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
  std::vector<ModelError> errors;
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

// In f64, with the rounding of each sum caught and added at the end (Neumaier): far below the bound of any accumulator
// that is promised, f64 included.
SampledSum compensatedDot(const std::vector<double> &left, const std::vector<double> &right) {
  double sum = 0, lost = 0, magnitudes = 0, squares = 0;
  for (size_t p = 0; p < left.size(); ++p) {
    double product = left[p] * right[p];
    double next = sum + product;
    lost += std::fma(left[p], right[p], -product);
    lost += std::fabs(sum) >= std::fabs(product) ? (sum - next) + product : (product - next) + sum;
    sum = next;
    magnitudes += std::fabs(product);
    squares += product * product;
  }
  return {sum + lost, magnitudes, squares};
}

// Of numbers whose products f64 has, in sums that need no more than f32: what f64 itself rounds is 2^-29 of that.
SampledSum plainDot(const std::vector<double> &left, const std::vector<double> &right) {
  constexpr size_t lanes = 4;
  double sums[lanes] = {}, magnitudes[lanes] = {}, squares[lanes] = {};
  auto add = [&](size_t lane, double product) {
    sums[lane] += product;
    magnitudes[lane] += std::fabs(product);
    squares[lane] += product * product;
  };
  size_t p = 0;
  for (; p + lanes <= left.size(); p += lanes)
    for (size_t lane = 0; lane < lanes; ++lane)
      add(lane, left[p + lane] * right[p + lane]);
  for (; p < left.size(); ++p)
    add(0, left[p] * right[p]);
  return {(sums[0] + sums[1]) + (sums[2] + sums[3]), (magnitudes[0] + magnitudes[1]) + (magnitudes[2] + magnitudes[3]),
          (squares[0] + squares[1]) + (squares[2] + squares[3])};
}

// Half the distance between neighbours at `value`.
double halfUlp(ElementType type, double value) {
  std::optional<FloatFormat> format = floatFormat(type);
  if (!format || !std::isfinite(value))
    return 0;
  int exponent = value == 0 ? format->lowestExponent : std::max(std::ilogb(value), format->lowestExponent);
  return std::ldexp(0.5, exponent - (format->significand - 1));
}

// Tensor cores add a few products to a sum at once, after cutting all of them off where the largest ends: so many at
// least, each of which loses up to two roundoffs, and the sum as much.
constexpr double kProductsPerCut = 4, kCutsPerRounding = 4;

double boundOf(const Contraction &c, const SampledSum &exactly) {
  std::optional<FloatFormat> accumulator = floatFormat(c.accumulator);
  if (!accumulator)
    return 0; // integers are exact
  double roundings = double(c.k) * accumulator->unitRoundoff() * (c.cutsSums ? kCutsPerRounding : 1);
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

// Partial sums in the order that rounds most have k / 2 of the products' squares on average. Rounding is by 0.42 of the
// unit roundoff in the root mean square: uniform within half a unit in the last place, for numbers that are anywhere
// between two powers of two. Products are rounded too, and so is the result.
double deviationOf(const Contraction &c, const SampledSum &exactly) {
  std::optional<FloatFormat> accumulator = floatFormat(c.accumulator);
  if (!accumulator)
    return 0;
  double ofStep = 0.42 * accumulator->unitRoundoff(), cuts = relativeDeviationOfCuts(c);
  double ofSums = (ofStep * ofStep * (double(c.k) / 2 + 2) + cuts * cuts) * exactly.squares;
  double ofResult = halfUlp(c.result, exactly.sum),
         tiny = std::ldexp(1.0, accumulator->lowestExponent - accumulator->significand);
  return std::sqrt(ofSums + ofResult * ofResult / 3 + double(c.k) * tiny * tiny);
}

} // namespace

double relativeDeviationOfCuts(const Contraction &c) {
  std::optional<FloatFormat> accumulator = floatFormat(c.accumulator);
  if (!c.cutsSums || !accumulator)
    return 0;
  // A cut takes 0.72 of the unit roundoff off the sum on average, always towards zero. Partial sums that grow like a
  // random walk of n steps sum up to n / sqrt(3) times the root of the products' squares: 0.72 / sqrt(3) is 0.42.
  return 0.42 * accumulator->unitRoundoff() * double(c.k) / kProductsPerCut;
}

std::vector<SamplePlace> samplePlaces(const Contraction &c, const SampleOptions &options) {
  std::vector<SamplePlace> places;
  int64_t area = std::max<int64_t>(1, static_cast<int64_t>(options.samples) / std::max<int64_t>(c.batch, 1));
  int64_t rowCount = std::clamp<int64_t>(static_cast<int64_t>(std::sqrt(double(area))), 2, kGridLines);
  for (int64_t b = 0; b < c.batch && c.m > 0 && c.n > 0; ++b) {
    const std::vector<int64_t> rows =
        stratified(c.m, std::max(rowCount, area / std::max<int64_t>(c.n, 1)), randomBits(options.seed, b, 1));
    for (int64_t j : stratified(c.n, std::max<int64_t>(2, area / std::ssize(rows)), randomBits(options.seed, b, 2)))
      for (int64_t i : rows)
        places.push_back({b, i, j});
  }
  return places;
}

Verdict judgeSums(const Contraction &c, std::span<const SamplePlace> places, std::span<const SampledSum> sums,
                  const SampleOptions &options) {
  Comparison comparison(c.result, c.outputCount(), places.size());
  for (size_t at = 0; at < places.size(); ++at) {
    const SampledSum &exactly = sums[at];
    auto index = [&, place = places[at]] {
      return std::vector<uint64_t>{uint64_t(place.b), uint64_t(place.i), uint64_t(place.j)};
    };
    comparison.compare(exactly.sum, exactly.actual, boundOf(c, exactly), index);
    if (options.model)
      comparison.judge(exactly.actual - exactly.sum, deviationOf(c, exactly), exactly.squares);
  }
  return comparison.verdict(
      fmt::format("bound: rounding errors of {} sums in {}", c.k, hal::elementTypeName(c.accumulator)));
}

Verdict checkWithinBound(const Contraction &c, const RealOperand &lhs, const RealOperand &rhs,
                         std::span<const uint8_t> outBytes, const SampleOptions &options) {
  const bool isPlain = exactBits(c.lhs) + exactBits(c.rhs) <= exactBits(ElementType::F64) &&
                       exactBits(c.accumulator) <= exactBits(ElementType::F32);
  const std::vector<SamplePlace> places = samplePlaces(c, options);
  std::vector<SampledSum> sums;
  std::map<int64_t, std::vector<double>> left; // rows of one batch
  std::vector<double> right(c.k);
  for (size_t at = 0; at < places.size(); ++at) {
    const auto [b, i, j] = places[at];
    if (at > 0 && b != places[at - 1].b)
      left.clear();
    if (at == 0 || b != places[at - 1].b || j != places[at - 1].j)
      rhs.numbersDown(b, 0, j, c.k, right.data());
    std::vector<double> &row = left[i];
    if (row.empty()) {
      row.resize(c.k);
      lhs.numbersAlong(b, i, 0, c.k, row.data());
    }
    sums.push_back((isPlain ? plainDot : compensatedDot)(row, right));
    sums.back().actual = numberAt(c.result, outBytes, c.outLayout.offset(b, i, j));
  }
  return judgeSums(c, places, sums, options);
}

Result<Verdict> checkWithinBound(const Contraction &contraction, std::span<const uint8_t> lhsBytes,
                                 std::span<const uint8_t> rhsBytes, std::span<const uint8_t> outBytes,
                                 const SampleOptions &options) {
  KILN_RETURN_IF_ERROR(contraction.validate(lhsBytes.size(), rhsBytes.size(), outBytes.size()));
  TensorOperand lhs(contraction.lhs, contraction.lhsLayout, lhsBytes);
  TensorOperand rhs(contraction.rhs, contraction.rhsLayout, rhsBytes);
  return checkWithinBound(contraction, lhs, rhs, outBytes, options);
}

// Squares of errors vary by sqrt(6) of their mean, since partial sums of one element are large together. This leaves
// six times what the mean of so many varies by, and 5 % for the model.
double largestMeanModelError(uint64_t samples) {
  return 1.05 * std::sqrt(1 + 6 * std::sqrt(6 / static_cast<double>(std::max<uint64_t>(samples, 1))));
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
