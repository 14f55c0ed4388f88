#include "kiln/measure/providers/matmul_shape.h"

#include <algorithm>
#include <charconv>

#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure {

namespace {

constexpr std::string_view kKnownFields[] = {"batch_count", "m", "n", "k", "lhs", "rhs", "result", "accumulator"};

Result<uint64_t> extent(const ProblemText &problem, std::string_view name) {
  const std::string *text = problem.field(name);
  uint64_t value = 0;
  if (text) {
    auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc() && end == text->data() + text->size() && value > 0 && value <= INT32_MAX)
      return value;
  }
  return invalidArgument("field '{}' of {} must be a number from 1 to {}", name, problem.name, INT32_MAX);
}

Result<MatmulOperand> operand(const ProblemText &problem, std::string_view name) {
  const std::string *text = problem.field(name);
  if (text && !text->empty() && (text->back() == 't' || text->back() == 'n')) {
    std::string_view type = std::string_view(*text).substr(0, text->size() - 1);
    if (std::optional<io::ElementType> known = hal::parseElementType(type))
      return MatmulOperand{*known, text->back() == 'n'};
  }
  return invalidArgument("field '{}' of {} must be an element type and a layout, as in f32t", name, problem.name);
}

Status checkTensor(const SharedTensor &tensor, std::string_view name, const MatmulShape &shape,
                   const MatmulOperand &operand, uint64_t rows, uint64_t columns) {
  std::vector<uint64_t> extents = {rows, columns};
  if (operand.columnMajor)
    std::swap(extents[0], extents[1]);
  if (shape.batched)
    extents.insert(extents.begin(), shape.batch);
  if (tensor.type == operand.type && tensor.shape == extents)
    return okStatus();
  return invalidArgument("the problem's {} is {} in memory; the request has {}", name,
                         hal::shapeText(operand.type, extents), hal::shapeText(tensor.type, tensor.shape));
}

} // namespace

std::string MatmulShape::typesText() const {
  return fmt::format("{} x {} to {}", hal::elementTypeName(lhs.type), hal::elementTypeName(rhs.type),
                     hal::elementTypeName(result.type));
}

Result<MatmulShape> matmulShape(const LoadRequest &request) {
  const ProblemText &problem = request.problem;
  if (problem.family != "matmul" && problem.family != "batch_matmul")
    return unimplemented("this provider computes matmul and batch_matmul, not {}", problem.family);
  for (const auto &[name, value] : problem.fields)
    if (std::ranges::find(kKnownFields, name) == std::end(kKnownFields))
      return unimplemented("this provider does not know what field '{}' of {} asks for", name, problem.name);
  MatmulShape shape;
  shape.batched = problem.family == "batch_matmul";
  if (problem.field("batch_count")) {
    KILN_ASSIGN_OR_RETURN(shape.batch, extent(problem, "batch_count"));
  }
  if (!shape.batched && shape.batch != 1)
    return unimplemented("{} has a batch count of {}", problem.name, shape.batch);
  KILN_ASSIGN_OR_RETURN(shape.m, extent(problem, "m"));
  KILN_ASSIGN_OR_RETURN(shape.n, extent(problem, "n"));
  KILN_ASSIGN_OR_RETURN(shape.k, extent(problem, "k"));
  KILN_ASSIGN_OR_RETURN(shape.lhs, operand(problem, "lhs"));
  KILN_ASSIGN_OR_RETURN(shape.rhs, operand(problem, "rhs"));
  KILN_ASSIGN_OR_RETURN(shape.result, operand(problem, "result"));
  if (request.inputs.size() != 2 || request.outputs.size() != 1)
    return invalidArgument("a matrix product has 2 inputs and 1 output; the request has {} and {}",
                           request.inputs.size(), request.outputs.size());
  KILN_RETURN_IF_ERROR(checkTensor(request.inputs[0], "lhs", shape, shape.lhs, shape.m, shape.k));
  KILN_RETURN_IF_ERROR(checkTensor(request.inputs[1], "rhs", shape, shape.rhs, shape.k, shape.n));
  KILN_RETURN_IF_ERROR(checkTensor(request.outputs[0], "result", shape, shape.result, shape.m, shape.n));
  return shape;
}

} // namespace kiln::measure
