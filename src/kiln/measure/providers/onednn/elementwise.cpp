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
  dnnl_alg_kind_t algorithm;
  bool isBinary;
};
constexpr Function kFunctions[] = {
    {"add", dnnl_binary_add, true},
    {"mul", dnnl_binary_mul, true},
    {"relu", dnnl_eltwise_relu, false},
    {"gelu", dnnl_eltwise_gelu_erf, false},
    {"gelu_tanh", dnnl_eltwise_gelu_tanh, false},
    {"exp", dnnl_eltwise_exp, false},
    {"tanh", dnnl_eltwise_tanh, false},
    {"sigmoid", dnnl_eltwise_logistic, false},
    {"sqrt", dnnl_eltwise_sqrt, false},
};

Result<PrimitiveDescription> choose(const Library &library, const Function &function, const Description &tensor,
                                    const std::string &what) {
  const Functions &dnnl = library.functions();
  if (function.isBinary) {
    dnnl_binary_desc_t operation;
    KILN_RETURN_IF_ERROR(check(dnnl.binary_desc_init(&operation, function.algorithm, &tensor, &tensor, &tensor), what));
    return library.choose(&operation, Attributes(), what);
  }
  dnnl_eltwise_desc_t operation;
  KILN_RETURN_IF_ERROR(
      check(dnnl.eltwise_forward_desc_init(&operation, dnnl_forward_inference, function.algorithm, &tensor, 0.0f, 0.0f),
            what));
  return library.choose(&operation, Attributes(), what);
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
  created.arguments = {{DNNL_ARG_SRC_0, 0, tensor, tensor}, {DNNL_ARG_DST, 0, tensor, tensor}};
  if (function->isBinary)
    created.arguments.push_back({DNNL_ARG_SRC_1, 1, tensor, tensor});
  return created;
}

} // namespace kiln::measure::onednn
