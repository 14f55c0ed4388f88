// Some rows of each head, computed again in f64.
#include <algorithm>
#include <cmath>

#include "kiln/families/attention/workload/attention_verification.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/line_check.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"
#include "kiln/measure/verify/sampled_lines.h"

namespace kiln::families {

using hal::ElementType;
using namespace measure::verify;

// Rows of each head, one of each of as many parts of it; and of all heads, where these are few.
static constexpr uint64_t kFewestOfHead = 8, kFewestOfAll = 64;
// Of a weight, in f32: exp within 4 ULP, a quotient.
static constexpr double kWeightRoundings = 8;

namespace {

struct SampledRows {
  AttentionSpec spec;
  std::vector<uint64_t> rows;
  std::vector<SampledElement> elements; // of these rows
};

class SampledRowCheck final : public TimedCheck {
public:
  explicit SampledRowCheck(SampledRows given) : sample(std::move(given)) {}

  Verdict check(measure::Tensors outputs) const override {
    const AttentionSpec &spec = sample.spec;
    if (std::string mismatch = mismatchOf(outputs, spec.type, spec.output().shape); !mismatch.empty())
      return timedFailure(mismatch, 1, 1, 0);
    const io::TensorSpan &output = outputs[0];
    uint64_t total = output.elementCount();
    if (!allFinite(spec.type, output.bytes.data(), static_cast<int64_t>(total)))
      return timedFailure("some elements are no numbers", 1, total, countPoisoned(output));
    SampledComparison comparison;
    std::vector<double> row(spec.valueDepth);
    for (size_t r = 0; r < sample.rows.size(); ++r) {
      readElements(spec.type, output.bytes, sample.rows[r] * spec.valueDepth, row);
      comparison.add(std::span(sample.elements).subspan(r * spec.valueDepth, spec.valueDepth), row);
    }
    return comparison.verdict(fmt::format("{} rows of {}", sample.rows.size(), spec.heads * spec.queries), output);
  }

private:
  SampledRows sample;
};

double dot(const double *a, const double *b, uint64_t count) {
  constexpr uint64_t kLanes = 8; // independent sums, so that compilers make vectors of them
  double lanes[kLanes] = {}, sum = 0;
  uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (uint64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += a[i + lane] * b[i + lane];
  for (; i < count; ++i)
    sum += a[i] * b[i];
  for (double lane : lanes)
    sum += lane;
  return sum;
}

// Keys and values of one head as numbers.
class Head {
public:
  Head(const AttentionSpec &spec, measure::Tensors inputs, uint64_t head)
      : spec(spec), queries(inputs[0]), keys(spec.keys * spec.depth), values(spec.keys * spec.valueDepth) {
    readElements(spec.type, inputs[1].bytes, head * keys.size(), keys);
    readElements(spec.type, inputs[2].bytes, head * values.size(), values);
  }

  // `row` counts queries of all heads.
  void sample(uint64_t row, std::span<SampledElement> elements) const {
    const uint64_t seen = spec.visibleKeys(row % spec.queries);
    std::vector<double> query(spec.depth), scores(seen), sums(spec.valueDepth), squares(spec.valueDepth),
        ofScores(spec.valueDepth);
    readElements(spec.type, queries.bytes, row * spec.depth, query);
    double squareOfScores = 0;
    for (uint64_t j = 0; j < seen; ++j) {
      scores[j] = dot(query.data(), keys.data() + j * spec.depth, spec.depth) * double(spec.scale());
      squareOfScores += scores[j] * scores[j] / static_cast<double>(seen);
    }
    const double most = *std::ranges::max_element(scores);
    double total = 0;
    for (double score : scores)
      total += std::exp(score - most);
    const double ofProducts = relativeDeviation(ElementType::F32, ElementType::F64, int64_t(spec.depth));
    double ofWeights = 0; // what is added to their sum
    for (uint64_t j = 0; j < seen; ++j) {
      const double weight = std::exp(scores[j] - most) / total;
      // exp turns what its argument is off by into a relative error: that of the score, its scale and its difference,
      // and exp has one of its own.
      const double relative = ofProducts * std::sqrt(squareOfScores) +
                              0x1p-24 * (std::fabs(scores[j]) + most - scores[j] + kWeightRoundings);
      ofWeights += weight * weight * relative * relative;
      for (uint64_t c = 0; c < spec.valueDepth; ++c) {
        const double part = weight * values[j * spec.valueDepth + c];
        sums[c] += part;
        squares[c] += part * part;
        ofScores[c] += part * part * relative * relative;
      }
    }
    const double ofSums = relativeDeviation(ElementType::F32, ElementType::F64, static_cast<int64_t>(seen)),
                 ofResult = relativeDeviationOfResult(spec.type),
                 smallest = std::ldexp(1.0, floatFormat(spec.type)->lowestExponent);
    for (uint64_t c = 0; c < spec.valueDepth; ++c) {
      const double square = sums[c] * sums[c];
      const double deviation = std::sqrt(ofScores[c] + ofWeights * square + ofSums * ofSums * (squares[c] + square) +
                                         ofResult * ofResult * square);
      // What the sum of the weights loses is the same factor for the whole row.
      const double ofSum = static_cast<double>(seen) * 0x1p-24 * std::fabs(sums[c]);
      elements[c] = {sums[c], static_cast<float>(deviation + smallest), static_cast<float>(ofSum)};
    }
  }

private:
  const AttentionSpec &spec;
  const io::TensorSpan &queries;
  std::vector<double> keys, values;
};

} // namespace

std::unique_ptr<TimedCheck> timedAttention(const AttentionSpec &spec, AttentionInputs inputs, uint64_t seed) {
  const measure::TensorType expected[] = {spec.query(), spec.key(), spec.value()};
  if (!std::ranges::equal(inputs, expected, [](const io::TensorSpan &tensor, const measure::TensorType &type) {
        return tensor.type == type.type && std::ranges::equal(tensor.shape, type.shape);
      }))
    return nullptr;
  uint64_t ofHead = std::max(kFewestOfHead, (kFewestOfAll + spec.heads - 1) / spec.heads);
  ofHead = std::min(ofHead, spec.queries);
  SampledRows sample{spec, std::vector<uint64_t>(spec.heads * ofHead), {}};
  sample.elements.resize(sample.rows.size() * spec.valueDepth);
  auto heads = static_cast<int64_t>(spec.heads);
  auto work = static_cast<int64_t>(spec.keys * (spec.depth + spec.valueDepth) * (ofHead + 4));
  forParts(heads, heads * work, 2, [&](int64_t begin, int64_t end) {
    for (auto head = static_cast<uint64_t>(begin); head < static_cast<uint64_t>(end); ++head) {
      const Head numbers(spec, inputs, head);
      for (uint64_t part = 0; part < ofHead; ++part) {
        uint64_t from = spec.queries * part / ofHead, to = spec.queries * (part + 1) / ofHead,
                 at = head * ofHead + part;
        sample.rows[at] = head * spec.queries + from + randomBits(seed, at) % (to - from);
        numbers.sample(sample.rows[at], std::span(sample.elements).subspan(at * spec.valueDepth, spec.valueDepth));
      }
    }
  });
  return std::make_unique<SampledRowCheck>(std::move(sample));
}

} // namespace kiln::families
