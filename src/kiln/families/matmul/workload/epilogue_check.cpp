#include "kiln/families/matmul/workload/epilogue_check.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/tolerance.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::families {

using measure::verify::Cause;
using measure::verify::Contraction;
using measure::verify::InputPlan;
using measure::verify::Pass;
using measure::verify::randomBits;
using measure::verify::Verdict;

// Beyond so much, gelu is the identity or zero in f32, and so it is in what is narrower.
static constexpr int32_t kSaturated = 8;
// Room beyond the largest sum, of which InputPlan promises 16.
static constexpr int32_t kBiasSpread = 9;
static constexpr uint64_t kActivationKey = 0xAC7;
// Sums are scaled to about this size: most are where activations bend.
static constexpr double kTypicalSum = 1.5;
static constexpr uint64_t kHypothesisSamples = 512;
// Multiplications that a check of samples takes about, and how many samples there are at least and at most. An
// activation is the same for all elements: a few hundred that are spread over all its arguments tell it from others.
static constexpr uint64_t kSampleWork = uint64_t(1) << 21;
static constexpr uint64_t kFewestSamples = 512, kMostSamples = 4096;

double activate(Epilogue epilogue, double x) {
  switch (epilogue) {
  case Epilogue::None:
  case Epilogue::Bias: return x;
  case Epilogue::BiasRelu: return std::max(x, 0.0);
  case Epilogue::BiasGelu: return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
  }
  return x;
}

BiasPlan planBias(const MatmulSpec &spec, const Contraction &contraction, Pass pass, uint64_t seed) {
  auto limit = static_cast<int32_t>(InputPlan::make(contraction, pass, seed, 1, /*roomForBias=*/true).resultLimit());
  BiasPlan plan;
  uint64_t key = randomBits(seed, static_cast<uint64_t>(pass), kActivationKey);
  for (uint64_t j = 0; j < spec.n; ++j) {
    uint64_t bits = randomBits(key, j);
    int32_t magnitude = limit + kSaturated + static_cast<int32_t>((bits >> 8) % kBiasSpread);
    bool negative = bits & 1;
    if (spec.epilogue == Epilogue::Bias && (bits & 2))
      magnitude %= kBiasSpread;
    plan.bias.push_back(negative ? -magnitude : magnitude);
    bool zero = spec.epilogue != Epilogue::Bias && negative;
    plan.columns.scale.push_back(zero ? 0 : 1);
    plan.columns.bias.push_back(zero ? 0 : plan.bias.back());
  }
  plan.columns.ofAnySum = [epilogue = spec.epilogue, bias = plan.bias](double sum, int64_t j) {
    return activate(epilogue, sum + bias[j]);
  };
  return plan;
}

bool hasActivationPass(const MatmulSpec &spec) {
  return spec.epilogue == Epilogue::BiasRelu || spec.epilogue == Epilogue::BiasGelu;
}

//===--- Elements in f64 ------------------------------------------------------------------------------------------===//

static double numberAt(ElementType type, std::span<const uint8_t> bytes, int64_t element) {
  return io::elementAsDouble(type, bytes.data() + element * static_cast<int64_t>(hal::elementTypeByteSize(type)));
}

// Exact: sums have few bits.
static double dot(const Contraction &c, std::span<const uint8_t> lhs, std::span<const uint8_t> rhs, int64_t i,
                  int64_t j) {
  double sum = 0;
  for (int64_t p = 0; p < c.k; ++p)
    sum += numberAt(c.lhs, lhs, c.lhsLayout.offset(0, i, p)) * numberAt(c.rhs, rhs, c.rhsLayout.offset(0, p, j));
  return sum;
}

static double geluByTanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

//===--- The pass `activation` ------------------------------------------------------------------------------------===//

static void scale(const measure::MutableTensor &tensor, int exponent) {
  uint64_t size = hal::elementTypeByteSize(tensor.type);
  for (size_t at = 0; at + size <= tensor.bytes.size(); at += size) {
    uint8_t *element = tensor.bytes.data() + at;
    io::storeFloat(tensor.type, std::ldexp(io::elementAsDouble(tensor.type, element), exponent), element);
  }
}

Status fillActivation(const MatmulSpec &spec, const Contraction &contraction, uint64_t seed,
                      std::span<const measure::MutableTensor> inputs) {
  KILN_RETURN_IF_ERROR(measure::verify::fillInputs(contraction, Pass::Sums, randomBits(seed, kActivationKey),
                                                   inputs[0].bytes, inputs[1].bytes, 2, /*roomForBias=*/true));
  std::vector<double> sums;
  for (uint64_t sample = 0; sample < 64; ++sample)
    sums.push_back(std::fabs(dot(contraction, inputs[0].bytes, inputs[1].bytes,
                                 static_cast<int64_t>(randomBits(seed, sample, 1) % spec.m),
                                 static_cast<int64_t>(randomBits(seed, sample, 2) % spec.n))));
  std::ranges::sort(sums);
  double median = sums[sums.size() / 2];
  // Powers of two change no sum but in its exponent. Both operands take a half, so that neither gets too small.
  int exponent = median > kTypicalSum ? static_cast<int>(std::lround(std::log2(median / kTypicalSum))) : 0;
  scale(inputs[0], -(exponent / 2));
  scale(inputs[1], -(exponent - exponent / 2));
  uint64_t size = hal::elementTypeByteSize(spec.result.type);
  for (uint64_t j = 0; j < spec.n; ++j) {
    auto eighths = static_cast<int>(randomBits(seed, j, 3) % 33) - 16;
    io::storeFloat(spec.result.type, eighths / 8.0, inputs[2].bytes.data() + j * size);
  }
  return okStatus();
}

