#include "kiln/families/matmul/workload/epilogue_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"
#include "kiln/measure/verify/tolerance.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::families {

using measure::verify::Cause;
using measure::verify::Contraction;
using measure::verify::InputPlan;
using measure::verify::Pass;
using measure::verify::Verdict;

// Beyond so much, gelu is the identity or zero in f32, and so it is in what is narrower.
static constexpr int32_t kSaturated = 8;
// Room beyond the largest sum, of which InputPlan promises 16.
static constexpr int32_t kBiasSpread = 9;
static constexpr uint64_t kActivationKey = 0xAC7;
static constexpr uint64_t kHypothesisSamples = 512;
// Of the pass `activation`: places of the reduction where rhs has elements, and how many each of its columns has.
static constexpr int64_t kPlaces = 64, kTerms = 3;
// Its elements of lhs and bias are within +-2, so that no argument of the activation is beyond 8. All are multiples of
// a power of two, this or a larger one.
static constexpr int32_t kLargestElement = 2, kLargestArgument = 8;
static constexpr int kMostFractionBits = 12;

static double geluByTanh(double x) {
  return x / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

double activate(Epilogue epilogue, double x) {
  switch (epilogue) {
  case Epilogue::None:
  case Epilogue::Bias: return x;
  case Epilogue::BiasRelu: return std::max(x, 0.0);
  case Epilogue::BiasGelu: return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
  case Epilogue::BiasGeluTanh: return geluByTanh(x);
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
  return spec.epilogue != Epilogue::None && spec.epilogue != Epilogue::Bias;
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

//===--- The pass `activation` ------------------------------------------------------------------------------------===//

namespace {
// What every output element is a function of: a few terms for each column, in time O(mn) for all of them.
struct ActivationPlan {
  int fractionBits;
  std::vector<int64_t> places; // of the reduction, ascending
  using Term = measure::verify::DeviceActivation::Term;
  std::vector<Term> terms; // kTerms of each column; fewer where there are fewer places

  ActivationPlan(const MatmulSpec &spec, const Contraction &contraction, uint64_t seed)
      : key(randomBits(seed, kActivationKey)) {
    using measure::verify::exactBits;
    // Elements below 2, and sums below 8 of which each is a number of the accumulator.
    fractionBits = std::min({kMostFractionBits, contraction.operandBits(spec.lhs.type) - 1,
                             exactBits(spec.result.type) - 1, exactBits(contraction.accumulator) - 3});
    int64_t count = std::min(contraction.k, kPlaces);
    for (int64_t place = 0; place < count; ++place) {
      int64_t begin = contraction.k * place / count, end = contraction.k * (place + 1) / count;
      places.push_back(begin + static_cast<int64_t>(randomBits(key, 1, static_cast<uint64_t>(place)) %
                                                    static_cast<uint64_t>(end - begin)));
    }
    for (int64_t j = 0; j < contraction.n; ++j)
      for (int64_t term = 0; term < termsOfColumn(); ++term) {
        // Of different thirds of the places, so that none has two.
        int64_t begin = count * term / termsOfColumn(), end = count * (term + 1) / termsOfColumn();
        uint64_t bits = randomBits(key, 2, static_cast<uint64_t>(j * kTerms + term));
        terms.push_back({static_cast<uint32_t>(begin + static_cast<int64_t>((bits >> 8) % uint64_t(end - begin))),
                         (bits & 1) ? 1 : -1});
      }
  }
  int64_t termsOfColumn() const { return std::min<int64_t>(kTerms, std::ssize(places)); }
  // In units of 2^-fractionBits.
  int32_t element(uint64_t what, uint64_t i) const {
    return static_cast<int32_t>(randomBits(key, what, i) % (uint64_t(2 * kLargestElement) << fractionBits)) -
           (kLargestElement << fractionBits);
  }
  double number(int32_t units) const { return std::ldexp(units, -fractionBits); }
  int32_t largestArgument() const { return kLargestArgument << fractionBits; }

  uint64_t key;
};
constexpr uint64_t kOfLhs = 3, kOfBias = 4;
} // namespace

static void storeActivationBias(const MatmulSpec &spec, const ActivationPlan &plan, std::span<uint8_t> bytes) {
  uint64_t size = hal::elementTypeByteSize(spec.result.type);
  for (uint64_t j = 0; j < spec.n; ++j)
    io::storeFloat(spec.result.type, plan.number(plan.element(kOfBias, j)), bytes.data() + j * size);
}

Status fillActivation(const MatmulSpec &spec, const Contraction &contraction, uint64_t seed,
                      measure::MutableTensors inputs) {
  ActivationPlan plan(spec, contraction, seed);
  // Storing floats is slow, and there are few different ones.
  uint64_t size = hal::elementTypeByteSize(spec.lhs.type);
  int32_t largest = kLargestElement << plan.fractionBits;
  std::vector<uint8_t> numbers(2 * static_cast<size_t>(largest) * size);
  for (int32_t units = -largest; units < largest; ++units)
    io::storeFloat(spec.lhs.type, plan.number(units), numbers.data() + static_cast<size_t>(units + largest) * size);
  auto count = static_cast<int64_t>(inputs[0].bytes.size() / size);
  measure::verify::forParts(count, count, 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(inputs[0].bytes.data() + static_cast<size_t>(i) * size,
                  numbers.data() + static_cast<size_t>(plan.element(kOfLhs, static_cast<uint64_t>(i)) + largest) * size,
                  size);
  });
  std::ranges::fill(inputs[1].bytes, uint8_t(0));
  for (int64_t j = 0; j < contraction.n; ++j)
    for (int64_t term = 0; term < plan.termsOfColumn(); ++term) {
      const ActivationPlan::Term &of = plan.terms[j * plan.termsOfColumn() + term];
      int64_t element = contraction.rhsLayout.offset(0, plan.places[of.place], j);
      io::storeFloat(spec.rhs.type, of.sign, inputs[1].bytes.data() + static_cast<size_t>(element) * size);
    }
  storeActivationBias(spec, plan, inputs[2].bytes);
  return okStatus();
}

// relu only picks, and rounds once. gelu in f32 loses what erf or tanh, their arguments and the sum with 1 round off:
// 10 roundoffs at most, which x / 2 multiplies, and a few units in the last place; in a narrower type the last rounding
// outweighs these. The two forms differ by 4.7e-4 near -2.2, where that is many times the bound in each of the types.
static double boundOf(const MatmulSpec &spec, double x, double value) {
  const double unit = 2 * measure::verify::halfSpacing(spec.result.type, value);
  if (spec.epilogue == Epilogue::BiasRelu)
    return unit / 2;
  return 6 * 0x1p-24 * std::fabs(x) + (spec.result.type == ElementType::F32 ? 3 : 1) * unit;
}

// What each argument becomes, from the smallest on.
static std::vector<measure::verify::Expectation> activationResults(const MatmulSpec &spec, const ActivationPlan &plan) {
  std::vector<measure::verify::Expectation> results;
  for (int32_t units = -plan.largestArgument(); units <= plan.largestArgument(); ++units) {
    double value = activate(spec.epilogue, plan.number(units));
    results.push_back({value, boundOf(spec, plan.number(units), value)});
  }
  return results;
}

// Of each column, counted from the smallest argument.
static std::vector<int32_t> activationBiases(const MatmulSpec &spec, const ActivationPlan &plan) {
  std::vector<int32_t> biases;
  for (uint64_t j = 0; j < spec.n; ++j)
    biases.push_back(plan.element(kOfBias, j) + plan.largestArgument());
  return biases;
}

static constexpr const char *kActivationMethod =
    "bound: exact sums, each element within what its activation may round off of f64";

void describeActivation(const MatmulSpec &spec, const Contraction &contraction, uint64_t seed,
                        measure::verify::DeviceCase &subject) {
  ActivationPlan plan(spec, contraction, seed);
  measure::verify::DeviceActivation &activation = subject.activation;
  activation.key = plan.key;
  activation.lhs = kOfLhs;
  activation.fractionBits = plan.fractionBits;
  activation.largest = kLargestElement << plan.fractionBits;
  activation.places = plan.places;
  activation.terms = plan.terms;
  activation.termsOfColumn = plan.termsOfColumn();
  activation.biases = activationBiases(spec, plan);
  for (const measure::verify::Expectation &result : activationResults(spec, plan))
    activation.results.push_back(measure::verify::rightRange(spec.result.type, result));
  subject.bias.resize(spec.n * hal::elementTypeByteSize(spec.result.type));
  storeActivationBias(spec, plan, subject.bias);
  subject.right.total = contraction.outputCount();
  subject.right.method = kActivationMethod;
}

Verdict checkActivation(const MatmulSpec &spec, const Contraction &contraction, uint64_t seed,
                        const io::TensorSpan &output) {
  using measure::verify::Expectation;
  ActivationPlan plan(spec, contraction, seed);
  const std::vector<Expectation> results = activationResults(spec, plan);
  const std::vector<int32_t> biases = activationBiases(spec, plan);

  measure::verify::ElementCase subject;
  subject.type = spec.result.type;
  subject.shape.assign(output.shape.begin(), output.shape.end());
  subject.bytes = output.bytes;
  subject.unit = spec.n;
  subject.unitWork = spec.n * 4;
  subject.expected = [&](uint64_t first, std::span<Expectation> expected) {
    std::vector<int32_t> left(plan.places.size());
    int64_t terms = plan.termsOfColumn();
    for (uint64_t at = 0; at < expected.size(); at += spec.n) {
      auto i = static_cast<int64_t>((first + at) / spec.n);
      for (size_t place = 0; place < left.size(); ++place)
        left[place] =
            plan.element(kOfLhs, static_cast<uint64_t>(contraction.lhsLayout.offset(0, i, plan.places[place])));
      for (uint64_t j = 0; j < spec.n; ++j) {
        int32_t sum = biases[j];
        for (int64_t term = 0; term < terms; ++term) {
          const ActivationPlan::Term &of = plan.terms[static_cast<int64_t>(j) * terms + term];
          sum += of.sign * left[of.place];
        }
        expected[at + j] = results[sum];
      }
    }
  };
  subject.before = [&](uint64_t element) {
    return measure::verify::prefilledNumber(spec.result.type, Pass::WideRhs, element);
  };
  subject.method = kActivationMethod;
  return measure::verify::checkElements(subject);
}

//===--- What went wrong ------------------------------------------------------------------------------------------===//

namespace {
// What another epilogue would make of an element. `rowBias` is the bias at the number of its row.
struct Hypothesis {
  std::string what;
  std::function<double(double sum, double bias, double rowBias)> result;
};
} // namespace

static std::vector<Hypothesis> hypothesesOf(Epilogue epilogue) {
  std::vector<Hypothesis> hypotheses = {
      {"the bias was not added", [=](double sum, double, double) { return activate(epilogue, sum); }},
      {"the bias was taken by row, not by column",
       [=](double sum, double, double row) { return activate(epilogue, sum + row); }}};
  if (epilogue == Epilogue::Bias)
    return hypotheses;
  hypotheses.push_back({"the activation was not applied", [](double sum, double bias, double) { return sum + bias; }});
  hypotheses.push_back({"neither bias nor activation were applied", [](double sum, double, double) { return sum; }});
  struct Form {
    Epilogue epilogue;
    const char *name;
  };
  static constexpr Form kForms[] = {{Epilogue::BiasRelu, "relu"},
                                    {Epilogue::BiasGelu, "the exact gelu"},
                                    {Epilogue::BiasGeluTanh, "the form of gelu with tanh"}};
  const char *right = std::ranges::find(kForms, epilogue, &Form::epilogue)->name;
  for (const Form &form : kForms)
    if (form.epilogue != epilogue)
      hypotheses.push_back({fmt::format("it is {}, not {}", form.name, right),
                            [form](double sum, double bias, double) { return activate(form.epilogue, sum + bias); }});
  return hypotheses;
}

// Whether numbers of the type differ by no more than a few roundings.
static bool areNear(ElementType type, double a, double b) {
  double relative = type == ElementType::F32 ? 0x1p-20 : type == ElementType::F16 ? 0x1p-10 : 0x1p-7;
  return std::fabs(a - b) <= std::max(0x1p-18, relative * std::fabs(a));
}

void explainEpilogue(const MatmulSpec &spec, const Contraction &contraction, measure::Tensors inputs,
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
