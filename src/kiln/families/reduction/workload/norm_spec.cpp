#include "kiln/families/reduction/workload/norm_spec.h"

#include "kiln/base/split.h"
#include "kiln/measure/names.h"

namespace kiln::families {

using hal::ElementType;

std::string NormSpec::name() const {
  return fmt::format("{}_{}x{}_{}", family(), rows, columns, hal::elementTypeName(type));
}

std::vector<measure::TensorType> NormSpec::inputs() const {
  std::vector<measure::TensorType> tensors = {input(), parameter()};
  if (isLayerNorm)
    tensors.push_back(parameter());
  return tensors;
}

static Result<NormSpec> parseWords(const std::vector<std::string_view> &words) {
  if (words.size() != 2)
    return invalidArgument("it has {} words instead of a shape and a type", words.size());
  KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> shape, measure::parseShape(words[0]));
  if (shape.size() != 2)
    return invalidArgument("its shape '{}' has {} sizes instead of 2", words[0], shape.size());
  NormSpec spec{.rows = shape[0], .columns = shape[1]};
  KILN_ASSIGN_OR_RETURN(spec.type, measure::parseType(words[1]));
  KILN_RETURN_IF_ERROR(spec.validate());
  return spec;
}

Result<NormSpec> NormSpec::parse(std::string_view family, std::string_view name) {
  std::string_view rest = name.starts_with(family) ? name.substr(family.size()) : std::string_view();
  if (!rest.starts_with('_'))
    return notFound("'{}' is no name of the family {}", name, family);
  Result<NormSpec> spec = parseWords(split(rest.substr(1), '_'));
  if (!spec.ok())
    return invalidArgument("'{0}' is no problem: {1}; the form is {2}_{{rows}}x{{columns}}_{{type}}, like "
                           "{2}_1000x1024_f32",
                           name, spec.status().message(), family);
  spec->isLayerNorm = family == "layer_norm";
  return spec;
}

Status NormSpec::validate() const {
  if (type != ElementType::F32 && type != ElementType::F16 && type != ElementType::BF16)
    return unimplemented("a norm of {} is not supported; there are f32, f16 and bf16", hal::elementTypeName(type));
  return measure::checkShape(input().shape, type);
}

} // namespace kiln::families
