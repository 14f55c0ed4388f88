#include "kiln/families/attention/workload/attention_spec.h"

#include <algorithm>
#include <cmath>

#include "kiln/base/split.h"
#include "kiln/measure/names.h"

namespace kiln::families {

using hal::ElementType;

// Up to this depth f16 has the numbers that verification keeps keys apart with.
static constexpr uint64_t kLargestDepth = 1 << 16;

std::string AttentionSpec::name() const {
  return fmt::format("attention_{}{}x{}x{}x{}x{}_{}", isCausal ? "causal_" : "", heads, queries, keys, depth,
                     valueDepth, hal::elementTypeName(type));
}

float AttentionSpec::scale() const {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(depth)));
}

double AttentionSpec::visiblePairs() const {
  auto all = static_cast<double>(queries), seen = static_cast<double>(keys);
  if (!isCausal)
    return all * seen;
  // Rows of a triangle, and those below it that see all keys.
  double triangle = std::min(all, seen);
  return triangle * (triangle + 1) / 2 + (all - triangle) * seen;
}

static Result<AttentionSpec> parseWords(std::vector<std::string_view> words) {
  AttentionSpec spec;
  if (words[0] == "causal") {
    spec.isCausal = true;
    words.erase(words.begin());
  }
  if (words.size() != 2)
    return invalidArgument("it has {} words instead of a shape and a type", words.size());
  KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> shape, measure::parseShape(words[0]));
  if (shape.size() != 5)
    return invalidArgument("its shape '{}' has {} sizes instead of 5", words[0], shape.size());
  spec.heads = shape[0], spec.queries = shape[1], spec.keys = shape[2], spec.depth = shape[3];
  spec.valueDepth = shape[4];
  KILN_ASSIGN_OR_RETURN(spec.type, measure::parseType(words[1]));
  KILN_RETURN_IF_ERROR(spec.validate());
  return spec;
}

Result<AttentionSpec> AttentionSpec::parse(std::string_view name) {
  constexpr std::string_view kStart = "attention_";
  if (!name.starts_with(kStart))
    return notFound("'{}' is no name of the family attention", name);
  Result<AttentionSpec> spec = parseWords(split(name.substr(kStart.size()), '_'));
  if (!spec.ok())
    return invalidArgument("'{}' is no problem: {}; the form is attention[_causal]_{{heads}}x{{queries}}x{{keys}}x"
                           "{{depth}}x{{value depth}}_{{type}}, like attention_12x128x128x64x64_f32",
                           name, spec.status().message());
  return spec;
}

Status AttentionSpec::validate() const {
  if (type != ElementType::F32 && type != ElementType::F16 && type != ElementType::BF16)
    return unimplemented("attention of {} is not supported; there are f32, f16 and bf16", hal::elementTypeName(type));
  if (depth > kLargestDepth)
    return invalidArgument("a depth is at most {}, not {}", kLargestDepth, depth);
  for (const measure::TensorType &tensor : {query(), key(), value(), output()})
    KILN_RETURN_IF_ERROR(measure::checkShape(tensor.shape, type));
  // The scores, which programs may keep.
  const uint64_t scores[] = {heads, queries, keys};
  return measure::checkShape(scores, ElementType::F32);
}

} // namespace kiln::families
