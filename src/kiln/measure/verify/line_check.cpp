#include "kiln/measure/verify/line_check.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "kiln/measure/verify/decode.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/number.h"

namespace kiln::measure::verify {

namespace {

constexpr int64_t kLanes = 16;
// Elements whose products are summed in f32 before they are added up in f64.
constexpr int64_t kChunk = 512;

// Independent sums of every kLanes-th element, so that compilers make vectors of them.
template <auto toNumber, int64_t kBytes>
double projectFloats(const uint8_t *from, const float *weights, int64_t count) {
  using Number = decltype(toNumber(from));
  double total = 0;
  for (int64_t chunk = 0; chunk < count; chunk += kChunk) {
    int64_t end = std::min(count, chunk + kChunk), i = chunk;
    Number lanes[kLanes] = {};
    for (; i + kLanes <= end; i += kLanes)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] += toNumber(from + (i + lane) * kBytes) * Number(weights[i + lane]);
    for (; i < end; ++i)
      total += double(toNumber(from + i * kBytes)) * double(weights[i]);
    for (int64_t half = kLanes / 2; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane)
        lanes[lane] += lanes[lane + half];
    total += double(lanes[0]);
  }
  return total;
}

template <typename T> uint32_t projectIntegers(const uint8_t *from, const uint32_t *weights, int64_t count) {
  uint32_t total = 0;
  for (int64_t i = 0; i < count; ++i)
    total += static_cast<uint32_t>(readRaw<T>(from + i * int64_t(sizeof(T)))) * weights[i];
  return total;
}

template <typename Sum> using Projector = Sum (*)(const uint8_t *, const LineWeight<Sum> *, int64_t);

Projector<double> projectorOf(ElementType type, double) {
  switch (type) {
  case ElementType::F32: return projectFloats<floatOfF32, 4>;
  case ElementType::F16: return projectFloats<floatOfF16, 2>;
  case ElementType::BF16: return projectFloats<floatOfBF16, 2>;
  case ElementType::F64: return projectFloats<doubleOfF64, 8>;
  default: return nullptr;
  }
}

Projector<uint32_t> projectorOf(ElementType type, uint32_t) {
  switch (type) {
  case ElementType::I8:
  case ElementType::SI8: return projectIntegers<int8_t>;
  case ElementType::UI8: return projectIntegers<uint8_t>;
  case ElementType::F32:
  case ElementType::I32:
  case ElementType::SI32:
  case ElementType::UI32: return projectIntegers<uint32_t>;
  case ElementType::F16:
  case ElementType::BF16: return projectIntegers<uint16_t>;
  default: return nullptr;
  }
}

template <auto toNumber, int64_t kBytes> bool allFinite(const uint8_t *bytes, int64_t count) {
  int64_t bad = 0;
  for (int64_t i = 0; i < count; ++i)
    bad += static_cast<int64_t>(!(std::fabs(toNumber(bytes + i * kBytes)) <= 0x1.FFFFFEp127F));
  return bad == 0;
}

template <typename Sum> class LineCheck final : public TimedCheck {
public:
  LineCheck(LineCase<Sum> given, Projector<Sum> project) : subject(std::move(given)), project(project) {}

  Verdict check(std::span<const io::TensorSpan> outputs) const override;

private:
  // How far off a sum is, in deviations; of integers 0 or infinity.
  double deviation(Sum actual, size_t block) const {
    if constexpr (std::is_same_v<Sum, double>)
      return std::fabs(actual - subject.expected[block]) / subject.deviations[block];
    return actual == subject.expected[block] ? 0 : HUGE_VAL;
  }

  LineCase<Sum> subject;
  Projector<Sum> project;
};

template <typename Sum> Verdict LineCheck<Sum>::check(std::span<const io::TensorSpan> outputs) const {
  if (std::string mismatch = mismatchOf(outputs, subject.type, subject.shape); !mismatch.empty())
    return timedFailure(mismatch, 1, 1, 0);
  const io::TensorSpan &output = outputs[0];
  auto size = static_cast<int64_t>(hal::elementTypeByteSize(subject.type));
  auto total = static_cast<int64_t>(output.elementCount());
  uint64_t wrong = 0, firstWrong = 0, blocks = 0, worstBlock = 0;
  double squares = 0, worst = 0;
  for (int64_t line = 0; line < total; line += subject.length) {
    int64_t length = std::min(subject.length, total - line);
    for (int64_t at = 0; at < length; at += subject.block, ++blocks) {
      int64_t count = std::min(subject.block, length - at);
      double off =
          deviation(project(output.bytes.data() + (line + at) * size, subject.weights.data() + at, count), blocks);
      squares += off * off;
      if (off <= worst) [[likely]]
        continue;
      // NaN comes here too.
      if (!(off <= kLargestDeviation) && wrong++ == 0)
        firstWrong = static_cast<uint64_t>(line + at);
      worst = off <= kLargestDeviation ? off : worst;
      worstBlock = blocks;
    }
  }
  Verdict verdict;
  verdict.deviations = {squares, blocks};
  verdict.total = static_cast<uint64_t>(total);
  verdict.method =
      fmt::format("projection of {} blocks of {} elements, off by up to {:.2g} deviations, {:.2g} on average", blocks,
                  subject.block, worst, verdict.deviations.mean());
  if (wrong == 0 && !verdict.deviations.tooLarge())
    return verdict;
  if (wrong > 0)
    return timedFailure(fmt::format("{} of {} blocks of {} elements are not what the inputs give, the first from "
                                    "element {} on",
                                    wrong, blocks, subject.block, firstWrong),
                        wrong, blocks, countPoisoned(output));
  return timedFailure(fmt::format("sums of blocks of elements are off by {:.1f} times what rounding does, up to {:.1f} "
                                  "times in block {}",
                                  verdict.deviations.mean(), worst, worstBlock),
                      blocks, blocks, countPoisoned(output));
}

} // namespace

