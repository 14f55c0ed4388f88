#include "kiln/families/attention/workload/attention_mlir.h"

#include "kiln/measure/mlir_text.h"

namespace kiln::families {

using hal::ElementType;
using measure::GenericOperand;
using measure::TensorType;
using measure::tensorTypeText;

namespace {

// Writes one program. Everything between inputs and result is of f32.
class Writer {
public:
  Writer(const AttentionSpec &spec, std::string_view configuration)
      : spec(spec), configuration(configuration), scores({ElementType::F32, {spec.heads, spec.queries, spec.keys}}),
        perQuery({ElementType::F32, {spec.heads, spec.queries}}) {}

  std::string write(std::string_view function) const {
    std::string output = tensorTypeText(spec.output());
    std::string text =
        fmt::format("func.func @{}(%q: {}, %k: {}, %v: {}) -> {} {{\n", function, tensorTypeText(spec.query()),
                    tensorTypeText(spec.key()), tensorTypeText(spec.value()), output);
    text += measure::zeroText(ElementType::F32);
    text += fmt::format("  %scale = arith.constant {:.9e} : f32\n", spec.scale());
    text += "  %lowest = arith.constant 0xFF800000 : f32\n";
    text += product("scores", scores, "%q", spec.query(), "%k", spec.key(), "b, n, k");
    text += elementwise("scaled", {operand("scores")}, "%s: f32", scaledBody());
    text += reduction("max", "lowest", "scaled", "    %t = arith.maximumf %a, %m : f32\n");
    text += elementwise("exp", {operand("scaled"), rowOperand("max")}, "%a: f32, %m: f32",
                        "    %d = arith.subf %a, %m : f32\n"
                        "    %t = math.exp %d : f32\n");
    text += reduction("sum", "zero", "exp", "    %t = arith.addf %a, %m : f32\n");
    text += elementwise("weights", {operand("exp"), rowOperand("sum")}, "%e: f32, %total: f32",
                        "    %t = arith.divf %e, %total : f32\n");
    TensorType wide = spec.output();
    wide.type = ElementType::F32;
    text += product("mixed", wide, "%weights", scores, "%v", spec.value(), "b, k, n");
    if (isNarrow())
      text += rounding(wide);
    return text + fmt::format("  return %{} : {}\n}}\n", isNarrow() ? "result" : "mixed", output);
  }

private:
  bool isNarrow() const { return spec.type != ElementType::F32; }
  GenericOperand operand(std::string_view name) const {
    return {{fmt::format("%{}", name), tensorTypeText(scores)}, "h, i, j"};
  }
  GenericOperand rowOperand(std::string_view name) const {
    return {{fmt::format("%{}", name), tensorTypeText(perQuery)}, "h, i"};
  }

  // %{name}: a product of matrices of each head. `rhsIndices` says how the right one lies.
  std::string product(std::string_view name, const TensorType &result, std::string_view lhs, const TensorType &lhsType,
                      std::string_view rhs, const TensorType &rhsType, std::string_view rhsIndices) const {
    std::string type = tensorTypeText(result), start = fmt::format("{}_start", name);
    std::string text = measure::zerosText(start, result) + fmt::format("  %{} = linalg.batch_matmul\n", name);
    if (rhsIndices != "b, k, n")
      text += fmt::format("    indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,\n"
                          "                     affine_map<(b, m, n, k) -> ({})>,\n"
                          "                     affine_map<(b, m, n, k) -> (b, m, n)>]\n",
                          rhsIndices);
    if (!configuration.empty())
      text += fmt::format("    {}\n", measure::configurationText(configuration));
    return text + fmt::format("    ins({}, {} : {}, {})\n    outs(%{} : {}) -> {}\n", lhs, rhs, tensorTypeText(lhsType),
                              tensorTypeText(rhsType), start, type, type);
  }

  std::string scaledBody() const {
    if (!spec.isCausal)
      return "    %t = arith.mulf %s, %scale : f32\n";
    return "    %x = arith.mulf %s, %scale : f32\n"
           "    %row = linalg.index 1 : index\n"
           "    %column = linalg.index 2 : index\n"
           "    %sees = arith.cmpi ule, %column, %row : index\n"
           "    %t = arith.select %sees, %x, %lowest : f32\n";
  }

  // %t of each score.
  std::string elementwise(std::string_view name, const std::vector<GenericOperand> &inputs, std::string_view arguments,
                          std::string_view body) const {
    std::string empty = fmt::format("{}_empty", name);
    return measure::emptyText(empty, scores) +
           measure::genericText(
               fmt::format("%{}", name),
               {"h, i, j", 0, inputs, operand(empty),
                fmt::format("  ^bb0({}, %out: f32):\n{}    linalg.yield %t : f32\n", arguments, body)});
  }

  // %t of each element %a of a row and what came before it, %m.
  std::string reduction(std::string_view name, std::string_view from, std::string_view input,
                        std::string_view body) const {
    std::string start = fmt::format("{}_start", name);
    GenericOperand elements = operand(input);
    return measure::zerosText(start, perQuery, from) +
           measure::genericText(fmt::format("%{}", name),
                                {"h, i, j",
                                 1,
                                 {&elements, 1},
                                 rowOperand(start),
                                 fmt::format("  ^bb0(%a: f32, %m: f32):\n{}    linalg.yield %t : f32\n", body)});
  }

  std::string rounding(const TensorType &wide) const {
    std::string_view element = hal::elementTypeName(spec.type);
    GenericOperand input = {{"%mixed", tensorTypeText(wide)}, "h, i, c"};
    return measure::emptyText("empty", spec.output()) +
           measure::genericText("%result", {"h, i, c",
                                            0,
                                            {&input, 1},
                                            {{"%empty", tensorTypeText(spec.output())}, "h, i, c"},
                                            fmt::format("  ^bb0(%x: f32, %out: {}):\n", element) +
                                                measure::convertText("t", "x", ElementType::F32, spec.type) +
                                                fmt::format("    linalg.yield %t : {}\n", element)});
  }

  const AttentionSpec &spec;
  const std::string_view configuration;
  const TensorType scores, perQuery;
};

} // namespace

std::string attentionMlir(const AttentionSpec &spec, std::string_view function, std::string_view configuration) {
  return Writer(spec, configuration).write(function);
}

} // namespace kiln::families
