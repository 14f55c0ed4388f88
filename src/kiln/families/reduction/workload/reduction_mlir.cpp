#include "kiln/families/reduction/workload/reduction_mlir.h"

#include "kiln/measure/mlir_text.h"

namespace kiln::families {

using hal::ElementType;

static std::string_view nameOf(ElementType type) {
  return hal::elementTypeName(type);
}
// Of the type of the input, or of the output of a reduction, with other elements.
static std::string matrixText(const RowSpec &spec, ElementType type) {
  return measure::tensorTypeText({type, spec.input().shape});
}
static std::string vectorText(const RowSpec &spec, ElementType type) {
  RowSpec reduced = spec;
  reduced.op = RowOp::Sum;
  return measure::tensorTypeText({type, reduced.output().shape});
}

// The loops over elements, and over what is reduced to one number.
static std::string_view elementLoops(const RowSpec &spec) {
  return spec.inner == 1 ? "r, c" : "r, c, i";
}
static std::string_view rowLoops(const RowSpec &spec) {
  return spec.inner == 1 ? "r" : "r, i";
}

// What no element is beyond: where a maximum or a minimum starts from.
static std::string_view startOfExtremum(const RowSpec &spec) {
  bool isMax = spec.op != RowOp::Min;
  switch (spec.type) {
  case ElementType::F16: return isMax ? "0xFC00" : "0x7C00";
  case ElementType::BF16: return isMax ? "0xFF80" : "0x7F80";
  case ElementType::I8: return isMax ? "-128" : "127";
  default: return isMax ? "0xFF800000" : "0x7F800000";
  }
}

// %{name}: what a row starts from, in all rows.
static std::string fillText(const RowSpec &spec, std::string_view name, ElementType type, std::string_view value) {
  std::string tensor = vectorText(spec, type);
  return fmt::format("  %{0}_value = arith.constant {1} : {2}\n"
                     "  %{0}_empty = tensor.empty() : {3}\n"
                     "  %{0}_start = linalg.fill ins(%{0}_value : {2}) outs(%{0}_empty : {3}) -> {3}\n",
                     name, value, nameOf(type), tensor);
}

// A reduction of %{input} to %{name}, of elements %x and what is carried, %s, to %t.
static std::string reduceText(const RowSpec &spec, std::string_view name, std::string_view input, ElementType type,
                              ElementType result, const std::string &body, std::string_view configuration) {
  std::string attribute = configuration.empty() ? "" : fmt::format(",\n    kiln.configuration = \"{}\"", configuration);
  return fmt::format("  %{0} = linalg.generic {{\n"
                     "    indexing_maps = [affine_map<({8}) -> ({8})>,\n"
                     "                     affine_map<({8}) -> ({9})>],\n"
                     "    iterator_types = [\"parallel\", \"reduction\"{10}]{1}}}\n"
                     "    ins(%{2} : {3}) outs(%{0}_start : {4}) {{\n"
                     "  ^bb0(%x: {5}, %s: {6}):\n"
                     "{7}"
                     "    linalg.yield %t : {6}\n"
                     "  }} -> {4}\n",
                     name, attribute, input, matrixText(spec, type), vectorText(spec, result), nameOf(type),
                     nameOf(result), body, elementLoops(spec), rowLoops(spec), spec.inner == 1 ? "" : ", \"parallel\"");
}

// The element %x in the accumulator's type, and the name that it has then.
static std::string widenText(ElementType type, ElementType wide) {
  if (type == wide)
    return "";
  return fmt::format("    %w = arith.{} %x : {} to {}\n", type == ElementType::I8 ? "extsi" : "extf", nameOf(type),
                     nameOf(wide));
}

static std::string combineText(const RowSpec &spec) {
  ElementType wide = spec.accumulator();
  const char *element = spec.type == wide ? "%x" : "%w";
  const char *op = wide == ElementType::I32 ? "addi" : "addf";
  if (spec.isExtremum())
    op = spec.type == ElementType::I8 ? (spec.op == RowOp::Max ? "maxsi" : "minsi")
                                      : (spec.op == RowOp::Max ? "maximumf" : "minimumf");
  return widenText(spec.type, wide) + fmt::format("    %t = arith.{} {}, %s : {}\n", op, element, nameOf(wide));
}

// From sums to results: divided by the number of columns, rounded to their type.
static std::string finishText(const RowSpec &spec) {
  ElementType sum = spec.accumulator();
  std::string text;
  if (spec.op == RowOp::Mean)
    text += fmt::format("  %columns = arith.constant {}.0 : {}\n", spec.columns, nameOf(sum));
  text += fmt::format("  %empty = tensor.empty() : {0}\n"
                      "  %result = linalg.generic {{\n"
                      "    indexing_maps = [affine_map<({4}) -> ({4})>,\n"
                      "                     affine_map<({4}) -> ({4})>],\n"
                      "    iterator_types = [\"parallel\"{5}]}}\n"
                      "    ins(%reduced : {1}) outs(%empty : {0}) {{\n"
                      "  ^bb0(%s: {2}, %out: {3}):\n",
                      vectorText(spec, spec.result), vectorText(spec, sum), nameOf(sum), nameOf(spec.result),
                      rowLoops(spec), spec.inner == 1 ? "" : ", \"parallel\"");
  std::string_view last = "%s";
  if (spec.op == RowOp::Mean) {
    text += fmt::format("    %mean = arith.divf %s, %columns : {}\n", nameOf(sum));
    last = "%mean";
  }
  if (spec.result != sum) {
    text += fmt::format("    %narrow = arith.truncf {} : {} to {}\n", last, nameOf(sum), nameOf(spec.result));
    last = "%narrow";
  }
  return text + fmt::format("    linalg.yield {} : {}\n  }} -> {}\n", last, nameOf(spec.result),
                            vectorText(spec, spec.result));
}

std::string reductionMlir(const RowSpec &spec, std::string_view function, std::string_view configuration) {
  ElementType sum = spec.accumulator();
  std::string_view start = spec.isExtremum() ? startOfExtremum(spec) : sum == ElementType::I32 ? "0" : "0.0";
  std::string text = fmt::format("func.func @{}(%in: {}) -> {} {{\n", function, matrixText(spec, spec.type),
                                 vectorText(spec, spec.result));
  text += fillText(spec, "reduced", sum, start);
  text += reduceText(spec, "reduced", "in", spec.type, sum, combineText(spec), configuration);
  bool finishes = spec.op == RowOp::Mean || spec.result != sum;
  if (finishes)
    text += finishText(spec);
  return text + fmt::format("  return %{} : {}\n}}\n", finishes ? "result" : "reduced", vectorText(spec, spec.result));
}

//===--- Softmax --------------------------------------------------------------------------------------------------===//

// An operation on each element %a of %{input} and its row's number %b of %{row}; from both as %x and %y of f32 to %t.
static std::string rowwiseText(const RowSpec &spec, std::string_view name, std::string_view input, ElementType type,
                               std::string_view row, ElementType rowType, ElementType result, std::string_view body) {
  auto element = [](std::string_view from, std::string_view to, ElementType narrow) {
    return narrow == ElementType::F32 ? std::string()
                                      : fmt::format("    {} = arith.extf {} : {} to f32\n", to, from, nameOf(narrow));
  };
  bool wideElement = type == ElementType::F32, wideRow = rowType == ElementType::F32,
       rounds = result != ElementType::F32;
  std::string text =
      fmt::format("  %{0}_empty = tensor.empty() : {1}\n"
                  "  %{0} = linalg.generic {{\n"
                  "    indexing_maps = [affine_map<(r, c) -> (r, c)>,\n"
                  "                     affine_map<(r, c) -> (r)>,\n"
                  "                     affine_map<(r, c) -> (r, c)>],\n"
                  "    iterator_types = [\"parallel\", \"parallel\"]}}\n"
                  "    ins(%{2}, %{3} : {4}, {5}) outs(%{0}_empty : {1}) {{\n",
                  name, matrixText(spec, result), input, row, matrixText(spec, type), vectorText(spec, rowType));
  text += fmt::format("  ^bb0({}: {}, {}: {}, %out: {}):\n", wideElement ? "%x" : "%a", nameOf(type),
                      wideRow ? "%y" : "%b", nameOf(rowType), nameOf(result));
  text += element("%a", "%x", type) + element("%b", "%y", rowType);
  text += body;
  if (rounds)
    text += fmt::format("    %narrow = arith.truncf %t : f32 to {}\n", nameOf(result));
  return text + fmt::format("    linalg.yield {} : {}\n  }} -> {}\n", rounds ? "%narrow" : "%t", nameOf(result),
                            matrixText(spec, result));
}

std::string softmaxMlir(const RowSpec &spec, std::string_view function, std::string_view configuration) {
  constexpr ElementType kWide = ElementType::F32;
  std::string type = matrixText(spec, spec.type);
  std::string text = fmt::format("func.func @{}(%in: {}) -> {} {{\n", function, type, type);
  text += fillText(spec, "max", spec.type, startOfExtremum(spec));
  text += reduceText(spec, "max", "in", spec.type, spec.type,
                     fmt::format("    %t = arith.maximumf %x, %s : {}\n", nameOf(spec.type)), "");
  text += rowwiseText(spec, "exp", "in", spec.type, "max", spec.type, kWide,
                      "    %d = arith.subf %x, %y : f32\n"
                      "    %t = math.exp %d : f32\n");
  text += fillText(spec, "sum", kWide, "0.0");
  text += reduceText(spec, "sum", "exp", kWide, kWide, "    %t = arith.addf %x, %s : f32\n", configuration);
  text += rowwiseText(spec, "result", "exp", kWide, "sum", kWide, spec.type, "    %t = arith.divf %x, %y : f32\n");
  return text + fmt::format("  return %result : {}\n}}\n", type);
}

} // namespace kiln::families
