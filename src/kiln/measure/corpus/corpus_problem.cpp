#include "kiln/measure/corpus/corpus_problem.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <functional>

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

std::vector<std::pair<std::string, std::string>> CorpusProblem::fields() const {
  // A file that was edited is another program, which its name does not tell.
  std::pair<std::string, std::string> text = {"text", textHash(program.text)};
  if (program.signature.outputs.empty())
    return {{"file", program.file}, text};
  return {{"file", program.file},
          {"function", program.function},
          {"inputs", typesText(program.signature.inputs)},
          {"outputs", typesText(program.signature.outputs)},
          text};
}

//===--- Inputs --------------------------------------------------------------------------------------------------===//

std::vector<std::string> CorpusProblem::passes() const {
  if (!program.goldens.outputs.empty())
    return {"golden", "golden, in other memory"};
  if (!program.goldens.inputs.empty())
    return {"given inputs", "given inputs, in other memory"};
  return {"random data", "small integers"};
}

// Integers that floats hold exactly, and so do short sums of their products: what rounding could excuse elsewhere is
// wrong here.
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

Status CorpusProblem::fillInputs(size_t pass, uint64_t seed, std::span<const MutableTensor> inputs) const {
  if (pass >= passes().size() || inputs.size() != program.signature.inputs.size())
    return invalidArgument("{}: pass {} with {} inputs was asked for; there are {} and {}", fullName, pass,
                           inputs.size(), passes().size(), program.signature.inputs.size());
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

void CorpusProblem::prefillOutputs(size_t pass, std::span<const MutableTensor> outputs) const {
  for (const MutableTensor &output : outputs)
    std::ranges::fill(output.bytes, kPrefill[pass % std::size(kPrefill)]);
}

//===--- Results -------------------------------------------------------------------------------------------------===//

Status CorpusProblem::reference(std::span<const io::TensorSpan> inputs, std::span<const MutableTensor> outputs) const {
  if (!baseline)
    return unimplemented("{} has nothing to be compared with", fullName);
  return baseline(inputs, outputs);
}

Status CorpusProblem::compute(std::span<const io::TensorSpan> inputs, std::vector<io::HostTensor> &outputs) const {
  std::vector<MutableTensor> spans;
  for (const TensorType &type : program.signature.outputs) {
    KILN_ASSIGN_OR_RETURN(io::HostTensor tensor, io::HostTensor::zeros(type.type, type.shape));
    outputs.push_back(std::move(tensor));
  }
  for (io::HostTensor &tensor : outputs)
    spans.push_back({tensor.type(), tensor.shape(), tensor.bytes()});
  return reference(inputs, spans);
}

const CorpusProblem::Expected &CorpusProblem::expected(size_t pass, uint64_t seed,
                                                       std::span<const io::TensorSpan> inputs) const {
  if (!lastExpected || lastExpected->pass != pass || lastExpected->seed != seed) {
    lastExpected.emplace(Expected{pass, seed, okStatus(), {}});
    lastExpected->status = compute(inputs, lastExpected->outputs);
  }
  return *lastExpected;
}

Verdict CorpusProblem::check(size_t pass, uint64_t seed, std::span<const io::TensorSpan> inputs,
                             std::span<const io::TensorSpan> outputs) const {
  bool golden = !program.goldens.outputs.empty();
  const std::vector<io::HostTensor> *right = &program.goldens.outputs;
  Verdict verdict;
  if (!golden) {
    const Expected &computed = expected(pass, seed, inputs);
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
  verdict.method =
      golden ? fmt::format("golden: {}", allowed) : fmt::format("self-consistent: {} as an unoptimized build", allowed);
  // That another build of the same compiler does the same promises nothing.
  verdict.escapeProbability = golden ? 0 : 1;
  return verdict;
}

} // namespace kiln::measure::corpus
