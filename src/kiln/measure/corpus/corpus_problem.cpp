#include "kiln/measure/corpus/corpus_problem.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <functional>
#include <utility>

#include "kiln/base/clock.h"
#include "kiln/base/random.h"
#include "kiln/measure/workers/timing_data.h"
#include "kiln/runtime/hal/buffer_view.h"
#include "kiln/runtime/io/element_text.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln::measure::corpus {

using verify::Cause;
using verify::Verdict;

// Longer lists of types are a hash in names.
static constexpr size_t kLongestTypes = 48;
static constexpr size_t kLongestPlace = 100;

// What outputs hold before a run, so that what is not written shows in one of two passes also where it is right by
// chance: all bits, which is NaN or -1, and a pattern.
static constexpr uint8_t kPrefill[] = {0xFF, 0x5A};

static std::string asName(std::string_view text) {
  std::string name;
  for (char c : text)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' ? c : '_';
  return name;
}

// FNV-1a: the same everywhere and always, as names have to be.
static std::string hashName(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325;
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return fmt::format("_{:08x}", static_cast<uint32_t>(hash ^ (hash >> 32)));
}

static std::string typesName(const Signature &signature) {
  std::string text;
  for (const std::vector<TensorType> *list : {&signature.inputs, &signature.outputs})
    for (const TensorType &type : *list)
      text += "_" + hal::shapeText(type.type, type.shape);
  if (text.size() <= kLongestTypes)
    return text;
  return hashName(signature.text());
}

std::string problemName(const Program &program) {
  // Names are folders, too, and those have 255 characters at most.
  std::string place = asName(program.place);
  if (place.size() > kLongestPlace)
    place = place.substr(place.size() - kLongestPlace) + hashName(program.place);
  std::string name = fmt::format("{}_{}", kFamily, place);
  if (!program.only)
    name += "_" + asName(program.function);
  return name + typesName(program.signature);
}

std::string textHash(std::string_view text) {
  XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Fields CorpusProblem::fields() const {
  // A file that was edited is another program, which its name does not tell.
  std::pair<std::string, std::string> text = {"text", textHash(program.text)};
  if (program.signature.outputs.empty())
    return {{"file", program.file}, text};
  std::vector<std::pair<std::string, std::string>> all = {{"file", program.file},
                                                          {"function", program.function},
                                                          {"inputs", typesText(program.signature.inputs)},
                                                          {"outputs", typesText(program.signature.outputs)},
                                                          text};
  if (known)
    all.emplace_back("operation", known->name());
  return all;
}

//===--- Inputs --------------------------------------------------------------------------------------------------===//

std::vector<std::string> CorpusProblem::passes() const {
  std::vector<std::string> names = known ? known->passes() : std::vector<std::string>();
  for (std::string &name : ownPasses())
    names.push_back(std::move(name));
  return names;
}

// Where the operation is known, inputs without results would add nothing to its passes.
std::vector<std::string> CorpusProblem::ownPasses() const {
  if (known && program.goldens.outputs.empty())
    return {};
  if (!program.goldens.outputs.empty())
    return {"golden", "golden, in other memory"};
  if (!program.goldens.inputs.empty())
    return {"given inputs", "given inputs, in other memory"};
  return {"random data", "small integers"};
}

// Integers that floats hold exactly, as they do short sums of their products, so that no difference is due to rounding.
static void fillSmallIntegers(uint64_t seed, const MutableTensor &tensor) {
  fillForTiming(seed, tensor);
  if (tensor.type == io::ElementType::I1)
    return;
  uint64_t size = hal::elementTypeByteSize(tensor.type);
  bool isUnsigned = hal::elementTypeName(tensor.type).starts_with("ui");
  for (uint64_t at = 0; at < tensor.bytes.size(); at += size) {
    int64_t value = static_cast<int64_t>(randomBits(seed, at) % 9) - (isUnsigned ? 0 : 4);
    if (io::isFloat(tensor.type))
      io::storeFloat(tensor.type, static_cast<double>(value), tensor.bytes.data() + at);
    else
      std::memcpy(tensor.bytes.data() + at, &value, size);
  }
}

Status CorpusProblem::fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const {
  if (pass >= passes().size() || inputs.size() != program.signature.inputs.size())
    return invalidArgument("{}: pass {} with {} inputs was asked for; there are {} and {}", fullName, pass,
                           inputs.size(), passes().size(), program.signature.inputs.size());
  if (pass < knownPasses())
    return known->fillInputs(pass, seed, inputs);
  pass -= knownPasses();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!program.goldens.inputs.empty()) {
      std::span<const uint8_t> bytes = program.goldens.inputs[i].bytes();
      if (bytes.size() != inputs[i].bytes.size())
        return invalidArgument("{}: input {} has {} bytes, not {}", fullName, i, bytes.size(), inputs[i].bytes.size());
      std::ranges::copy(bytes, inputs[i].bytes.begin());
      continue;
    }
    uint64_t own = seed * 1'000'003 + i;
    if (pass == 0)
      fillForTiming(own, inputs[i]);
    else
      fillSmallIntegers(own, inputs[i]);
  }
  return okStatus();
}

