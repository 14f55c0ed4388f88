#include "kiln/measure/corpus/tolerance.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include "fmt/ranges.h"
#include "kiln/measure/verify/number.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::measure::corpus {

using io::ElementType;
using verify::Cause;
using verify::Verdict;

static constexpr size_t kExamples = 8;

// Bits of the significand, with the leading one.
static int significandOf(ElementType type) {
  if (std::optional<verify::FloatFormat> format = verify::floatFormat(type))
    return format->significand;
  return type == ElementType::F8E4M3FN ? 4 : 3;
}

// The exponent of the last place of numbers of that size.
static double ulpOf(ElementType type, double value) {
  std::optional<verify::FloatFormat> format = verify::floatFormat(type);
  int lowest = format ? format->lowestExponent : type == ElementType::F8E4M3FN ? -6 : -14;
  int exponent = value == 0 ? lowest : std::max(std::ilogb(value), lowest);
  return std::ldexp(1.0, exponent - (significandOf(type) - 1));
}

Result<Tolerance> Tolerance::parse(std::string_view text) {
  if (text.empty())
    return Tolerance();
  if (text == "exact")
    return Tolerance{Kind::Exact};
  Tolerance tolerance{Kind::Relative};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tolerance.value);
  std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest == "ulp" || rest == "ulps")
    tolerance.kind = Kind::Ulps;
  if (error != std::errc() || !(tolerance.value >= 0) || !std::isfinite(tolerance.value) ||
      (tolerance.kind == Kind::Relative && !rest.empty()))
    return invalidArgument("'{}' is no tolerance; write 1e-3 (relative), 4 ulp, or exact", text);
  return tolerance;
}

static double relativeOf(const Tolerance &tolerance, ElementType type) {
  if (tolerance.kind != Tolerance::Kind::HalfTheBits)
    return tolerance.value;
  int bits = std::min(significandOf(type), significandOf(tolerance.narrowest.value_or(type)));
  return std::ldexp(1.0, -(bits / 2 + bits % 2));
}

std::string Tolerance::textFor(ElementType type) const {
  if (!io::isFloat(type) || kind == Kind::Exact)
    return "the same numbers";
  if (kind == Kind::Ulps)
    return fmt::format("within {:g} ULP", value);
  return fmt::format("within {:.2g} of max(|x|, rms)", relativeOf(*this, type));
}

namespace {

class Comparison {
public:
  Comparison(const io::TensorSpan &actual, const io::TensorSpan &expected, const Tolerance &tolerance)
      : actual(actual), expected(expected), size(hal::elementTypeByteSize(actual.type)),
        isFloat(io::isFloat(actual.type)), tolerance(tolerance) {
    if (isFloat && tolerance.kind != Tolerance::Kind::Ulps && tolerance.kind != Tolerance::Kind::Exact)
      relative = relativeOf(tolerance, actual.type), rms = rootMeanSquare();
  }

  Verdict run(uint8_t prefill) {
    Verdict verdict;
    verdict.total = actual.elementCount();
    for (uint64_t i = 0; i < verdict.total; ++i)
      if (!std::equal(at(actual, i), at(actual, i) + size, at(expected, i)) && !close(i))
        addWrong(verdict, i);
    if (verdict.wrong == 0)
      return verdict;
    verdict.cause = causeOf(verdict, prefill);
    for (const auto &[exponent, count] : ulps)
      verdict.ulpHistogram += fmt::format("{}{:g}-{:g}: {}", verdict.ulpHistogram.empty() ? "" : "  ",
                                          std::ldexp(1.0, exponent), std::ldexp(1.0, exponent + 1), count);
    const verify::Mismatch &first = verdict.examples.front();
    verdict.explanation =
        fmt::format("{} of {} elements are wrong, the first at [{}]: {:g} instead of {:g}; the largest difference is "
                    "{:.2g}, {} is allowed",
                    verdict.wrong, verdict.total, fmt::join(first.index, ", "), first.actual, first.expected, largest,
                    tolerance.textFor(actual.type));
    return verdict;
  }

private:
  const uint8_t *at(const io::TensorSpan &tensor, uint64_t i) const { return tensor.bytes.data() + i * size; }
  double number(const io::TensorSpan &tensor, uint64_t i) const {
    return io::elementAsDouble(tensor.type, at(tensor, i));
  }

  // Of what is finite in the expected tensor.
  double rootMeanSquare() const {
    double sum = 0;
    uint64_t count = 0;
    for (uint64_t i = 0; i < expected.elementCount(); ++i)
      if (double value = number(expected, i); std::isfinite(value)) {
        sum += value * value;
        ++count;
      }
    return count ? std::sqrt(sum / static_cast<double>(count)) : 0;
  }

  double bound(double value) const {
    switch (tolerance.kind) {
    case Tolerance::Kind::Exact: return 0;
    case Tolerance::Kind::Ulps: return tolerance.value * ulpOf(actual.type, value);
    default: return relative * std::max(std::fabs(value), rms);
    }
  }

  bool close(uint64_t i) const {
    if (!isFloat)
      return false;
    double a = number(actual, i), e = number(expected, i);
    if (!std::isfinite(a) || !std::isfinite(e))
      return a == e || (std::isnan(a) && std::isnan(e));
    return std::fabs(a - e) <= bound(e);
  }

  void addWrong(Verdict &verdict, uint64_t i) {
    ++verdict.wrong;
    double a = number(actual, i), e = number(expected, i);
    double apart = isFloat ? verify::floatFormat(actual.type) ? verify::ulpsBetween(actual.type, a, e)
                                                              : std::fabs(a - e) / ulpOf(actual.type, e)
                           : std::fabs(a - e);
    if (std::isfinite(apart) && apart > 0)
      ++ulps[std::ilogb(apart)];
    nans += isFloat && !std::isfinite(a) && std::isfinite(e);
    if (std::isfinite(a - e))
      largest = std::max(largest, std::fabs(a - e));
    if (verdict.examples.size() == kExamples)
      return;
    std::vector<uint64_t> index(actual.shape.size());
    uint64_t rest = i;
    for (size_t d = index.size(); d-- > 0; rest /= actual.shape[d])
      index[d] = rest % actual.shape[d];
    verdict.examples.push_back({std::move(index), e, a, apart});
  }

  Cause causeOf(const Verdict &verdict, uint8_t prefill) const {
    if (std::ranges::all_of(actual.bytes, [&](uint8_t byte) { return byte == prefill; }))
      return Cause::NothingWritten;
    if (nans == verdict.wrong)
      return Cause::NotANumber;
    return verdict.wrong * 4 <= verdict.total ? Cause::WrongElements : Cause::Unknown;
  }

  const io::TensorSpan &actual, &expected;
  uint64_t size;
  bool isFloat;
  const Tolerance &tolerance;
  double relative = 0, rms = 0, largest = 0;
  uint64_t nans = 0; // or infinite, where a number is expected
  std::map<int, uint64_t> ulps;
};

} // namespace

Verdict compare(const io::TensorSpan &actual, const io::TensorSpan &expected, const Tolerance &tolerance,
                uint8_t prefill) {
  return Comparison(actual, expected, tolerance).run(prefill);
}

} // namespace kiln::measure::corpus
