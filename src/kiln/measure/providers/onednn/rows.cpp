// Operations on the rows of a matrix: reductions to a value each, and softmax. There is nothing to prefer in their
// layouts.
#include <algorithm>

#include "kiln/measure/providers/onednn/operation.h"
#include "kiln/measure/providers/problem_fields.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure::onednn {

namespace {

constexpr std::string_view kReductionFields[] = {"op", "rows", "columns", "type", "result_type", "accumulator"};
constexpr std::string_view kSoftmaxFields[] = {"rows", "columns", "type", "accumulator"};

struct Function {
  std::string_view name;
  Algorithm algorithm;
};
constexpr Function kFunctions[] = {{"sum", kSum}, {"max", kMax}, {"min", kMin}, {"mean", kMean}};

Status refusePreferred(Layouts layouts, std::string_view what) {
  if (layouts == Layouts::Plain)
    return okStatus();
  return unimplemented("{} has no weights to lay out; provider 'onednn' does it", what);
}

bool isInteger(io::ElementType type) {
  return type == io::ElementType::I8 || type == io::ElementType::I32;
}

Result<Operation> createFor(const Library &library, const PrimitiveDescription &description, const Description &source,
                            const Description &result) {
  Operation created;
  KILN_ASSIGN_OR_RETURN(created.primitive, library.create(description));
  created.arguments = {{kSource, 0, source, source}, {kResult, 0, result, result}};
  return created;
}

} // namespace

Result<Operation> createReduction(const Library &library, const LoadRequest &request, Layouts layouts) {
  const ProblemText &problem = request.problem;
  KILN_RETURN_IF_ERROR(refusePreferred(layouts, "a reduction"));
  KILN_RETURN_IF_ERROR(checkFields(problem, kReductionFields));
  KILN_ASSIGN_OR_RETURN(std::string_view name, fieldText(problem, "op"));
  const Function *function = std::ranges::find(kFunctions, name, &Function::name);
  if (function == std::end(kFunctions))
    return unimplemented("this provider does not know the reduction '{}' of {}", name, problem.name);
  KILN_ASSIGN_OR_RETURN(uint64_t rows, fieldNumber(problem, "rows"));
  KILN_ASSIGN_OR_RETURN(uint64_t columns, fieldNumber(problem, "columns"));
  KILN_ASSIGN_OR_RETURN(io::ElementType type, fieldType(problem, "type"));
  KILN_ASSIGN_OR_RETURN(io::ElementType resultType, fieldType(problem, "result_type"));
  ExpectedTensor input = {"input", type, {rows, columns}}, output = {"result", resultType, {rows}};
  KILN_RETURN_IF_ERROR(checkTensors(request, {&input, 1}, {&output, 1}));
  std::string what =
      fmt::format("the {} of {} to {}", name, hal::elementTypeName(type), hal::elementTypeName(resultType));
  // It sums integers as f32, which is another result.
  if (isInteger(type))
    return unimplemented("oneDNN does not do this exactly: {}", what);

  KILN_ASSIGN_OR_RETURN(Description source, library.describe(type, input.shape));
  KILN_ASSIGN_OR_RETURN(Description result, library.describe(resultType, std::vector<uint64_t>{rows, 1}));
  if (columns == 1)
    return unimplemented("oneDNN reduces no dimension of a single element: {}", what);
  KILN_ASSIGN_OR_RETURN(PrimitiveDescription description,
                        library.choose(what, &Functions::reduction_primitive_desc_create, function->algorithm,
                                       source.get(), result.get(), 0.0f, 0.0f, nullptr));
  return createFor(library, description, source, result);
}

Result<Operation> createSoftmax(const Library &library, const LoadRequest &request, Layouts layouts) {
  const ProblemText &problem = request.problem;
  KILN_RETURN_IF_ERROR(refusePreferred(layouts, "softmax"));
  KILN_RETURN_IF_ERROR(checkFields(problem, kSoftmaxFields));
  KILN_ASSIGN_OR_RETURN(uint64_t rows, fieldNumber(problem, "rows"));
  KILN_ASSIGN_OR_RETURN(uint64_t columns, fieldNumber(problem, "columns"));
  KILN_ASSIGN_OR_RETURN(io::ElementType type, fieldType(problem, "type"));
  ExpectedTensor tensor = {"tensor", type, {rows, columns}};
  KILN_RETURN_IF_ERROR(checkTensors(request, {&tensor, 1}, {&tensor, 1}));

  std::string what = fmt::format("softmax of {}", hal::elementTypeName(type));
  KILN_ASSIGN_OR_RETURN(Description matrix, library.describe(type, tensor.shape));
  KILN_ASSIGN_OR_RETURN(PrimitiveDescription description,
                        library.choose(what, &Functions::softmax_forward_primitive_desc_create, kInference,
                                       kSoftmaxAccurate, matrix.get(), matrix.get(), 1, nullptr));
  return createFor(library, description, matrix, matrix);
}

} // namespace kiln::measure::onednn