void CorpusProblem::prefillOutputs(size_t pass, measure::MutableTensors outputs) const {
  if (pass < knownPasses())
    return known->prefillOutputs(pass, outputs);
  for (const MutableTensor &output : outputs)
    std::ranges::fill(output.bytes, kPrefill[(pass - knownPasses()) % std::size(kPrefill)]);
}

//===--- Results -------------------------------------------------------------------------------------------------===//

Status CorpusProblem::reference(measure::Tensors inputs, measure::MutableTensors outputs) const {
  if (known)
    return known->reference(inputs, outputs);
  if (!baseline)
    return unimplemented("{} has nothing to be compared with", fullName);
  return baseline(inputs, outputs);
}

Result<std::vector<io::HostTensor>> CorpusProblem::compute(const Baseline &computes, measure::Tensors inputs) const {
  std::vector<io::HostTensor> outputs;
  std::vector<MutableTensor> spans;
  for (const TensorType &type : program.signature.outputs) {
    KILN_ASSIGN_OR_RETURN(io::HostTensor tensor, io::HostTensor::zeros(type.type, type.shape));
    outputs.push_back(std::move(tensor));
  }
  for (io::HostTensor &tensor : outputs)
    spans.push_back({tensor.type(), tensor.shape(), tensor.bytes()});
  const uint64_t start = clock();
  Status status = computes(inputs, spans);
  timedCost.lastRun = clock() - start;
  timedCost.shortestRun = std::min(timedCost.shortestRun, timedCost.lastRun);
  KILN_RETURN_IF_ERROR(std::move(status));
  return outputs;
}

CorpusProblem::Expected CorpusProblem::computeExpected(measure::Tensors inputs) const {
  Expected made;
  auto plain = [&]() -> Result<std::vector<io::HostTensor>> {
    return baseline ? compute(baseline, inputs) : unimplemented("{} has nothing to be compared with", fullName);
  }();
  if (wide && wideFailed.empty()) {
    Result<std::vector<io::HostTensor>> widened = compute(wide, inputs);
    if (!widened.ok())
      wideFailed = widened.status().message();
    for (size_t i = 0; plain.ok() && widened.ok() && i < widened->size(); ++i)
      if (!compare((*plain)[i].span(), (*widened)[i].span(), program.tolerance, kPrefill[0]).ok())
        wideFailed = "a build that computes in f64 is further from it than this, so that rounding decides what the "
                     "program gives, or one of them is wrong";
    if (wideFailed.empty()) {
      made.isWide = true;
      made.outputs = *std::move(widened);
      return made;
    }
  }
  made.status = plain.status();
  if (plain.ok())
    made.outputs = *std::move(plain);
  return made;
}

const CorpusProblem::Expected &CorpusProblem::expected(size_t pass, uint64_t seed, measure::Tensors inputs) const {
  if (!lastExpected || lastExpected->pass != pass || lastExpected->seed != seed) {
    lastExpected = computeExpected(inputs);
    lastExpected->pass = pass, lastExpected->seed = seed;
  }
  return *lastExpected;
}

//===--- Timed calls ---------------------------------------------------------------------------------------------===//

namespace {
// A right program may differ in single elements, where a number is near to one at which the program decides something.
constexpr uint64_t kElementsForAnError = 64;

class TimedComparison final : public verify::TimedCheck {
public:
  TimedComparison(std::vector<io::HostTensor> expected, const Tolerance &tolerance)
      : expected(std::move(expected)), tolerance(tolerance) {}

  Verdict check(measure::Tensors outputs) const override {
    Verdict verdict;
    for (size_t i = 0; i < expected.size() && verdict.ok(); ++i) {
      const io::TensorSpan wanted = expected[i].span();
      Verdict one = compare(outputs[i], wanted, tolerance, kPoison);
      if (one.wrong > one.total / kElementsForAnError || poisoned(outputs[i], wanted))
        verdict = std::move(one);
    }
    return verdict;
  }

private:
  static constexpr uint8_t kPoison = 0xFF;

  // Whether an element still has all bits set that should not.
  static bool poisoned(const io::TensorSpan &actual, const io::TensorSpan &wanted) {
    const auto size = static_cast<std::ptrdiff_t>(hal::elementTypeByteSize(actual.type));
    auto isPoison = [&](const uint8_t *at) {
      return std::all_of(at, at + size, [](uint8_t b) { return b == kPoison; });
    };
    const uint8_t *is = actual.bytes.data(), *right = wanted.bytes.data();
    for (const uint8_t *end = is + actual.bytes.size(); is < end; is += size, right += size)
      if (isPoison(is) && !isPoison(right))
        return true;
    return false;
  }

