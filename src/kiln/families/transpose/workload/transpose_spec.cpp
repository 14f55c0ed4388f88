#include "kiln/families/transpose/workload/transpose_spec.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "kiln/base/split.h"
#include "kiln/measure/names.h"

namespace kiln::families {

using hal::ElementType;

std::string TransposeSpec::permutationText() const {
  std::string text;
  for (size_t dimension : permutation)
    text += fmt::format("{}", dimension);
  return text;
}

std::string TransposeSpec::name() const {
  return fmt::format("transpose_{}_{}_{}", permutationText(), measure::shapeText(shape), hal::elementTypeName(type));
}

uint64_t TransposeSpec::elements() const {
  return std::accumulate(shape.begin(), shape.end(), uint64_t(1), std::multiplies<>());
}

measure::TensorType TransposeSpec::output() const {
  measure::TensorType tensor{type, {}};
  for (size_t dimension : permutation)
    tensor.shape.push_back(shape[dimension]);
  return tensor;
}

static Permutation identity(size_t rank) {
  Permutation order(rank);
  std::iota(order.begin(), order.end(), size_t(0));
  return order;
}

std::vector<Permutation> allPermutations(size_t rank) {
  std::vector<Permutation> all;
  Permutation order = identity(rank);
  while (std::ranges::next_permutation(order).found)
    all.push_back(order);
  return all;
}

static Result<Permutation> parsePermutation(std::string_view text) {
  Permutation permutation;
  for (char digit : text) {
    if (digit < '0' || digit > '9')
      return invalidArgument("'{}' is no permutation", text);
    permutation.push_back(static_cast<size_t>(digit - '0'));
  }
  return permutation;
}

static Result<TransposeSpec> parseWords(const std::vector<std::string_view> &words) {
  TransposeSpec spec;
  if (words.size() != 3)
    return invalidArgument("it has {} words instead of a permutation, a shape and a type", words.size());
  KILN_ASSIGN_OR_RETURN(spec.permutation, parsePermutation(words[0]));
  KILN_ASSIGN_OR_RETURN(spec.shape, measure::parseShape(words[1]));
  KILN_ASSIGN_OR_RETURN(spec.type, measure::parseType(words[2]));
  KILN_RETURN_IF_ERROR(spec.validate());
  return spec;
}

Result<TransposeSpec> TransposeSpec::parse(std::string_view name) {
  constexpr std::string_view kStart = "transpose_";
  if (!name.starts_with(kStart))
    return notFound("'{}' is no name of the family transpose", name);
  Result<TransposeSpec> spec = parseWords(split(name.substr(kStart.size()), '_'));
  if (!spec.ok())
    return invalidArgument("'{}' is no problem: {}; the form is transpose_{{permutation}}_{{d0}}x{{d1}}..._{{type}}, "
                           "like transpose_10_1000x1001_f32",
                           name, spec.status().message());
  return spec;
}

Status TransposeSpec::validate() const {
  using enum ElementType;
  constexpr std::array kTypes = {F32, F16, BF16, I8, I32};
  if (std::ranges::find(kTypes, type) == kTypes.end())
    return unimplemented("a transposition of {} is not supported; there are f32, f16, bf16, i8 and i32",
                         hal::elementTypeName(type));
  if (shape.size() < kTransposeFewestDimensions || shape.size() > kTransposeMostDimensions)
    return invalidArgument("a shape has {} to {} dimensions, not {}", kTransposeFewestDimensions,
                           kTransposeMostDimensions, shape.size());
  Permutation order = identity(shape.size());
  if (!std::ranges::is_permutation(permutation, order))
    return invalidArgument("'{}' is no permutation of {} dimensions: it has each of the digits 0 to {} once",
                           permutationText(), shape.size(), shape.size() - 1);
  if (permutation == order)
    return invalidArgument("the permutation '{}' moves nothing", permutationText());
  return measure::checkShape(shape, type);
}

} // namespace kiln::families
