#include "kiln/families/matmul/workload/matmul_mlir.h"

namespace kiln::families {

std::string tensorTypeText(const measure::TensorType &tensor) {
  std::string text = "tensor<";
  for (uint64_t extent : tensor.shape)
    text += fmt::format("{}x", extent);
  return fmt::format("{}{}>", text, hal::elementTypeName(tensor.type));
}

static bool isFloat(ElementType type) {
  return type != ElementType::I32;
}

// "affine_map<(b, m, n, k) -> (b, n, k)>"
static std::string indexingMap(const MatmulSpec &spec, char rows, char columns, bool columnMajor) {
  if (columnMajor)
    std::swap(rows, columns);
  const char *batch = spec.batched ? "b, " : "";
  return fmt::format("affine_map<({}m, n, k) -> ({}{}, {})>", batch, batch, rows, columns);
}

static std::string product(const MatmulSpec &spec, const std::string &sumType, std::string_view configuration) {
  std::string text = fmt::format("  %sum = linalg.{}", spec.family());
  if (spec.lhs.columnMajor || spec.rhs.columnMajor)
    text += fmt::format("\n    indexing_maps = [{},\n                     {},\n                     {}]",
                        indexingMap(spec, 'm', 'k', spec.lhs.columnMajor),
                        indexingMap(spec, 'k', 'n', spec.rhs.columnMajor), indexingMap(spec, 'm', 'n', false));
  if (!configuration.empty())
    text += fmt::format("\n    {{kiln.configuration = \"{}\"}}", configuration);
  text += fmt::format("\n    ins(%lhs, %rhs : {}, {})\n    outs(%zeros : {}) -> {}\n", tensorTypeText(spec.lhsTensor()),
                      tensorTypeText(spec.rhsTensor()), sumType, sumType);
  return text;
}

static std::string rounding(const MatmulSpec &spec, const std::string &sumType, const std::string &resultType) {
  std::string dims = spec.batched ? "b, m, n" : "m, n";
  std::string map = fmt::format("affine_map<({}) -> ({})>", dims, dims);
  std::string_view wide = hal::elementTypeName(spec.accumulator), narrow = hal::elementTypeName(spec.result.type);
  return fmt::format("  %narrow = tensor.empty() : {}\n"
                     "  %result = linalg.generic {{\n"
                     "    indexing_maps = [{}, {}],\n"
                     "    iterator_types = [{}\"parallel\", \"parallel\"]\n"
                     "  }} ins(%sum : {}) outs(%narrow : {}) {{\n"
                     "  ^bb0(%wide: {}, %old: {}):\n"
                     "    %rounded = arith.truncf %wide : {} to {}\n"
                     "    linalg.yield %rounded : {}\n"
                     "  }} -> {}\n",
                     resultType, map, map, spec.batched ? "\"parallel\", " : "", sumType, resultType, wide, narrow,
                     wide, narrow, narrow, resultType);
}

std::string matmulMlir(const MatmulSpec &spec, std::string_view function, std::string_view configuration) {
  measure::TensorType sum = spec.resultTensor();
  sum.type = spec.accumulator;
  std::string sumType = tensorTypeText(sum), resultType = tensorTypeText(spec.resultTensor());
  std::string_view element = hal::elementTypeName(spec.accumulator);
  std::string text = fmt::format("func.func @{}(%lhs: {}, %rhs: {}) -> {} {{\n", function,
                                 tensorTypeText(spec.lhsTensor()), tensorTypeText(spec.rhsTensor()), resultType);
  text += fmt::format("  %zero = arith.constant {} : {}\n"
                      "  %empty = tensor.empty() : {}\n"
                      "  %zeros = linalg.fill ins(%zero : {}) outs(%empty : {}) -> {}\n",
                      isFloat(spec.accumulator) ? "0.0" : "0", element, sumType, element, sumType, sumType);
  text += product(spec, sumType, configuration);
  bool narrower = spec.result.type != spec.accumulator;
  if (narrower)
    text += rounding(spec, sumType, resultType);
  text += fmt::format("  return {} : {}\n}}\n", narrower ? "%result" : "%sum", resultType);
  return text;
}

} // namespace kiln::families
