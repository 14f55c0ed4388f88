#include "kiln/families/attention/workload/attention_family.h"

#include <algorithm>
#include <cmath>

#include "kiln/families/attention/workload/attention_mlir.h"
#include "kiln/families/attention/workload/attention_verification.h"
#include "kiln/measure/verify/elements.h"

namespace kiln::families {

using hal::ElementType;

//===--- Problem --------------------------------------------------------------------------------------------------===//

measure::Fields AttentionProblem::fields() const {
  return {{"heads", std::to_string(own.heads)},
          {"queries", std::to_string(own.queries)},
          {"keys", std::to_string(own.keys)},
          {"depth", std::to_string(own.depth)},
          {"value_depth", std::to_string(own.valueDepth)},
          {"mask", own.isCausal ? "causal" : "none"},
          {"type", std::string(hal::elementTypeName(own.type))},
          {"accumulator", "f32"}};
}

double AttentionProblem::flops() const {
  constexpr double kSoftmax = 5;
  double perPair = 2 * (static_cast<double>(own.depth) + static_cast<double>(own.valueDepth)) + kSoftmax;
  return static_cast<double>(own.heads) * own.visiblePairs() * perPair;
}

std::string AttentionProblem::mlir(std::string_view function, std::string_view configuration) const {
  return attentionMlir(own, function, configuration);
}

std::vector<std::string> AttentionProblem::passes() const {
  std::vector<std::string> names;
  for (AttentionPass pass : kAttentionPasses)
    names.emplace_back(attentionPassName(pass));
  return names;
}

Status AttentionProblem::fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const {
  if (inputs.size() != 3)
    return invalidArgument("{} has 3 inputs, not {}", name(), inputs.size());
  fillAttention(own, kAttentionPasses[pass], seed, inputs);
  return okStatus();
}

void AttentionProblem::prefillOutputs(size_t pass, measure::MutableTensors outputs) const {
  for (const measure::MutableTensor &output : outputs)
    prefillAttention(kAttentionPasses[pass], output);
}

measure::verify::Verdict AttentionProblem::check(size_t pass, uint64_t seed, measure::Tensors inputs,
                                                 measure::Tensors outputs) const {
  return checkAttention(own, kAttentionPasses[pass], seed, inputs, outputs[0]);
}

Result<measure::verify::DeviceCase> AttentionProblem::deviceCase(size_t pass, uint64_t seed) const {
  if (pass >= std::size(kAttentionPasses))
    return invalidArgument("pass {} was asked for; there are {}", pass, std::size(kAttentionPasses));
  return attentionOnDevice(own, kAttentionPasses[pass], seed);
}

std::unique_ptr<measure::verify::TimedCheck> AttentionProblem::timedCheck(measure::Tensors inputs,
                                                                          uint64_t seed) const {
  return timedAttention(own, inputs, seed);
}

static std::vector<float> readFloats(const io::TensorSpan &tensor) {
  std::vector<double> numbers(tensor.elementCount());
  measure::verify::readElements(tensor.type, tensor.bytes, 0, numbers);
  return {numbers.begin(), numbers.end()};
}

// In f32, from the first key to the last.
Status AttentionProblem::reference(measure::Tensors inputs, measure::MutableTensors outputs) const {
  if (inputs.size() != 3 || outputs.size() != 1)
    return invalidArgument("{} has 3 inputs and one output", name());
  const AttentionSpec &spec = own;
  std::vector<float> q = readFloats(inputs[0]), k = readFloats(inputs[1]), v = readFloats(inputs[2]);
  std::vector<float> weights(spec.keys), mixed(spec.valueDepth);
  uint64_t size = hal::elementTypeByteSize(spec.type);
  for (uint64_t row = 0; row < spec.heads * spec.queries; ++row) {
    uint64_t head = row / spec.queries, seen = spec.visibleKeys(row % spec.queries);
    float most = -HUGE_VALF, sum = 0;
    for (uint64_t j = 0; j < seen; ++j) {
      float score = 0;
      for (uint64_t axis = 0; axis < spec.depth; ++axis)
        score += q[row * spec.depth + axis] * k[(head * spec.keys + j) * spec.depth + axis];
      weights[j] = score * spec.scale();
      most = std::max(most, weights[j]);
    }
    for (uint64_t j = 0; j < seen; ++j) {
      weights[j] = std::exp(weights[j] - most);
      sum += weights[j];
    }
    std::ranges::fill(mixed, 0.0F);
    for (uint64_t j = 0; j < seen; ++j)
      for (uint64_t c = 0; c < spec.valueDepth; ++c)
        mixed[c] += weights[j] / sum * v[(head * spec.keys + j) * spec.valueDepth + c];
    for (uint64_t c = 0; c < spec.valueDepth; ++c)
      measure::verify::writeElement(spec.type, mixed[c], outputs[0].bytes.data() + (row * spec.valueDepth + c) * size);
  }
  return okStatus();
}

//===--- Family ---------------------------------------------------------------------------------------------------===//

std::span<const measure::Dimension> AttentionFamily::dimensions() const {
  static constexpr measure::Dimension kDimensions[] = {
      {"heads", "Sizes as above, of attention: heads, those of all batches together."},
      {"queries", "Queries of each head; heads, queries, keys and depth are given together."},
      {"keys", "Keys of each head, and values."},
      {"depth", "Elements of each query and of each key."},
      {"value-depth", "Elements of each value, where that is not the depth."},
  };
  return kDimensions;
}

// Sizes of the selection, in the order heads, queries, keys, depth, value depth.
static Result<std::vector<AttentionSpec>> selectedSizes(const measure::ProblemSelection &selection) {
  const std::vector<uint64_t> &heads = selection.values("heads"), &queries = selection.values("queries"),
                              &keys = selection.values("keys"), &depths = selection.values("depth"),
                              &valueDepths = selection.values("value-depth");
  if (heads.empty() && queries.empty() && keys.empty() && depths.empty() && valueDepths.empty())
    return std::vector<AttentionSpec>{
        {12, 128, 128, 64, 64}, {8, 512, 512, 64, 64}, {32, 1, 1024, 128, 128}, {3, 37, 131, 40, 24}};
  if (heads.empty() || queries.empty() || keys.empty() || depths.empty())
    return invalidArgument("attention needs --problem-heads, --problem-queries, --problem-keys and --problem-depth "
                           "together");
  std::vector<AttentionSpec> sizes;
  for (uint64_t h : heads)
    for (uint64_t q : queries)
      for (uint64_t k : keys)
        for (uint64_t d : depths)
          for (uint64_t v : valueDepths.empty() ? std::vector<uint64_t>{d} : valueDepths)
            sizes.push_back({h, q, k, d, v});
  return sizes;
}

Result<measure::Problems> AttentionFamily::problems(const measure::ProblemSelection &selection) const {
  KILN_ASSIGN_OR_RETURN(std::vector<AttentionSpec> sizes, selectedSizes(selection));
  measure::Problems problems;
  for (AttentionSpec spec : sizes)
    for (ElementType type : selection.elementTypes({ElementType::F32, ElementType::F16, ElementType::BF16}))
      for (bool isCausal : {false, true}) {
        // A mask for one query would hide all keys but the first.
        if (isCausal && spec.queries == 1 && spec.keys > 1)
          continue;
        spec.type = type;
        spec.isCausal = isCausal;
        KILN_RETURN_IF_ERROR(add(problems, spec));
      }
  return problems;
}

measure::Problems AttentionFamily::problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const {
  measure::Problems problems;
  if (inputs.size() != 3 || outputs.size() != 1 || inputs[0].shape.size() != 3 || inputs[2].shape.size() != 3)
    return problems;
  const std::vector<uint64_t> &query = inputs[0].shape, &value = inputs[2].shape;
  for (bool isCausal : {false, true})
    addIfValid(problems, AttentionSpec{query[0], query[1], value[1], query[2], value[2], isCausal, inputs[0].type});
  return problems;
}

void registerAttentionFamily(measure::FamilyRegistry &registry) {
  registry.add(std::make_unique<AttentionFamily>());
}

} // namespace kiln::families
