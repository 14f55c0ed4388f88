#include "kiln/families/reduction/workload/row_spec.h"

#include <array>
#include <optional>

#include "kiln/base/split.h"
#include "kiln/measure/names.h"

namespace kiln::families {

using hal::ElementType;

static constexpr std::array<RowOp, 4> kReductions = {RowOp::Sum, RowOp::Max, RowOp::Min, RowOp::Mean};

std::string_view rowOpName(RowOp op) {
  switch (op) {
  case RowOp::Sum: return "sum";
  case RowOp::Max: return "max";
  case RowOp::Min: return "min";
  case RowOp::Mean: return "mean";
  case RowOp::Softmax: return "softmax";
  }
  return "?";
}

ElementType RowSpec::accumulator() const {
  if (isExtremum())
    return type;
  return type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
}

measure::TensorType RowSpec::input() const {
  measure::TensorType tensor{type, {rows, columns}};
  if (inner != 1)
    tensor.shape.push_back(inner);
  return tensor;
}

measure::TensorType RowSpec::output() const {
  measure::TensorType tensor = input();
  tensor.type = result;
  if (!isSoftmax())
    tensor.shape.erase(tensor.shape.begin() + 1);
  return tensor;
}

ElementType defaultRowResult(RowOp op, ElementType type) {
  return op == RowOp::Sum && type == ElementType::I8 ? ElementType::I32 : type;
}

std::string RowSpec::name() const {
  if (isSoftmax())
    return fmt::format("softmax_{}_{}", measure::shapeText(input().shape), hal::elementTypeName(type));
  return fmt::format("reduction_{}_{}_{}_{}", rowOpName(op), measure::shapeText(input().shape),
                     hal::elementTypeName(type), hal::elementTypeName(result));
}

//===--- Reading --------------------------------------------------------------------------------------------------===//

static Status parseShape(std::string_view text, RowSpec &spec) {
  KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> shape, measure::parseShape(text));
  if (shape.size() != 2 && (shape.size() != 3 || spec.isSoftmax()))
    return invalidArgument("its shape '{}' has {} sizes instead of {}", text, shape.size(),
                           spec.isSoftmax() ? "2" : "2 or 3");
  spec.rows = shape[0];
  spec.columns = shape[1];
  if (shape.size() == 3 && shape[2] == 1)
    return invalidArgument("the last size of '{}' is 1: leave it out", text);
  spec.inner = shape.size() == 3 ? shape[2] : 1;
  return okStatus();
}

static Result<RowSpec> parseReduction(const std::vector<std::string_view> &words) {
  RowSpec spec;
  if (words.size() != 4)
    return invalidArgument("it has {} words instead of an operation, a shape and two types", words.size());
  bool known = false;
  for (RowOp op : kReductions)
    if (rowOpName(op) == words[0])
      spec.op = op, known = true;
  if (!known)
    return invalidArgument("there is no reduction '{}'; there are: sum, max, min, mean", words[0]);
  KILN_RETURN_IF_ERROR(parseShape(words[1], spec));
  KILN_ASSIGN_OR_RETURN(spec.type, measure::parseType(words[2]));
  KILN_ASSIGN_OR_RETURN(spec.result, measure::parseType(words[3]));
  KILN_RETURN_IF_ERROR(spec.validate());
  return spec;
}

static Result<RowSpec> parseSoftmax(const std::vector<std::string_view> &words) {
  RowSpec spec;
  spec.op = RowOp::Softmax;
  if (words.size() != 2)
    return invalidArgument("it has {} words instead of a shape and a type", words.size());
  KILN_RETURN_IF_ERROR(parseShape(words[0], spec));
  KILN_ASSIGN_OR_RETURN(spec.type, measure::parseType(words[1]));
  spec.result = spec.type;
  KILN_RETURN_IF_ERROR(spec.validate());
  return spec;
}

Result<RowSpec> RowSpec::parse(std::string_view family, std::string_view name) {
  std::string_view rest = name.starts_with(family) ? name.substr(family.size()) : std::string_view();
  if (!rest.starts_with('_'))
    return notFound("'{}' is no name of the family {}", name, family);
  bool isSoftmax = family == "softmax";
  std::vector<std::string_view> words = split(rest.substr(1), '_');
  Result<RowSpec> spec = isSoftmax ? parseSoftmax(words) : parseReduction(words);
  if (!spec.ok())
    return invalidArgument("'{}' is no problem: {}; the form is {}", name, spec.status().message(),
                           isSoftmax ? "softmax_{rows}x{columns}_{type}, like softmax_1000x1001_f32"
                                     : "reduction_{op}_{rows}x{columns}[x{inner}]_{type}_{result type}, like "
                                       "reduction_sum_1000x1001_f16_f32");
  return spec;
}

//===--- Limits ---------------------------------------------------------------------------------------------------===//

static bool haveTypes(RowOp op, ElementType type, ElementType result) {
  using enum ElementType;
  bool isFloat = type == F32 || type == F16 || type == BF16;
  switch (op) {
  case RowOp::Sum: return isFloat ? result == type || result == F32 : type == I8 && result == I32;
  case RowOp::Mean: return isFloat && (result == type || result == F32);
  case RowOp::Max:
  case RowOp::Min: return (isFloat || type == I8) && result == type;
  case RowOp::Softmax: return isFloat && result == type;
  }
  return false;
}

Status RowSpec::validate() const {
  if (!haveTypes(op, type, result))
    return unimplemented("{} of {} with results of {} is not supported; sums are f32_f32, f16_f16, f16_f32, bf16_bf16, "
                         "bf16_f32 and i8_i32, means likewise without i8, max and min have the type of the elements "
                         "(f32, f16, bf16, i8), and softmax has f32, f16 and bf16",
                         rowOpName(op), hal::elementTypeName(type), hal::elementTypeName(result));
  return measure::checkShape(input().shape, type);
}

} // namespace kiln::families
