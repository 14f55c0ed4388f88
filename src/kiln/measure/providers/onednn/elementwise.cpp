// Functions of each element, and of two tensors element by element. There is nothing to prefer in their layouts.
#include <algorithm>

#include "kiln/measure/providers/onednn/operation.h"
#include "kiln/measure/providers/problem_fields.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure::onednn {

namespace {

constexpr std::string_view kFields[] = {"op", "shape", "type"};

struct Function {
  std::string_view name;
  Algorithm algorithm;
  bool isBinary;
};
constexpr Function kFunctions[] = {
    {"add", kAdd, true},           {"mul", kMul, true},    {"relu", kRelu, false},
    {"gelu", kGeluErf, false},     {"exp", kExp, false},   {"tanh", kTanh, false},
    {"sigmoid", kLogistic, false}, {"sqrt", kSqrt, false}, {"gelu_tanh", kGeluTanh, false},
};

Result<PrimitiveDescription> choose(const Library &library, const Function &function, const Description &tensor,
                                    const std::string &what) {
  Layout layout = tensor.get();
  if (function.isBinary)
    return library.choose(what, &Functions::binary_primitive_desc_create, function.algorithm, layout, layout, layout,
                          nullptr);
  return library.choose(what, &Functions::eltwise_forward_primitive_desc_create, kInference, function.algorithm, layout,
                        layout, 0.0f, 0.0f, nullptr);
}

} // namespace

Result<Operation> createElementwise(const Library &library, const LoadRequest &request, Layouts layouts) {
  const ProblemText &problem = request.problem;
  if (layouts == Layouts::Preferred)
    return unimplemented("an elementwise operation has no weights to lay out; provider 'onednn' does it");
  KILN_RETURN_IF_ERROR(checkFields(problem, kFields));
  KILN_ASSIGN_OR_RETURN(std::string_view name, fieldText(problem, "op"));
  const Function *function = std::ranges::find(kFunctions, name, &Function::name);
  if (function == std::end(kFunctions))
    return unimplemented("this provider does not know the elementwise operation '{}' of {}", name, problem.name);
  KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> shape, fieldShape(problem, "shape"));
  KILN_ASSIGN_OR_RETURN(io::ElementType type, fieldType(problem, "type"));
  std::vector<ExpectedTensor> inputs(function->isBinary ? 2 : 1, {"input", type, shape});
  ExpectedTensor output = {"result", type, shape};
  KILN_RETURN_IF_ERROR(checkTensors(request, inputs, {&output, 1}));

  KILN_ASSIGN_OR_RETURN(Description tensor, library.describe(type, shape));
  KILN_ASSIGN_OR_RETURN(PrimitiveDescription description,
                        choose(library, *function, tensor, fmt::format("{} of {}", name, hal::elementTypeName(type))));
  Operation created;
  KILN_ASSIGN_OR_RETURN(created.primitive, library.create(description));
  created.arguments = {{kSource, 0, tensor, tensor}, {kResult, 0, tensor, tensor}};
  if (function->isBinary)
    created.arguments.push_back({kSource1, 1, tensor, tensor});
  return created;
}

} // namespace kiln::measure::onednn
