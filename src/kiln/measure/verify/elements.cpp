#include "kiln/measure/verify/elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "kiln/base/narrow_float.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::measure::verify {

//===--- Elements as numbers --------------------------------------------------------------------------------------===//

template <const NarrowFloat &Format> static const std::vector<double> &decoded() {
  static const std::vector<double> table = [] {
    std::vector<double> values(1 << 16);
    for (uint32_t bits = 0; bits < values.size(); ++bits)
      values[bits] = Format.decode(uint16_t(bits));
    return values;
  }();
  return table;
}

template <typename T, typename Convert>
static void readAs(const uint8_t *bytes, std::span<double> numbers, Convert convert) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    T element;
    std::memcpy(&element, bytes + i * sizeof(T), sizeof(T));
    numbers[i] = convert(element);
  }
}

void readElements(ElementType type, std::span<const uint8_t> bytes, uint64_t first, std::span<double> numbers) {
  if (numbers.empty())
    return; // also of a tensor without memory
  uint64_t size = hal::elementTypeByteSize(type);
  const uint8_t *start = bytes.data() + first * size;
  auto plain = [](auto element) { return double(element); };
  switch (type) {
  case ElementType::F32: return readAs<float>(start, numbers, plain);
  case ElementType::I32: return readAs<int32_t>(start, numbers, plain);
  case ElementType::I8: return readAs<int8_t>(start, numbers, plain);
  case ElementType::F16:
    return readAs<uint16_t>(start, numbers, [&table = decoded<kF16>()](uint16_t bits) { return table[bits]; });
  case ElementType::BF16:
    return readAs<uint16_t>(start, numbers, [&table = decoded<kBF16>()](uint16_t bits) { return table[bits]; });
  default:
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = io::elementAsDouble(type, start + i * size);
  }
}

NumberWidth widthOf(ElementType type) {
  const std::optional<FloatFormat> format = floatFormat(type);
  return format ? NumberWidth{format->significand, format->lowestExponent, format->largest} : NumberWidth();
}

double halfSpacing(ElementType type, double value) {
  return halfSpacing(widthOf(type), value);
}

static int64_t signBitOf(ElementType type) {
  return int64_t(hal::elementTypeByteSize(type)) * 8 - 1;
}

