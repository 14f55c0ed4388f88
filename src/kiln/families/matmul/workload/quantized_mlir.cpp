#include "kiln/families/matmul/workload/quantized_mlir.h"

#include "kiln/measure/mlir_text.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {

using namespace measure;

static std::string namedProduct(const std::string &lhsType, const std::string &rhsType, const std::string &sumType,
                                std::string_view configuration) {
  std::string attribute = configuration.empty() ? "" : "\n    " + configurationText(configuration);
  return fmt::format("  %sum = linalg.quantized_matmul{0}\n"
                     "    ins(%lhs, %rhs, %za, %zb : {1}, {2}, i32, i32)\n"
                     "    outs(%zeros : {3}) -> {3}\n",
                     attribute, lhsType, rhsType, sumType);
}

static std::string genericProduct(const QuantizedSpec &spec, const std::string &lhsType, const std::string &rhsType,
                                  const std::string &sumType, std::string_view configuration) {
  const GenericOperand inputs[] = {{{"%lhs", lhsType}, spec.lhs.columnMajor ? "k, m" : "m, k"},
                                   {{"%rhs", rhsType}, spec.rhs.columnMajor ? "n, k" : "k, n"}};
  std::string body = fmt::format("  ^bb0(%a: i8, %b: i8, %before: i32):\n"
                                 "    %wide_a = {} %a : i8 to i32\n"
                                 "    %wide_b = arith.extsi %b : i8 to i32\n"
                                 "    %shifted_a = arith.subi %wide_a, %za : i32\n"
                                 "    %shifted_b = arith.subi %wide_b, %zb : i32\n"
                                 "    %product = arith.muli %shifted_a, %shifted_b : i32\n"
                                 "    %next = arith.addi %before, %product : i32\n"
                                 "    linalg.yield %next : i32\n",
                                 spec.lhs.type == ElementType::UI8 ? "arith.extui" : "arith.extsi");
  return genericText("%sum",
                     {"m, n, k", 1, inputs, {{"%zeros", sumType}, "m, n"}, body, configurationText(configuration)});
}

// %result out of %sum and %scale. The integers stay in f32, which has them exactly, until they are clamped.
static std::string requantization(const QuantizedSpec &spec, const std::string &sumType) {
  ElementType type = spec.result.type;
  TensorType finished = spec.resultTensor();
  const GenericOperand inputs[] = {{{"%sum", sumType}, "m, n"},
                                   {{"%scale", tensorTypeText(spec.scaleTensor())}, spec.perColumn ? "n" : ""}};
  std::string body = fmt::format("  ^bb0(%total: i32, %factor: f32, %old: i8):\n"
                                 "    %zc = arith.constant {}.0 : f32\n"
                                 "    %lowest = arith.constant {}.0 : f32\n"
                                 "    %highest = arith.constant {}.0 : f32\n"
                                 "    %real = arith.sitofp %total : i32 to f32\n"
                                 "    %scaled = arith.mulf %real, %factor : f32\n"
                                 "    %rounded = math.roundeven %scaled : f32\n"
                                 "    %shifted = arith.addf %rounded, %zc : f32\n"
                                 "    %above = arith.maximumf %shifted, %lowest : f32\n"
                                 "    %clamped = arith.minimumf %above, %highest : f32\n"
                                 "    %narrow = {} %clamped : f32 to i8\n"
                                 "    linalg.yield %narrow : i8\n",
                                 spec.resultZero, verify::smallestInteger(type), verify::largestInteger(type),
                                 type == ElementType::UI8 ? "arith.fptoui" : "arith.fptosi");
  return emptyText("finished", finished) +
         genericText("%result", {"m, n", 0, inputs, {{"%finished", tensorTypeText(finished)}, "m, n"}, body});
}

std::string quantizedMlir(const QuantizedSpec &spec, std::string_view function, std::string_view configuration) {
  TensorType sum{ElementType::I32, {spec.m, spec.n}};
  std::string sumType = tensorTypeText(sum), lhsType = tensorTypeText(spec.lhsTensor()),
              rhsType = tensorTypeText(spec.rhsTensor()), resultType = tensorTypeText(spec.resultTensor());
  std::string scale = spec.requantizes() ? ", %scale: " + tensorTypeText(spec.scaleTensor()) : "";
  std::string text =
      fmt::format("func.func @{}(%lhs: {}, %rhs: {}{}) -> {} {{\n", function, lhsType, rhsType, scale, resultType);
  text += fmt::format("  %za = arith.constant {} : i32\n  %zb = arith.constant {} : i32\n", spec.lhsZero, spec.rhsZero);
  text += zeroText(ElementType::I32) + zerosText("zeros", sum);
  bool isNamed = !spec.lhs.columnMajor && !spec.rhs.columnMajor && spec.lhs.type == ElementType::I8;
  text += isNamed ? namedProduct(lhsType, rhsType, sumType, configuration)
                  : genericProduct(spec, lhsType, rhsType, sumType, configuration);
  if (spec.requantizes())
    text += requantization(spec, sumType);
  return text + fmt::format("  return {} : {}\n}}\n", spec.requantizes() ? "%result" : "%sum", resultType);
}

} // namespace kiln::families
