#include "kiln/families/transpose/workload/transpose_mlir.h"

#include "fmt/ranges.h"
#include "kiln/measure/mlir_text.h"

namespace kiln::families {

std::string transposeMlir(const TransposeSpec &spec, std::string_view function, std::string_view configuration) {
  std::string input = tensorTypeText(spec.input()), output = tensorTypeText(spec.output());
  std::string_view element = hal::elementTypeName(spec.type);
  std::vector<std::string> loops, read(spec.shape.size());
  for (size_t d = 0; d < spec.shape.size(); ++d) {
    loops.push_back(fmt::format("d{}", d));
    read[spec.permutation[d]] = loops.back();
  }
  std::string all = fmt::format("{}", fmt::join(loops, ", "));
  const measure::GenericOperand inputs[] = {{{"%in", input}, fmt::format("{}", fmt::join(read, ", "))}};
  return fmt::format("func.func @{}(%in: {}) -> {} {{\n", function, input, output) +
         measure::emptyText("empty", spec.output()) +
         measure::genericText("%result",
                              {all,
                               0,
                               inputs,
                               {{"%empty", output}, all},
                               fmt::format("  ^bb0(%a: {0}, %out: {0}):\n    linalg.yield %a : {0}\n", element),
                               measure::configurationText(configuration)}) +
         fmt::format("  return %result : {}\n}}\n", output);
}

} // namespace kiln::families