int64_t orderOf(ElementType type, uint64_t bits) {
  const auto sign = uint64_t(1) << signBitOf(type);
  const auto magnitude = int64_t(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

ElementRange rightRange(ElementType type, const Expectation &expected) {
  const std::optional<FloatFormat> format = floatFormat(type);
  if (!format || std::isnan(expected.value))
    return {};
  auto isRightAt = [&](int64_t order) {
    const uint64_t bits = order < 0 ? uint64_t(-order) | uint64_t(1) << signBitOf(type) : uint64_t(order);
    return isRight(format->largest, /*mayFlush=*/false, expected,
                   io::elementAsDouble(type, reinterpret_cast<const uint8_t *>(&bits)));
  };
  uint64_t nearest = 0;
  io::storeFloat(type, expected.value, reinterpret_cast<uint8_t *>(&nearest));
  const int64_t middle = orderOf(type, nearest);
  if (!isRightAt(middle))
    return {};
  // Numbers that are right follow each other.
  auto lastRight = [&](int64_t direction) {
    int64_t distance = 0;
    for (int64_t step = int64_t(1) << (signBitOf(type) - 1); step > 0; step /= 2)
      if (const Int128 further = Int128(middle) + direction * (Int128(distance) + step), most = Int128(1)
                                                                                                << signBitOf(type);
          further > -most && further < most && isRightAt(int64_t(further)))
        distance += step;
    return middle + direction * distance;
  };
  return {lastRight(-1), lastRight(1)};
}

RightElements rightElements(ElementType type, const Expectation &expected, bool mayFlush) {
  const double largest = floatFormat(type) ? floatFormat(type)->largest : 0;
  RightElements right;
  right.all = std::isinf(expected.bound);
  right.nan = std::isnan(expected.value);
  right.zero = isRight(largest, mayFlush, expected, 0);
  if (!right.all)
    right.range = rightRange(type, expected);
  return right;
}

void writeElement(ElementType type, double value, uint8_t *bytes) {
  if (floatFormat(type))
    io::storeFloat(type, value, bytes);
  else
    storeInteger(type, static_cast<int32_t>(value), bytes);
}

//===--- Comparing ------------------------------------------------------------------------------------------------===//

namespace {

constexpr size_t kExamples = 8;
constexpr size_t kSamples = 4096;     // wrong elements that are kept for the search for a cause
constexpr uint64_t kPredictions = 32; // wrong elements that a cause has to predict
constexpr uint64_t kFewWrong = 64;    // elements that are wrong by themselves
constexpr uint64_t kChunk = 4096;     // elements that are computed at once, or one unit
constexpr uint64_t kPictureRows = 16, kPictureColumns = 32;

struct Wrong {
  uint64_t element;
  double expected, actual;
};

// What was seen of the wrong elements, by one thread or by all.
struct Findings {
  uint64_t wrong = 0, notFinite = 0, untouched = 0, zeros = 0;
  uint64_t firstElement = UINT64_MAX, firstColumn = UINT64_MAX;
  std::vector<Wrong> first, sample;
  std::map<int, uint64_t> ulps;
  std::vector<bool> picture = std::vector<bool>(kPictureRows * kPictureColumns);

  void merge(const Findings &other) {
    wrong += other.wrong, notFinite += other.notFinite, untouched += other.untouched, zeros += other.zeros;
    firstElement = std::min(firstElement, other.firstElement);
    firstColumn = std::min(firstColumn, other.firstColumn);
    first.insert(first.end(), other.first.begin(), other.first.end());
    std::ranges::sort(first, {}, &Wrong::element);
    first.resize(std::min(first.size(), kExamples));
    sample.insert(sample.end(), other.sample.begin(), other.sample.end());
    for (const auto &[exponent, count] : other.ulps)
      ulps[exponent] += count;
    for (size_t i = 0; i < picture.size(); ++i)
      picture[i] = picture[i] || other.picture[i];
  }
};

class ElementCheck {
public:
  explicit ElementCheck(const ElementCase &subject)
      : subject(subject), format(floatFormat(subject.type)),
        total(subject.bytes.size() / hal::elementTypeByteSize(subject.type)),
        columns(subject.shape.empty() ? 1 : std::max<uint64_t>(subject.shape.back(), 1)) {
    largest = format ? format->largest : double(largestInteger(subject.type));
  }

  Verdict run(unsigned threads) {
    auto units = static_cast<int64_t>(total / subject.unit);
    forParts(units, units * static_cast<int64_t>(subject.unitWork), threads, [&](int64_t begin, int64_t end) {
      Findings part = comparePart(begin, end);
      std::scoped_lock lock(mutex);
      all.merge(part);
    });
    Verdict verdict;
    verdict.method = subject.method;
    verdict.total = total;
    if (all.wrong == 0)
      return verdict;
    explain(verdict);
    return verdict;
  }

private:
  bool isRight(const Expectation &expected, double actual) const {
    return verify::isRight(largest, subject.mayFlush, expected, actual);
  }

  Findings comparePart(int64_t begin, int64_t end) const {
    Findings findings;
    uint64_t chunkUnits = std::max<uint64_t>(1, kChunk / subject.unit);
    std::vector<Expectation> expected;
    std::vector<double> actual;
    for (auto unit = static_cast<uint64_t>(begin); unit < static_cast<uint64_t>(end); unit += chunkUnits) {
      uint64_t count = std::min(chunkUnits, static_cast<uint64_t>(end) - unit) * subject.unit;
      uint64_t start = unit * subject.unit;
      expected.assign(count, {});
      actual.resize(count);
      subject.expected(start, expected);
      readElements(subject.type, subject.bytes, start, actual);
      for (uint64_t i = 0; i < count; ++i)
        if (!isRight(expected[i], actual[i])) [[unlikely]]
          record({start + i, expected[i].value, actual[i]}, findings);
    }
    return findings;
  }

  void record(const Wrong &wrong, Findings &findings) const {
    ++findings.wrong;
    uint64_t row = wrong.element / columns, column = wrong.element % columns, rows = total / columns;
    findings.firstElement = std::min(findings.firstElement, wrong.element);
    findings.firstColumn = std::min(findings.firstColumn, column);
    findings.zeros += wrong.actual == 0;
    findings.untouched += subject.before && sameNumber(subject.before(wrong.element), wrong.actual);
    if (std::isfinite(wrong.actual) && std::isfinite(wrong.expected)) {
      double ulps = ulpsBetween(subject.type, wrong.expected, wrong.actual);
      ++findings.ulps[ulps < 1 ? -1 : std::ilogb(ulps)];
    } else {
      ++findings.notFinite;
    }
    if (findings.first.size() < kExamples)
      findings.first.push_back(wrong);
    if (findings.sample.size() < kSamples)
      findings.sample.push_back(wrong);
    else if (uint64_t place = randomBits(7, wrong.element) % findings.wrong; place < kSamples)
      findings.sample[place] = wrong;
    uint64_t height = std::min(kPictureRows, rows), width = std::min(kPictureColumns, columns);
    findings.picture[row * height / rows * kPictureColumns + column * width / columns] = true;
  }

  std::vector<uint64_t> coordinates(uint64_t element) const {
    std::vector<uint64_t> index(subject.shape.size());
    for (size_t d = index.size(); d-- > 0; element /= subject.shape[d])
      index[d] = element % subject.shape[d];
    return index;
  }

  // Whether everything from some place on is wrong and nothing before it: the place in words, or nothing. A few of the
  // wrong ones may be right by chance.
  std::optional<std::string> tail() const {
    auto isMostOf = [&](uint64_t count) {
      return all.wrong >= 4 && all.wrong <= count && all.wrong >= count - count / 50;
    };
    uint64_t rows = total / columns;
    if (all.firstColumn > 0 && rows > 1 && isMostOf(rows * (columns - all.firstColumn)))
      return fmt::format("the last {} of {} columns", columns - all.firstColumn, columns);
    if (all.firstElement > 0 && isMostOf(total - all.firstElement))
      return fmt::format("the last {} elements", total - all.firstElement);
    return std::nullopt;
  }

  // Whether what `expected` says would be is what is there, for wrong elements all over the output.
  bool explains(const std::function<Expectation(const Wrong &)> &expected) const {
    if (all.wrong < std::min<uint64_t>(4, total))
      return false;
    uint64_t step = std::max<uint64_t>(1, all.sample.size() / kPredictions), seen = 0;
    for (uint64_t i = 0; i < all.sample.size() && seen < kPredictions; i += step, ++seen)
      if (!isRight(expected(all.sample[i]), all.sample[i].actual))
        return false;
    return seen > 0;
  }

  bool predicts(const Suspicion &suspicion) const {
    return explains([&](const Wrong &wrong) { return suspicion.expected(wrong.element); });
  }

  Diagnosis diagnose() const {
    std::optional<std::string> lastOnes = tail();
    if (all.untouched == all.wrong) {
      // Some may hold what is right by chance.
      if (all.wrong >= total - total / 50)
        return {Cause::NothingWritten, "the output is as it was before the run"};
      if (lastOnes)
        return {Cause::DroppedTail, *lastOnes + " are as they were before the run"};
      // A maximum that starts from what was there keeps it where that is larger.
      for (const Suspicion &suspicion : subject.suspicions)
        if (suspicion.cause == Cause::NotZeroed && predicts(suspicion))
          return {suspicion.cause, suspicion.reason};
      return {Cause::NothingWritten, "they are as they were before the run"};
    }
    for (const Suspicion &suspicion : subject.suspicions)
      if (predicts(suspicion))
        return {suspicion.cause, suspicion.reason};
    bool added = subject.before && explains([&](const Wrong &wrong) {
                   double before = subject.before(wrong.element), sum = wrong.expected + before;
                   if (!format)
                     sum = roundTo(subject.type, sum);
                   return Expectation{sum, std::isfinite(sum) ? 4 * halfSpacing(subject.type, sum) : 0};
                 });
    if (added && std::ranges::all_of(all.sample, [](const Wrong &wrong) { return std::isfinite(wrong.actual); }))
      return {Cause::NotZeroed, "they are the right numbers, added to what the output held before"};
    if (all.notFinite == all.wrong) {
      if (std::ranges::all_of(all.sample, [](const Wrong &wrong) { return std::isfinite(wrong.actual); }))
        return {Cause::NumberInstead, "they are finite where infinity or NaN belongs"};
      return {Cause::NotANumber, "they are NaN or infinite, or are finite where they should not be"};
    }
    if (std::ranges::all_of(
            all.sample, [](const Wrong &wrong) { return wrong.actual == 0 && std::fabs(wrong.expected) < 0x1p-126; }))
      return {Cause::WrongElements, "they are zero, where the right number is below the smallest normal one of f32"};
    if (lastOnes)
      return {Cause::DroppedTail, *lastOnes + " are wrong as a whole, and nothing else is"};
    if (all.wrong < 4 || (all.wrong <= std::max<uint64_t>(kFewWrong, total / 100) && all.wrong <= total / 2))
      return {Cause::WrongElements, "they fit no mistake that is known here"};
    if (all.zeros == all.wrong)
      return {Cause::Unknown, "they are all zero"};
    return {Cause::Unknown, "they fit no mistake that is known here"};
  }

  void explain(Verdict &verdict) const {
    Diagnosis diagnosis = diagnose();
    verdict.cause = diagnosis.cause;
    verdict.wrong = all.wrong;
    for (const Wrong &wrong : all.first)
      verdict.examples.push_back({coordinates(wrong.element), wrong.expected, wrong.actual,
                                  ulpsBetween(subject.type, wrong.expected, wrong.actual)});
    const Mismatch &first = verdict.examples.front();
    verdict.explanation =
        fmt::format("{} of {} elements are wrong, the first at [{}]: {:g} instead of {:g}; {}", all.wrong, total,
                    fmt::join(first.index, ", "), first.actual, first.expected, diagnosis.reason);
    verdict.ulpHistogram = ulpHistogram(all.ulps, all.notFinite);
    uint64_t height = std::min(kPictureRows, total / columns), width = std::min(kPictureColumns, columns);
    for (uint64_t row = 0; row < height; ++row) {
      verdict.tilePattern += row ? "\n" : "";
      for (uint64_t column = 0; column < width; ++column)
        verdict.tilePattern += all.picture[row * kPictureColumns + column] ? 'x' : '.';
    }
  }

  const ElementCase &subject;
  const std::optional<FloatFormat> format;
  const uint64_t total, columns;
  double largest = 0;
  std::mutex mutex;
  Findings all;
};

} // namespace

Verdict checkElements(const ElementCase &subject, unsigned threads) {
  return ElementCheck(subject).run(threads);
}

} // namespace kiln::measure::verify