// relu only picks, and rounds once. gelu in f32 loses what erf, two products and 1 + erf round off: of a unit at 1
// where the result is small, of a few units in the last place elsewhere; in a narrower type the last rounding outweighs
// that. The form with tanh is off by 4.7e-4 near -2.2, where that is many times the bound in each of the types.
static measure::verify::ElementBound boundOf(const MatmulSpec &spec) {
  if (spec.epilogue == Epilogue::BiasRelu)
    return {.ulps = 0.5};
  return {.ulps = spec.result.type == ElementType::F32 ? 4.0 : 1.0, .absolute = 0x1p-20};
}

Verdict checkActivation(const MatmulSpec &spec, const Contraction &contraction, uint64_t seed,
                        std::span<const io::TensorSpan> inputs, const io::TensorSpan &output) {
  auto expected = [&](uint64_t element) {
    auto i = static_cast<int64_t>(element / spec.n), j = static_cast<int64_t>(element % spec.n);
    double bias = numberAt(spec.result.type, inputs[2].bytes, j);
    return activate(spec.epilogue, dot(contraction, inputs[0].bytes, inputs[1].bytes, i, j) + bias);
  };
  return measure::verify::checkSampled(
      spec.result.type, output.shape, output.bytes, expected, boundOf(spec),
      {.samples = std::clamp(kSampleWork / spec.k, kFewestSamples, kMostSamples), .seed = seed});
}

//===--- What went wrong ------------------------------------------------------------------------------------------===//

namespace {
// What another epilogue would make of an element. `rowBias` is the bias at the number of its row.
struct Hypothesis {
  const char *what;
  std::function<double(double sum, double bias, double rowBias)> result;
};
} // namespace

static std::vector<Hypothesis> hypothesesOf(Epilogue epilogue) {
  bool gelu = epilogue == Epilogue::BiasGelu;
  std::vector<Hypothesis> hypotheses = {
      {"the bias was not added", [=](double sum, double, double) { return activate(epilogue, sum); }},
      {"the bias was taken by row, not by column",
       [=](double sum, double, double row) { return activate(epilogue, sum + row); }}};
  if (epilogue == Epilogue::Bias)
    return hypotheses;
  hypotheses.push_back({"the activation was not applied", [](double sum, double bias, double) { return sum + bias; }});
  hypotheses.push_back({"neither bias nor activation were applied", [](double sum, double, double) { return sum; }});
  Epilogue other = gelu ? Epilogue::BiasRelu : Epilogue::BiasGelu;
  hypotheses.push_back({gelu ? "it is relu, not gelu" : "it is gelu, not relu",
                        [=](double sum, double bias, double) { return activate(other, sum + bias); }});
  if (gelu)
    hypotheses.push_back({"it is the form of gelu with tanh, not the exact one",
                          [](double sum, double bias, double) { return geluByTanh(sum + bias); }});
  return hypotheses;
}

// Whether numbers of the type differ by no more than a few roundings.
static bool areNear(ElementType type, double a, double b) {
  double relative = type == ElementType::F32 ? 0x1p-20 : type == ElementType::F16 ? 0x1p-10 : 0x1p-7;
  return std::fabs(a - b) <= std::max(0x1p-18, relative * std::fabs(a));
}

void explainEpilogue(const MatmulSpec &spec, const Contraction &contraction, std::span<const io::TensorSpan> inputs,
                     const io::TensorSpan &output, Verdict &verdict) {
  // A few wrong elements match anything by chance.
  bool few = verdict.examples.size() < 4 && verdict.wrong < verdict.total;
  if (verdict.ok() || few || verdict.cause == Cause::NothingWritten || verdict.cause == Cause::NotANumber)
    return;
  for (const Hypothesis &hypothesis : hypothesesOf(spec.epilogue)) {
    auto expected = [&](uint64_t element) {
      auto i = static_cast<int64_t>(element / spec.n), j = static_cast<int64_t>(element % spec.n);
      auto row = std::min(i, static_cast<int64_t>(spec.n) - 1);
      return hypothesis.result(dot(contraction, inputs[0].bytes, inputs[1].bytes, i, j),
                               numberAt(spec.result.type, inputs[2].bytes, j),
                               numberAt(spec.result.type, inputs[2].bytes, row));
    };
    // Those that are known to be wrong, and then any.
    bool fits = std::ranges::all_of(verdict.examples, [&](const measure::verify::Mismatch &wrong) {
      return areNear(spec.result.type, expected(wrong.index[0] * spec.n + wrong.index[1]), wrong.actual);
    });
    if (!fits || !measure::verify::checkSampled(spec.result.type, output.shape, output.bytes, expected,
                                                {.ulps = 8, .absolute = 0x1p-18}, {.samples = kHypothesisSamples})
                      .ok())
      continue;
    verdict.cause = Cause::WrongEpilogue;
    verdict.explanation += fmt::format("; {}", hypothesis.what);
    return;
  }
}

} // namespace kiln::families
