#include "kiln/measure/providers/problem_fields.h"

#include <algorithm>
#include <charconv>

#include "kiln/measure/verify/number.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure {

namespace {

bool parseNumber(std::string_view text, uint64_t minimum, uint64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= minimum && value <= INT32_MAX;
}

Status checkTensor(const SharedTensor &tensor, const ExpectedTensor &expected) {
  if (tensor.type == expected.type && tensor.shape == expected.shape)
    return okStatus();
  return invalidArgument("the problem's {} is {} in memory; the request has {}", expected.name,
                         hal::shapeText(expected.type, expected.shape), hal::shapeText(tensor.type, tensor.shape));
}

} // namespace

Status checkFields(const ProblemText &problem, std::span<const std::string_view> known) {
  for (const auto &[name, value] : problem.fields)
    if (std::ranges::find(known, name) == known.end())
      return unimplemented("this provider does not know what field '{}' of {} asks for", name, problem.name);
  return okStatus();
}

Status checkArithmetic(const ProblemText &problem) {
  if (const std::string *arithmetic = problem.field("arithmetic"); arithmetic && *arithmetic != "tf32")
    return unimplemented("this provider does not know the arithmetic '{}' of {}", *arithmetic, problem.name);
  return okStatus();
}

Result<uint64_t> fieldNumber(const ProblemText &problem, std::string_view name, uint64_t minimum) {
  const std::string *text = problem.field(name);
  uint64_t value = 0;
  if (text && parseNumber(*text, minimum, value))
    return value;
  return invalidArgument("field '{}' of {} must be a number from {} to {}", name, problem.name, minimum, INT32_MAX);
}

Result<int32_t> fieldZeroPoint(const ProblemText &problem, std::string_view name) {
  const std::string *text = problem.field(name);
  int32_t value = 0;
  if (text) {
    auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc() && end == text->data() + text->size() && value >= INT8_MIN && value <= UINT8_MAX)
      return value;
  }
  return invalidArgument("field '{}' of {} must be a number from {} to {}", name, problem.name, INT8_MIN, UINT8_MAX);
}

Result<std::string_view> fieldText(const ProblemText &problem, std::string_view name) {
  const std::string *text = problem.field(name);
  if (text && !text->empty())
    return std::string_view(*text);
  return invalidArgument("field '{}' of {} is missing", name, problem.name);
}

Result<io::ElementType> fieldType(const ProblemText &problem, std::string_view name) {
  const std::string *text = problem.field(name);
  if (std::optional<io::ElementType> type = text ? measure::verify::parseMeasuredType(*text) : std::nullopt)
    return *type;
  return invalidArgument("field '{}' of {} must be an element type, as in f32", name, problem.name);
}

Result<std::vector<uint64_t>> fieldShape(const ProblemText &problem, std::string_view name) {
  KILN_ASSIGN_OR_RETURN(std::string_view text, fieldText(problem, name));
  std::vector<uint64_t> shape;
  for (bool more = true; more;) {
    size_t end = std::min(text.find('x'), text.size());
    uint64_t extent = 0;
    if (!parseNumber(text.substr(0, end), 1, extent))
      return invalidArgument("field '{}' of {} must be extents, as in 1024x1024", name, problem.name);
    shape.push_back(extent);
    more = end < text.size();
    text.remove_prefix(more ? end + 1 : end);
  }
  return shape;
}

Status checkTensors(const LoadRequest &request, std::span<const ExpectedTensor> inputs,
                    std::span<const ExpectedTensor> outputs) {
  if (request.inputs.size() != inputs.size() || request.outputs.size() != outputs.size())
    return invalidArgument("{} has {} inputs and {} outputs; the request has {} and {}", request.problem.name,
                           inputs.size(), outputs.size(), request.inputs.size(), request.outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    KILN_RETURN_IF_ERROR(checkTensor(request.inputs[i], inputs[i]));
  for (size_t i = 0; i < outputs.size(); ++i)
    KILN_RETURN_IF_ERROR(checkTensor(request.outputs[i], outputs[i]));
  return okStatus();
}

} // namespace kiln::measure
