#include "kiln/measure/providers/matmul_shape.h"

#include <optional>
#include <span>
#include <utility>

#include "kiln/measure/providers/problem_fields.h"
#include "kiln/measure/verify/number.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure {

namespace {

constexpr std::string_view kSplitFields[] = {"split_k_mode", "split_k_slices", "partials"};
constexpr std::string_view kEpilogueFields[] = {"epilogue"};
// The families of matrix products, and the fields that each has besides those of all.
struct FamilyEntry {
  std::string_view name;
  Epilogue epilogue;
  std::span<const std::string_view> fields;
};
constexpr FamilyEntry kFamilies[] = {
    {"matmul", Epilogue::None, {}},
    {"batch_matmul", Epilogue::None, {}},
    {"matmul_splitk", Epilogue::None, kSplitFields},
    {"matmul_bias", Epilogue::Bias, kEpilogueFields},
    {"matmul_bias_relu", Epilogue::BiasRelu, kEpilogueFields},
    {"matmul_bias_gelu", Epilogue::BiasGelu, kEpilogueFields},
    {"matmul_bias_gelu_tanh", Epilogue::BiasGeluTanh, kEpilogueFields},
};

constexpr std::string_view kCommonFields[] = {"batch_count", "m",      "n",           "k",         "lhs",
                                              "rhs",         "result", "accumulator", "arithmetic"};

Result<const FamilyEntry *> findFamily(const ProblemText &problem, bool epilogues) {
  std::string names;
  for (const FamilyEntry &entry : kFamilies) {
    if (entry.epilogue != Epilogue::None && !epilogues)
      continue;
    if (entry.name == problem.family)
      return &entry;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  }
  return unimplemented("this provider computes {}; not {}", names, problem.family);
}

Result<MatmulOperand> operand(const ProblemText &problem, std::string_view name) {
  const std::string *text = problem.field(name);
  if (text && !text->empty() && (text->back() == 't' || text->back() == 'n')) {
    std::string_view type = std::string_view(*text).substr(0, text->size() - 1);
    if (std::optional<io::ElementType> known = measure::verify::parseMeasuredType(type))
      return MatmulOperand{*known, text->back() == 'n'};
  }
  return invalidArgument("field '{}' of {} must be an element type and a layout, as in f32t", name, problem.name);
}

// `third` is an input besides the two matrices.
Status checkMatrices(const LoadRequest &request, const MatmulShape &shape, std::optional<ExpectedTensor> third) {
  auto expect = [&](std::string_view name, const MatmulOperand &operand, uint64_t rows, uint64_t columns) {
    ExpectedTensor tensor{name, operand.type, {rows, columns}};
    if (operand.columnMajor)
      std::swap(tensor.shape[0], tensor.shape[1]);
    if (shape.batched)
      tensor.shape.insert(tensor.shape.begin(), shape.batch);
    return tensor;
  };
  std::vector<ExpectedTensor> inputs = {expect("lhs", shape.lhs, shape.m, shape.k),
                                        expect("rhs", shape.rhs, shape.k, shape.n)};
  if (third)
    inputs.push_back(*std::move(third));
  ExpectedTensor output = expect("result", shape.result, shape.m, shape.n);
  return checkTensors(request, inputs, {&output, 1});
}

Status readMatrices(const ProblemText &problem, MatmulShape &shape) {
  KILN_ASSIGN_OR_RETURN(shape.m, fieldNumber(problem, "m"));
  KILN_ASSIGN_OR_RETURN(shape.n, fieldNumber(problem, "n"));
  KILN_ASSIGN_OR_RETURN(shape.k, fieldNumber(problem, "k"));
  KILN_ASSIGN_OR_RETURN(shape.lhs, operand(problem, "lhs"));
  KILN_ASSIGN_OR_RETURN(shape.rhs, operand(problem, "rhs"));
  KILN_ASSIGN_OR_RETURN(shape.result, operand(problem, "result"));
  return okStatus();
}

Result<MatmulShape> readShape(const LoadRequest &request, bool epilogues) {
  const ProblemText &problem = request.problem;
  KILN_ASSIGN_OR_RETURN(const FamilyEntry *family, findFamily(problem, epilogues));
  std::vector<std::string_view> known(std::begin(kCommonFields), std::end(kCommonFields));
  known.insert(known.end(), family->fields.begin(), family->fields.end());
  KILN_RETURN_IF_ERROR(checkFields(problem, known));
  // The family says it too: "bias_relu", or "relu", of matmul_bias_relu.
  const std::string *epilogue = problem.field("epilogue");
  if (epilogue && !problem.family.ends_with("_" + *epilogue))
    return unimplemented("this provider does not know the epilogue '{}' of {}", *epilogue, problem.name);
  KILN_RETURN_IF_ERROR(checkArithmetic(problem));
  MatmulShape shape;
  shape.epilogue = family->epilogue;
  shape.batched = problem.family == "batch_matmul";
  if (problem.field("batch_count")) {
    KILN_ASSIGN_OR_RETURN(shape.batch, fieldNumber(problem, "batch_count"));
  }
  if (!shape.batched && shape.batch != 1)
    return unimplemented("{} has a batch count of {}", problem.name, shape.batch);
  KILN_RETURN_IF_ERROR(readMatrices(problem, shape));
  std::optional<ExpectedTensor> bias;
  if (shape.epilogue != Epilogue::None)
    bias = {"bias", shape.result.type, {shape.n}};
  KILN_RETURN_IF_ERROR(checkMatrices(request, shape, std::move(bias)));
  return shape;
}

} // namespace