template <> std::vector<float> randomWeights<double>(uint64_t key, int64_t count) {
  std::vector<float> weights(count);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = randomBits(key, static_cast<uint64_t>(i));
    float magnitude = 0.5F + static_cast<float>(bits >> 41) * 0x1p-23F;
    weights[i] = (bits & 1) ? -magnitude : magnitude;
  }
  return weights;
}

template <> std::vector<uint32_t> randomWeights<uint32_t>(uint64_t key, int64_t count) {
  std::vector<uint32_t> weights(count);
  for (int64_t i = 0; i < count; ++i)
    weights[i] = static_cast<uint32_t>(randomBits(key, static_cast<uint64_t>(i)) >> 32);
  return weights;
}

template <typename Sum> std::unique_ptr<TimedCheck> checkOfLines(LineCase<Sum> subject) {
  Projector<Sum> project = projectorOf(subject.type, Sum());
  if (!project)
    return nullptr;
  return std::make_unique<LineCheck<Sum>>(std::move(subject), project);
}
template std::unique_ptr<TimedCheck> checkOfLines(LineCase<double> subject);
template std::unique_ptr<TimedCheck> checkOfLines(LineCase<uint32_t> subject);

std::string mismatchOf(std::span<const io::TensorSpan> outputs, ElementType type, std::span<const uint64_t> shape) {
  uint64_t bytes = hal::elementTypeByteSize(type);
  for (uint64_t extent : shape)
    bytes *= extent;
  if (outputs.size() == 1 && outputs[0].type == type && std::ranges::equal(outputs[0].shape, shape) &&
      outputs[0].bytes.size() == bytes)
    return "";
  return fmt::format("there are {} outputs, or the output is not of type {} and shape [{}]", outputs.size(),
                     hal::elementTypeName(type), fmt::join(shape, ", "));
}

uint64_t countPoisoned(const io::TensorSpan &output) {
  uint64_t size = hal::elementTypeByteSize(output.type), count = 0;
  for (uint64_t at = 0; at + size <= output.bytes.size(); at += size)
    count += std::ranges::all_of(output.bytes.subspan(at, size), [](uint8_t byte) { return byte == 0xFF; }) ? 1 : 0;
  return count;
}

Verdict timedFailure(const std::string &what, uint64_t wrong, uint64_t total, uint64_t poisoned) {
  Verdict verdict;
  verdict.cause = poisoned > 0 ? Cause::NothingWritten : Cause::Unknown;
  verdict.method = "projection";
  verdict.wrong = std::max<uint64_t>(wrong, 1);
  verdict.total = total;
  verdict.explanation = what;
  if (poisoned > 0)
    verdict.explanation += fmt::format("; {} elements have all bits set, as before the call", poisoned);
  return verdict;
}

bool allFinite(ElementType type, const uint8_t *bytes, int64_t count) {
  switch (type) {
  case ElementType::F32: return allFinite<floatOfF32, 4>(bytes, count);
  case ElementType::F16: return allFinite<floatOfF16, 2>(bytes, count);
  case ElementType::BF16: return allFinite<floatOfBF16, 2>(bytes, count);
  default: break;
  }
  std::vector<double> number(1);
  for (int64_t i = 0; i < count; ++i) {
    readElements(type, {bytes, SIZE_MAX}, static_cast<uint64_t>(i), number);
    if (!std::isfinite(number[0]))
      return false;
  }
  return true;
}

double meanSquare(const io::TensorSpan &tensor) {
  // Within a few percent, beside a margin of many deviations.
  constexpr uint64_t kRuns = 16, kRun = 32;
  uint64_t count = tensor.elementCount(), seen = 0;
  uint64_t runs = count <= kRuns * kRun ? (count + kRun - 1) / kRun : kRuns;
  std::array<double, kRun> numbers;
  double squares = 0;
  for (uint64_t i = 0; i < runs; ++i) {
    uint64_t first = count <= kRuns * kRun ? i * kRun : (count - kRun) / (kRuns - 1) * i;
    std::span<double> some(numbers.data(), std::min(kRun, count - first));
    readElements(tensor.type, tensor.bytes, first, some);
    for (double number : some)
      squares += number * number;
    seen += some.size();
  }
  return seen == 0 ? 0 : squares / static_cast<double>(seen);
}

static double roundoff(ElementType type) {
  std::optional<FloatFormat> format = floatFormat(type);
  return format ? format->unitRoundoff() : 0.0;
}

double relativeDeviationOfResult(ElementType result) {
  return roundoff(result) / std::sqrt(3.0);
}

double relativeDeviation(ElementType accumulator, ElementType result, int64_t terms, double ofLast) {
  double ofSums = roundoff(accumulator) * std::sqrt((static_cast<double>(terms) + 8) / 6);
  double ofResult = relativeDeviationOfResult(result), ofCheck = result == ElementType::F64 ? 0 : 3 * 0x1p-24;
  return std::sqrt(ofSums * ofSums + ofLast * ofResult * ofResult + ofCheck * ofCheck);
}

double relativeDeviationOfSum(double terms, double different) {
  return 0x1p-24 * std::sqrt(terms / 9 + terms * terms / (12 * different));
}

} // namespace kiln::measure::verify
