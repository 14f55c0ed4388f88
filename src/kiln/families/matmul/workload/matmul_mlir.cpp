#include "kiln/families/matmul/workload/matmul_mlir.h"

#include "kiln/families/matmul/workload/splitk_mlir.h"
#include "kiln/measure/mlir_text.h"

namespace kiln::families {

using namespace measure;

// "b, m, k", or "k, m" where the matrix is column-major.
static std::string indices(const MatmulSpec &spec, char rows, char columns, bool columnMajor) {
  if (columnMajor)
    std::swap(rows, columns);
  return fmt::format("{}{}, {}", spec.batched ? "b, " : "", rows, columns);
}

static std::string dimensions(const MatmulSpec &spec, std::string_view names) {
  return fmt::format("{}{}", spec.batched ? "b, " : "", names);
}

// A sum that is kept in f16.
static std::string narrowProduct(const MatmulSpec &spec, const std::string &sumType, std::string_view configuration) {
  const GenericOperand inputs[] = {
      {{"%lhs", tensorTypeText(spec.lhsTensor())}, indices(spec, 'm', 'k', spec.lhs.columnMajor)},
      {{"%rhs", tensorTypeText(spec.rhsTensor())}, indices(spec, 'k', 'n', spec.rhs.columnMajor)}};
  return genericText("%sum", {dimensions(spec, "m, n, k"),
                              1,
                              inputs,
                              {{"%zeros", sumType}, dimensions(spec, "m, n")},
                              productBody(spec.lhs.type, ElementType::F32, spec.accumulator, ""),
                              configurationText(configuration)});
}

static std::string product(const MatmulSpec &spec, const std::string &sumType, std::string_view configuration) {
  if (spec.accumulator == ElementType::F16)
    return narrowProduct(spec, sumType, configuration);
  std::string text = fmt::format("  %sum = linalg.{}", spec.batched ? "batch_matmul" : "matmul");
  auto map = [&](char rows, char columns, bool columnMajor) {
    return fmt::format("affine_map<({}) -> ({})>", dimensions(spec, "m, n, k"),
                       indices(spec, rows, columns, columnMajor));
  };
  if (spec.lhs.columnMajor || spec.rhs.columnMajor)
    text += fmt::format("\n    indexing_maps = [{},\n                     {},\n                     {}]",
                        map('m', 'k', spec.lhs.columnMajor), map('k', 'n', spec.rhs.columnMajor), map('m', 'n', false));
  if (!configuration.empty())
    text += "\n    " + configurationText(configuration);
  text += fmt::format("\n    ins(%lhs, %rhs : {}, {})\n    outs(%zeros : {}) -> {}\n", tensorTypeText(spec.lhsTensor()),
                      tensorTypeText(spec.rhsTensor()), sumType, sumType);
  return text;
}

// %activated of f32, out of %biased.
static std::string activation(Epilogue epilogue) {
  if (epilogue == Epilogue::BiasRelu)
    return "    %none = arith.constant 0.0 : f32\n"
           "    %activated = arith.maximumf %biased, %none : f32\n";
  if (epilogue == Epilogue::BiasGeluTanh)
    return "    %half = arith.constant 0.5 : f32\n"
           "    %one = arith.constant 1.0 : f32\n"
           "    %cubic = arith.constant 0.044715 : f32\n"
           "    %root = arith.constant 0.79788456080286536 : f32\n"
           "    %square = arith.mulf %biased, %biased : f32\n"
           "    %cube = arith.mulf %square, %biased : f32\n"
           "    %bent = arith.mulf %cube, %cubic : f32\n"
           "    %argument = arith.addf %biased, %bent : f32\n"
           "    %scaled = arith.mulf %argument, %root : f32\n"
           "    %tanh = math.tanh %scaled : f32\n"
           "    %share = arith.addf %tanh, %one : f32\n"
           "    %halved = arith.mulf %biased, %half : f32\n"
           "    %activated = arith.mulf %halved, %share : f32\n";
  return "    %half = arith.constant 0.5 : f32\n"
         "    %one = arith.constant 1.0 : f32\n"
         "    %root = arith.constant 0.70710678118654752 : f32\n"
         "    %scaled = arith.mulf %biased, %root : f32\n"
         "    %erf = math.erf %scaled : f32\n"
         "    %share = arith.addf %erf, %one : f32\n"
         "    %halved = arith.mulf %biased, %half : f32\n"
         "    %activated = arith.mulf %halved, %share : f32\n";
}

// In f32, rounded once.
static std::string epilogueBody(const MatmulSpec &spec) {
  ElementType type = spec.result.type;
  std::string_view name = hal::elementTypeName(type);
  std::string text =
      fmt::format("  ^bb0(%wide: {}, %bias_in: {}, %old: {}):\n", hal::elementTypeName(spec.accumulator), name, name);
  text += convertText("wide_sum", "wide", spec.accumulator, ElementType::F32);
  text += convertText("wide_bias", "bias_in", type, ElementType::F32);
  text += fmt::format("    %biased = arith.addf %{}, %{} : f32\n",
                      spec.accumulator == ElementType::F32 ? "wide" : "wide_sum",
                      type == ElementType::F32 ? "bias_in" : "wide_bias");
  const char *last = "biased";
  if (spec.epilogue != Epilogue::Bias) {
    text += activation(spec.epilogue);
    last = "activated";
  }
  text += convertText("rounded", last, ElementType::F32, type);
  return text + fmt::format("    linalg.yield %{} : {}\n", type == ElementType::F32 ? last : "rounded", name);
}

static std::string roundingBody(const MatmulSpec &spec) {
  std::string_view wide = hal::elementTypeName(spec.accumulator), narrow = hal::elementTypeName(spec.result.type);
  return fmt::format("  ^bb0(%wide: {}, %old: {}):\n", wide, narrow) +
         convertText("rounded", "wide", spec.accumulator, spec.result.type) +
         fmt::format("    linalg.yield %rounded : {}\n", narrow);
}

// %result out of %sum, element by element.
static std::string finish(const MatmulSpec &spec, const std::string &sumType) {
  std::string dims = dimensions(spec, "m, n"), resultType = tensorTypeText(spec.resultTensor());
  std::vector<GenericOperand> inputs = {{{"%sum", sumType}, dims}};
  if (spec.hasBias())
    inputs.push_back({{"%bias", tensorTypeText(spec.biasTensor())}, "n"});
  return emptyText("finished", spec.resultTensor()) +
         genericText("%result", {dims,
                                 0,
                                 inputs,
                                 {{"%finished", resultType}, dims},
                                 spec.hasBias() ? epilogueBody(spec) : roundingBody(spec)});
}

std::string matmulMlir(const MatmulSpec &spec, std::string_view function, std::string_view configuration) {
  if (spec.split != SplitK::None)
    return splitKMlir(spec, function, configuration);
  measure::TensorType sum = spec.resultTensor();
  sum.type = spec.accumulator;
  std::string sumType = tensorTypeText(sum), resultType = tensorTypeText(spec.resultTensor());
  std::string bias = spec.hasBias() ? ", %bias: " + tensorTypeText(spec.biasTensor()) : "";
  std::string text = fmt::format("func.func @{}(%lhs: {}, %rhs: {}{}) -> {} {{\n", function,
                                 tensorTypeText(spec.lhsTensor()), tensorTypeText(spec.rhsTensor()), bias, resultType);
  text += zeroText(spec.accumulator) + zerosText("zeros", sum) + product(spec, sumType, configuration);
  bool finishes = spec.hasBias() || spec.result.type != spec.accumulator;
  if (finishes)
    text += finish(spec, sumType);
  return text + fmt::format("  return {} : {}\n}}\n", finishes ? "%result" : "%sum", resultType);
}

} // namespace kiln::families
