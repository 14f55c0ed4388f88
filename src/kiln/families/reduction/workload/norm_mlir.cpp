#include "kiln/families/reduction/workload/norm_mlir.h"

#include "kiln/measure/mlir_text.h"

namespace kiln::families {

using hal::ElementType;
using measure::GenericOperand;

namespace {

// Writes one program. Numbers of rows are f32; elements and parameters have the problem's type.
class Writer {
public:
  Writer(const NormSpec &spec, std::string_view configuration)
      : spec(spec), configuration(configuration), element(hal::elementTypeName(spec.type)),
        perRow({ElementType::F32, {spec.rows}}) {}

  std::string write(std::string_view function) {
    std::string type = tensorTypeText(spec.input()), parameter = tensorTypeText(spec.parameter());
    std::string text = fmt::format("func.func @{}(%in: {}, %gamma: {}{}) -> {} {{\n", function, type, parameter,
                                   spec.isLayerNorm ? ", %beta: " + parameter : "", type);
    text += measure::zeroText(ElementType::F32);
    text += fmt::format("  %columns = arith.constant {}.0 : f32\n", spec.columns);
    text += fmt::format("  %epsilon = arith.constant {:.9e} : f32\n", kNormEpsilon);
    text += "  %one = arith.constant 1.0 : f32\n";
    if (spec.isLayerNorm) {
      text += reduction("sum", input(), spec.type, wide("a", "x"), widened("a", "x"));
      text += ofRows("mean", "sum", "    %t = arith.divf %s, %columns : f32\n");
      text += centered();
      text += squares({{"%centered", tensorTypeText(wideInput())}, "r, c"}, ElementType::F32, "", "a");
    } else {
      text += squares(input(), spec.type, wide("a", "x"), widened("a", "x"));
    }
    text += ofRows("scale", "squares",
                   "    %variance = arith.divf %s, %columns : f32\n"
                   "    %above = arith.addf %variance, %epsilon : f32\n"
                   "    %root = math.sqrt %above : f32\n"
                   "    %t = arith.divf %one, %root : f32\n");
    return text + normalized() + fmt::format("  return %result : {}\n}}\n", type);
  }

private:
  bool isNarrow() const { return spec.type != ElementType::F32; }
  // A line that makes %<result> of f32 of the element %<value>, and which of them is of f32 then.
  std::string wide(std::string_view value, std::string_view result) const {
    return measure::convertText(result, value, spec.type, ElementType::F32);
  }
  std::string widened(std::string_view value, std::string_view result) const {
    return std::string(isNarrow() ? result : value);
  }
  GenericOperand input() const { return {{"%in", tensorTypeText(spec.input())}, "r, c"}; }
  measure::TensorType wideInput() const { return {ElementType::F32, spec.input().shape}; }
  GenericOperand rowOperand(std::string_view name) const {
    return {{fmt::format("%{}", name), tensorTypeText(perRow)}, "r"};
  }

  // Of each row of elements %a the sum of %{value}, which `body` makes.
  std::string reduction(std::string_view name, const GenericOperand &from, ElementType type, std::string_view body,
                        std::string_view value, std::string_view attribute = "") const {
    std::string start = fmt::format("{}_start", name);
    return measure::zerosText(start, perRow) +
           measure::genericText(fmt::format("%{}", name), {"r, c",
                                                           1,
                                                           {&from, 1},
                                                           rowOperand(start),
                                                           fmt::format("  ^bb0(%a: {}, %s: f32):\n{}"
                                                                       "    %t = arith.addf %s, %{} : f32\n"
                                                                       "    linalg.yield %t : f32\n",
                                                                       hal::elementTypeName(type), body, value),
                                                           std::string(attribute)});
  }
  std::string squares(const GenericOperand &from, ElementType type, std::string_view widen,
                      std::string_view value) const {
    return reduction("squares", from, type, fmt::format("{0}    %q = arith.mulf %{1}, %{1} : f32\n", widen, value), "q",
                     measure::configurationText(configuration));
  }

  // Elements less their row's mean, of f32.
  std::string centered() const {
    const GenericOperand inputs[] = {input(), rowOperand("mean")};
    return measure::emptyText("centered_empty", wideInput()) +
           measure::genericText("%centered", {"r, c",
                                              0,
                                              inputs,
                                              {{"%centered_empty", tensorTypeText(wideInput())}, "r, c"},
                                              fmt::format("  ^bb0(%a: {}, %mean_of: f32, %out: f32):\n{}"
                                                          "    %d = arith.subf %{}, %mean_of : f32\n"
                                                          "    linalg.yield %d : f32\n",
                                                          element, wide("a", "x"), widened("a", "x"))});
  }

  // %t of each row's number %s.
  std::string ofRows(std::string_view name, std::string_view from, std::string_view body) const {
    std::string empty = fmt::format("{}_empty", name);
    GenericOperand input = rowOperand(from);
    return measure::emptyText(empty, perRow) +
           measure::genericText(fmt::format("%{}", name),
                                {"r",
                                 0,
                                 {&input, 1},
                                 rowOperand(empty),
                                 fmt::format("  ^bb0(%s: f32, %out: f32):\n{}    linalg.yield %t : f32\n", body)});
  }

  std::string normalized() const {
    std::string parameter = tensorTypeText(spec.parameter());
    std::vector<GenericOperand> inputs = {input(), rowOperand("scale"), {{"%gamma", parameter}, "c"}};
    std::string arguments = fmt::format("%a: {0}, %scale_of: f32, %g: {0}", element), body = wide("a", "x");
    std::string value = widened("a", "x");
    if (spec.isLayerNorm) {
      inputs[0] = {{"%centered", tensorTypeText(wideInput())}, "r, c"};
      arguments = fmt::format("%a: f32, %scale_of: f32, %g: {}", element), body = "", value = "a";
    }
    body += wide("g", "wide_g") + fmt::format("    %n = arith.mulf %{}, %scale_of : f32\n", value) +
            fmt::format("    %p = arith.mulf %n, %{} : f32\n", widened("g", "wide_g"));
    std::string last = "p";
    if (spec.isLayerNorm) {
      inputs.push_back({{"%beta", parameter}, "c"});
      arguments += fmt::format(", %b: {}", element);
      body += wide("b", "wide_b") + fmt::format("    %y = arith.addf %p, %{} : f32\n", widened("b", "wide_b"));
      last = "y";
    }
    body += measure::convertText("narrow", last, ElementType::F32, spec.type);
    body += fmt::format("    linalg.yield %{} : {}\n", isNarrow() ? "narrow" : last, element);
    return measure::emptyText("empty", spec.input()) +
           measure::genericText("%result", {"r, c",
                                            0,
                                            inputs,
                                            {{"%empty", tensorTypeText(spec.input())}, "r, c"},
                                            fmt::format("  ^bb0({}, %out: {}):\n{}", arguments, element, body)});
  }

  const NormSpec &spec;
  const std::string_view configuration, element;
  const measure::TensorType perRow;
};

} // namespace

std::string normMlir(const NormSpec &spec, std::string_view function, std::string_view configuration) {
  return Writer(spec, configuration).write(function);
}

} // namespace kiln::families
