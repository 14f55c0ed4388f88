#include "kiln/families/elementwise/workload/elementwise_spec.h"

#include "kiln/base/split.h"
#include "kiln/measure/names.h"

namespace kiln::families {

using hal::ElementType;

static constexpr std::string_view kForm =
    "the form is elementwise_{op}_{d0}x{d1}..._{type}, like elementwise_add_1000x1001_f32";

std::string ElementwiseSpec::shapeText() const {
  return measure::shapeText(shape);
}

std::string ElementwiseSpec::name() const {
  return fmt::format("elementwise_{}_{}_{}", op->name, shapeText(), hal::elementTypeName(type));
}

uint64_t ElementwiseSpec::elements() const {
  uint64_t count = 1;
  for (uint64_t extent : shape)
    count *= extent;
  return count;
}

static Result<ElementwiseSpec> parseWords(std::vector<std::string_view> words) {
  ElementwiseSpec spec;
  // An operation's name may have two words: gelu_tanh.
  if (words.size() == 4) {
    words[0] = {words[0].data(), words[0].size() + 1 + words[1].size()};
    words.erase(words.begin() + 1);
  }
  if (words.size() != 3)
    return invalidArgument("it has {} words instead of an operation, a shape and a type", words.size());
  spec.op = findElementwiseOp(words[0]);
  if (!spec.op) {
    std::string names;
    for (const ElementwiseOp &op : elementwiseOps())
      names += (names.empty() ? "" : ", ") + std::string(op.name);
    return invalidArgument("there is no operation '{}'; there are: {}", words[0], names);
  }
  KILN_ASSIGN_OR_RETURN(spec.shape, measure::parseShape(words[1]));
  KILN_ASSIGN_OR_RETURN(spec.type, measure::parseType(words[2]));
  KILN_RETURN_IF_ERROR(spec.validate());
  return spec;
}

Result<ElementwiseSpec> ElementwiseSpec::parse(std::string_view name) {
  constexpr std::string_view kStart = "elementwise_";
  if (!name.starts_with(kStart))
    return notFound("'{}' is no name of the family elementwise", name);
  Result<ElementwiseSpec> spec = parseWords(split(name.substr(kStart.size()), '_'));
  if (!spec.ok())
    return invalidArgument("'{}' is no problem: {}; {}", name, spec.status().message(), kForm);
  return spec;
}

Status ElementwiseSpec::validate() const {
  bool isFloat = type == ElementType::F32 || type == ElementType::F16 || type == ElementType::BF16;
  if (!isFloat && !(type == ElementType::I32 && op->integers))
    return unimplemented("{} of {} is not supported; there are f32, f16 and bf16, and i32 for add and mul", op->name,
                         hal::elementTypeName(type));
  if (shape.empty() || shape.size() > kElementwiseMostDimensions)
    return invalidArgument("a shape has 1 to {} dimensions, not {}", kElementwiseMostDimensions, shape.size());
  return measure::checkShape(shape, type);
}

} // namespace kiln::families
