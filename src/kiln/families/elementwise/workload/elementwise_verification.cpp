#include "kiln/families/elementwise/workload/elementwise_verification.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "kiln/base/narrow_float.h"
#include "kiln/base/random.h"
#include "kiln/measure/verify/element_inputs.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/narrowing.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {

using hal::ElementType;
using measure::verify::Cause;
using measure::verify::ElementCase;
using measure::verify::Expectation;
using measure::verify::fillElements;

static constexpr size_t kValues = 0, kSpecial = 1;
// Elements that are computed at once.
static constexpr uint64_t kChunk = 4096;

//===--- What is right --------------------------------------------------------------------------------------------===//

Expectation expectedElement(const ElementwiseSpec &spec, double x, double y) {
  // Libraries differ in what relu makes of NaN.
  if (spec.op->name == "relu" && std::isnan(x))
    return {0, HUGE_VAL};
  if (spec.type == ElementType::I32) {
    // Without sign, so that they wrap around.
    auto a = static_cast<uint32_t>(static_cast<int32_t>(x)), b = static_cast<uint32_t>(static_cast<int32_t>(y));
    return {double(static_cast<int32_t>(spec.op->name == "add" ? a + b : a * b)), 0};
  }
  double value = spec.op->apply(x, y);
  if (spec.op->exact)
    return {measure::verify::roundTo(spec.type, value), 0};
  double bound = spec.op->bound(x, value);
  if (spec.type != ElementType::F32 && std::isfinite(bound))
    bound += measure::verify::halfSpacing(spec.type, std::fabs(value) + bound);
  return {value, bound};
}

//===--- Inputs ---------------------------------------------------------------------------------------------------===//

// Numbers of the range, all different for f32; of the narrow types 4096 equally likely ones, since encoding is slow.
static void fillValues(const ElementwiseSpec &spec, uint64_t key, const measure::MutableTensor &tensor) {
  double low = spec.op->low, range = spec.op->high - spec.op->low;
  if (spec.type == ElementType::I32) {
    // Products fit: some programs saturate where others wrap around.
    fillElements<int32_t>(tensor.bytes,
                          [&](uint64_t i) { return static_cast<int32_t>(randomBits(key, i) >> 48) - (1 << 15); });
  } else if (spec.type == ElementType::F32) {
    fillElements<float>(tensor.bytes,
                        [&](uint64_t i) { return static_cast<float>(low + range * fraction(randomBits(key, i))); });
  } else {
    const NarrowFloat &format = spec.type == ElementType::F16 ? kF16 : kBF16;
    std::vector<uint16_t> table(4096);
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = format.encode(low + range * static_cast<double>(i) / static_cast<double>(table.size()));
    fillElements<uint16_t>(tensor.bytes, [&](uint64_t i) { return table[randomBits(key, i) % table.size()]; });
  }
}

Status fillElementwise(const ElementwiseSpec &spec, size_t pass, uint64_t seed, measure::MutableTensors inputs) {
  if (inputs.size() != spec.op->inputs)
    return invalidArgument("{} has {} inputs, not {}", spec.name(), spec.op->inputs, inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    uint64_t key = randomBits(seed, pass, i);
    if (pass == kValues)
      fillValues(spec, key, inputs[i]);
    else
      measure::verify::fillSpecial(spec.type, key, inputs[i].bytes);
  }
  return okStatus();
}

// The passes of verify/inputs.h differ in what outputs hold: small integers, or NaN.
static measure::verify::Pass prefillOf(size_t pass) {
  return pass == kSpecial ? measure::verify::Pass::WideRhs : measure::verify::Pass::Sums;
}

void prefillElementwise(size_t pass, measure::MutableTensors outputs) {
  for (const measure::MutableTensor &output : outputs)
    measure::verify::prefillOutput(output.type, prefillOf(pass), output.bytes);
}

//===--- Checking -------------------------------------------------------------------------------------------------===//