  std::vector<io::HostTensor> expected;
  Tolerance tolerance;
};
} // namespace

const Baseline *CorpusProblem::timedBaseline() const {
  const Baseline &computes = wide && wideFailed.empty() ? wide : baseline;
  const bool isSlow = timedCost.shortestRun > kLongestTimedRun && timedCost.shortestRun != UINT64_MAX;
  const bool compared = computes && program.goldens.inputs.empty() && !timedCost.failed && !isSlow;
  return compared ? &computes : nullptr;
}

uint64_t CorpusProblem::fewestTimedChecks() const {
  if (known || !timedBaseline())
    return 0;
  if (timedCost.shortestRun == UINT64_MAX)
    return kMostRequired; // until one has run
  return std::clamp(kTimeForRequired / std::max<uint64_t>(timedCost.shortestRun, 1), kFewestRequired, kMostRequired);
}

bool CorpusProblem::leavesOutTimedCheck(uint64_t seed) const {
  const uint64_t now = clock();
  if (fewestTimedChecks() == 0)
    return false;
  if (timedCost.start == 0) {
    timedCost.start = now;
    return false;
  }
  // Which inputs are left out is nobody's to foresee.
  const bool drawn = XXH3_64bits(&seed, sizeof(seed)) & 1;
  const uint64_t gap = std::max(kQuickTimedGap, 4 * timedCost.lastRun);
  const bool isQuick = timedCost.shortestRun <= kQuickTimedRun && now - timedCost.lastEnd >= gap;
  const double share = kTimedShare * static_cast<double>(now - timedCost.start);
  return !drawn || (!isQuick && static_cast<double>(timedCost.spent) >= share);
}

std::unique_ptr<verify::TimedCheck> CorpusProblem::timedCheck(measure::Tensors inputs, uint64_t seed) const {
  if (known)
    return known->timedCheck(inputs, seed);
  const Baseline *computes = timedBaseline();
  if (!computes)
    return nullptr;
  Result<std::vector<io::HostTensor>> outputs = compute(*computes, inputs);
  timedCost.spent += timedCost.lastRun;
  timedCost.lastEnd = clock();
  timedCost.failed = !outputs.ok();
  if (timedCost.failed)
    return nullptr;
  return std::make_unique<TimedComparison>(*std::move(outputs), program.tolerance);
}

//===--- Passes --------------------------------------------------------------------------------------------------===//

Verdict CorpusProblem::check(size_t pass, uint64_t seed, measure::Tensors inputs, measure::Tensors outputs) const {
  return pass < knownPasses() ? known->check(pass, seed, inputs, outputs)
                              : checkOwn(pass - knownPasses(), seed, inputs, outputs);
}

Verdict CorpusProblem::checkOwn(size_t pass, uint64_t seed, measure::Tensors inputs, measure::Tensors outputs) const {
  bool golden = !program.goldens.outputs.empty();
  const std::vector<io::HostTensor> *right = &program.goldens.outputs;
  Verdict verdict;
  bool isWide = false;
  if (!golden) {
    const Expected &computed = expected(pass, seed, inputs);
    isWide = computed.isWide;
    if (!computed.status.ok()) {
      verdict.cause = Cause::Unknown;
      verdict.method = "none";
      verdict.explanation =
          fmt::format("nothing to compare with: the unoptimized build: {}", computed.status.message());
      return verdict;
    }
    right = &computed.outputs;
  }
  for (size_t i = 0; i < right->size() && verdict.ok(); ++i) {
    const io::TensorSpan wanted = (*right)[i].span();
    if (i >= outputs.size() || outputs[i].bytes.size() != wanted.bytes.size() || outputs[i].type != wanted.type) {
      verdict.cause = Cause::Unknown;
      verdict.explanation = fmt::format("output {} is no {}", i, wanted.typeText());
      break;
    }
    uint64_t total = verdict.total;
    verdict = compare(outputs[i], wanted, program.tolerance, kPrefill[pass % std::size(kPrefill)]);
    verdict.total += total;
    if (!verdict.ok() && right->size() > 1)
      verdict.explanation = fmt::format("output {}: {}", i, verdict.explanation);
  }
  std::string allowed;
  for (const TensorType &type : program.signature.outputs)
    if (std::string one = program.tolerance.textFor(type.type); allowed.find(one) == std::string::npos)
      allowed += (allowed.empty() ? "" : ", ") + one;
  if (golden)
    verdict.method = fmt::format("golden: {}", allowed);
  else if (isWide)
    verdict.method = fmt::format("f64 golden: {} as an unoptimized build that computes in f64", allowed);
  else
    verdict.method = fmt::format("self-consistent: {} as an unoptimized build{}{}", allowed,
                                 wideFailed.empty() ? "" : ", and no f64 golden: ", wideFailed);
  // That another build of the same compiler does the same promises nothing.
  verdict.escapeProbability = golden ? 0 : 1;
  return verdict;
}

} // namespace kiln::measure::corpus