std::string MatmulShape::typesText() const {
  return fmt::format("{} x {} to {}", hal::elementTypeName(lhs.type), hal::elementTypeName(rhs.type),
                     hal::elementTypeName(result.type));
}

Result<MatmulShape> matmulShape(const LoadRequest &request) {
  return readShape(request, /*epilogues=*/false);
}

Result<MatmulShape> matmulShapeWithEpilogue(const LoadRequest &request) {
  return readShape(request, /*epilogues=*/true);
}

Result<QuantizedShape> quantizedShape(const LoadRequest &request) {
  static constexpr std::string_view kFields[] = {
      "m",    "n", "k", "lhs", "rhs", "result", "accumulator", "lhs_zero_point", "rhs_zero_point", "result_zero_point",
      "scale"};
  const ProblemText &problem = request.problem;
  if (problem.family != "qmatmul")
    return unimplemented("{} is no product with zero points", problem.family);
  KILN_RETURN_IF_ERROR(checkFields(problem, kFields));
  QuantizedShape shape;
  KILN_RETURN_IF_ERROR(readMatrices(problem, shape.product));
  KILN_ASSIGN_OR_RETURN(shape.lhsZero, fieldZeroPoint(problem, "lhs_zero_point"));
  KILN_ASSIGN_OR_RETURN(shape.rhsZero, fieldZeroPoint(problem, "rhs_zero_point"));
  shape.requantizes = shape.product.result.type != io::ElementType::I32;
  std::optional<ExpectedTensor> scale;
  if (shape.requantizes) {
    KILN_ASSIGN_OR_RETURN(shape.resultZero, fieldZeroPoint(problem, "result_zero_point"));
    KILN_ASSIGN_OR_RETURN(std::string_view scaled, fieldText(problem, "scale"));
    if (scaled != "tensor" && scaled != "column")
      return unimplemented("this provider does not know the scale '{}' of {}", scaled, problem.name);
    shape.perColumn = scaled == "column";
    scale = {"scale", io::ElementType::F32, {}};
    if (shape.perColumn)
      scale->shape = {shape.product.n};
  }
  KILN_RETURN_IF_ERROR(checkMatrices(request, shape.product, std::move(scale)));
  return shape;
}

} // namespace kiln::measure