namespace {
// All results of an operation with one input that has 16 bits.
class NarrowTable {
public:
  explicit NarrowTable(const ElementwiseSpec &spec) : expectations(1 << 16) {
    std::vector<uint16_t> bits(expectations.size());
    for (size_t i = 0; i < bits.size(); ++i)
      bits[i] = static_cast<uint16_t>(i);
    std::vector<double> numbers(bits.size());
    measure::verify::readElements(spec.type, {reinterpret_cast<const uint8_t *>(bits.data()), bits.size() * 2}, 0,
                                  numbers);
    for (size_t i = 0; i < bits.size(); ++i)
      expectations[i] = expectedElement(spec, numbers[i], 0);
  }
  std::span<const Expectation> all() const { return expectations; }
  void look(const uint8_t *elements, std::span<Expectation> expected) const {
    for (size_t i = 0; i < expected.size(); ++i) {
      uint16_t bits;
      std::memcpy(&bits, elements + 2 * i, 2);
      expected[i] = expectations[bits];
    }
  }

private:
  std::vector<Expectation> expectations;
};
} // namespace

static bool hasNarrowTable(const ElementwiseSpec &spec) {
  return hal::elementTypeByteSize(spec.type) == 2 && spec.op->inputs == 1;
}

static const char *methodOf(const ElementwiseSpec &spec) {
  return spec.op->exact ? "exact: each element computed again in f64 and rounded once"
                        : "bound: each element within the rounding errors of f32 arithmetic of f64";
}

Result<measure::verify::DeviceElements> elementsOnDevice(const ElementwiseSpec &spec) {
  using Rule = measure::verify::DeviceElements::Rule;
  measure::verify::DeviceElements elements{.type = spec.type, .elements = spec.elements()};
  if (hasNarrowTable(spec)) {
    elements.rule = Rule::Table;
    const NarrowTable table(spec);
    for (const Expectation &expected : table.all())
      elements.table.push_back(measure::verify::rightElements(spec.type, expected, /*mayFlush=*/!spec.op->exact));
    return elements;
  }
  constexpr std::pair<std::string_view, Rule> kRules[] = {
      {"add", Rule::Add}, {"mul", Rule::Multiply}, {"relu", Rule::Relu}, {"sqrt", Rule::SquareRoot}};
  const auto *rule = std::ranges::find(kRules, spec.op->name, &std::pair<std::string_view, Rule>::first);
  if (rule == std::end(kRules))
    return unimplemented("no kernel checks {} in f64 on a device", spec.op->name);
  elements.rule = rule->second;
  return elements;
}

measure::verify::Verdict rightElementwise(const ElementwiseSpec &spec) {
  measure::verify::Verdict verdict;
  verdict.method = methodOf(spec);
  verdict.total = spec.elements();
  return verdict;
}

static void expectElements(const ElementwiseSpec &spec, measure::Tensors inputs, uint64_t first,
                           std::span<Expectation> expected) {
  std::vector<double> x(std::min<size_t>(expected.size(), kChunk)), y(x.size());
  for (size_t done = 0; done < expected.size(); done += x.size()) {
    size_t count = std::min(x.size(), expected.size() - done);
    measure::verify::readElements(spec.type, inputs[0].bytes, first + done, std::span(x).first(count));
    if (inputs.size() > 1)
      measure::verify::readElements(spec.type, inputs[1].bytes, first + done, std::span(y).first(count));
    for (size_t i = 0; i < count; ++i)
      expected[done + i] = expectedElement(spec, x[i], y[i]);
  }
}

// Programs that take a shortcut through a narrower type.
static std::vector<measure::verify::Suspicion> narrowedInputs(const ElementwiseSpec &spec, measure::Tensors inputs) {
  using namespace measure::verify;
  std::vector<Suspicion> suspicions;
  for (const Narrowing &narrowing : narrowings(spec.type))
    suspicions.push_back({Cause::NarrowedInputs, fmt::format("they are the results for inputs {}", narrowing.text()),
                          [&spec, inputs, narrowing](uint64_t element) {
                            double x = 0, y = 0;
                            readElements(spec.type, inputs[0].bytes, element, {&x, 1});
                            if (inputs.size() > 1)
                              readElements(spec.type, inputs[1].bytes, element, {&y, 1});
                            return expectedElement(spec, narrowing.of(x), narrowing.of(y));
                          }});
  return suspicions;
}

