// Operations on the rows of a matrix: reductions to a value each, softmax and norms. There is nothing to prefer in
// their layouts.
#include <algorithm>
#include <charconv>

#include "kiln/measure/providers/onednn/operation.h"
#include "kiln/measure/providers/problem_fields.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure::onednn {

namespace {

constexpr std::string_view kReductionFields[] = {"op", "rows", "columns", "type", "result_type", "accumulator"};
constexpr std::string_view kSoftmaxFields[] = {"rows", "columns", "type", "accumulator"};

constexpr std::string_view kNormFields[] = {"rows", "columns", "type", "epsilon", "accumulator"};

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

Result<Operation> createNorm(const Library &library, const LoadRequest &request, Layouts layouts) {
  const ProblemText &problem = request.problem;
  KILN_RETURN_IF_ERROR(refusePreferred(layouts, "a norm"));
  KILN_RETURN_IF_ERROR(checkFields(problem, kNormFields));
  KILN_ASSIGN_OR_RETURN(uint64_t rows, fieldNumber(problem, "rows"));
  KILN_ASSIGN_OR_RETURN(uint64_t columns, fieldNumber(problem, "columns"));
  KILN_ASSIGN_OR_RETURN(io::ElementType type, fieldType(problem, "type"));
  KILN_ASSIGN_OR_RETURN(std::string_view said, fieldText(problem, "epsilon"));
  float epsilon = -1;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), epsilon);
  if (error != std::errc() || end != said.data() + said.size() || !(epsilon >= 0))
    return invalidArgument("epsilon '{}' of {} is no number from 0 on", said, problem.name);
  const bool hasShift = problem.family == "layer_norm";
  const ExpectedTensor tensor = {"tensor", type, {rows, columns}};
  const std::vector<ExpectedTensor> inputs = {tensor, {"gamma", type, {columns}}, {"beta", type, {columns}}};
  KILN_RETURN_IF_ERROR(checkTensors(request, {inputs.data(), hasShift ? 3U : 2U}, {&tensor, 1}));

  const std::string what = fmt::format("{} of {}", problem.family, hal::elementTypeName(type));
  KILN_ASSIGN_OR_RETURN(Description matrix, library.describe(type, tensor.shape));
  KILN_ASSIGN_OR_RETURN(Description column, library.describe(type, inputs[1].shape));
  const unsigned flags = kUseScale | (hasShift ? kUseShift : kRootMeanSquare);
  KILN_ASSIGN_OR_RETURN(PrimitiveDescription description,
                        library.choose(what, &Functions::layer_normalization_forward_primitive_desc_create_v2,
                                       kInference, matrix.get(), matrix.get(), nullptr, *dataType(type), epsilon, flags,
                                       nullptr));
  KILN_ASSIGN_OR_RETURN(Operation created, createFor(library, description, matrix, matrix));
  created.arguments.push_back({kScale, 1, column, column});
  if (hasShift)
    created.arguments.push_back({kShift, 2, column, column});
  return created;
}

} // namespace kiln::measure::onednn