// Inputs with two dimensions of the same extent, which are taken for each other.
static std::vector<measure::verify::Suspicion> swappedInputs(const ElementwiseSpec &spec, measure::Tensors inputs) {
  std::vector<measure::verify::Suspicion> suspicions;
  auto swapped = [shape = spec.shape](uint64_t element, size_t a, size_t b) {
    std::vector<uint64_t> at(shape.size());
    for (size_t d = shape.size(); d-- > 0; element /= shape[d])
      at[d] = element % shape[d];
    std::swap(at[a], at[b]);
    uint64_t other = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      other = other * shape[d] + at[d];
    return other;
  };
  for (size_t b = 1; b < spec.shape.size(); ++b)
    for (size_t a = 0; a < b; ++a)
      // Of two inputs one or the other is swapped, or both.
      for (unsigned which = 1; spec.shape[a] == spec.shape[b] && which < (1U << inputs.size()); ++which)
        suspicions.push_back({Cause::SwappedLayout, "they are the results for an input read in the other layout",
                              [&spec, inputs, swapped, a, b, which](uint64_t element) {
                                double numbers[2] = {0, 0};
                                for (size_t i = 0; i < inputs.size(); ++i)
                                  measure::verify::readElements(spec.type, inputs[i].bytes,
                                                                which >> i & 1 ? swapped(element, a, b) : element,
                                                                {&numbers[i], 1});
                                return expectedElement(spec, numbers[0], numbers[1]);
                              }});
  return suspicions;
}

measure::verify::Verdict checkElementwise(const ElementwiseSpec &spec, size_t pass, measure::Tensors inputs,
                                          measure::Tensors outputs) {
  ElementCase subject;
  subject.type = spec.type;
  subject.shape = spec.shape;
  subject.bytes = outputs[0].bytes;
  subject.before = [&](uint64_t element) {
    return measure::verify::prefilledNumber(spec.type, prefillOf(pass), element);
  };
  subject.method = methodOf(spec);
  subject.mayFlush = !spec.op->exact;
  if (pass == kValues) {
    subject.suspicions = narrowedInputs(spec, inputs);
    for (measure::verify::Suspicion &suspicion : swappedInputs(spec, inputs))
      subject.suspicions.push_back(std::move(suspicion));
  }
  if (hasNarrowTable(spec)) {
    NarrowTable table(spec);
    subject.unitWork = 4;
    subject.expected = [&](uint64_t first, std::span<Expectation> expected) {
      table.look(inputs[0].bytes.data() + 2 * first, expected);
    };
    return checkElements(subject);
  }
  subject.unitWork = spec.op->exact ? 8 : 40;
  subject.expected = [&](uint64_t first, std::span<Expectation> expected) {
    expectElements(spec, inputs, first, expected);
  };
  return checkElements(subject);
}

Status elementwiseReference(const ElementwiseSpec &spec, measure::Tensors inputs, measure::MutableTensors outputs) {
  if (inputs.size() != spec.op->inputs || outputs.size() != 1)
    return invalidArgument("{} has {} inputs and 1 output", spec.name(), spec.op->inputs);
  uint64_t bytes = hal::elementTypeByteSize(spec.type), count = spec.elements();
  std::vector<double> x(std::min(count, kChunk)), y(x.size());
  for (uint64_t done = 0; done < count; done += x.size()) {
    uint64_t now = std::min<uint64_t>(x.size(), count - done);
    measure::verify::readElements(spec.type, inputs[0].bytes, done, std::span(x).first(now));
    if (inputs.size() > 1)
      measure::verify::readElements(spec.type, inputs[1].bytes, done, std::span(y).first(now));
    for (uint64_t i = 0; i < now; ++i)
      measure::verify::writeElement(spec.type, expectedElement(spec, x[i], y[i]).value,
                                    outputs[0].bytes.data() + (done + i) * bytes);
  }
  return okStatus();
}

} // namespace kiln::families
