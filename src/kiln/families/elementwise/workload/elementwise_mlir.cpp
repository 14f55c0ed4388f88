#include "kiln/families/elementwise/workload/elementwise_mlir.h"

namespace kiln::families {

using hal::ElementType;

static bool isNarrow(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16;
}

static std::string replaceAll(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The block's content: from elements %a and %b to what it yields.
static std::string blockText(const ElementwiseSpec &spec) {
  std::string_view type = hal::elementTypeName(spec.type);
  bool widens = !spec.op->exact && isNarrow(spec.type);
  std::string body(spec.op->body);
  if (spec.type == ElementType::I32)
    body = replaceAll(replaceAll(body, "arith.addf", "arith.addi"), "arith.mulf", "arith.muli");
  body = replaceAll(body, "TYPE", widens ? "f32" : type);
  std::string text;
  if (widens) {
    text += fmt::format("    %x = arith.extf %a : {} to f32\n", type);
  } else {
    body = replaceAll(body, "%x", "%a");
    body = replaceAll(body, "%y", "%b");
  }
  text += body;
  if (widens)
    text += fmt::format("    %narrow = arith.truncf %r : f32 to {}\n", type);
  return text + fmt::format("    linalg.yield {} : {}\n", widens ? "%narrow" : "%r", type);
}

std::string elementwiseMlir(const ElementwiseSpec &spec, std::string_view function, std::string_view configuration) {
  std::string_view element = hal::elementTypeName(spec.type);
  std::string type = fmt::format("tensor<{}x{}>", spec.shapeText(), element);
  bool binary = spec.op->inputs == 2;
  std::string loops, kinds;
  for (size_t d = 0; d < spec.shape.size(); ++d) {
    loops += fmt::format("{}d{}", d ? ", " : "", d);
    kinds += d ? ", \"parallel\"" : "\"parallel\"";
  }
  std::string identity = fmt::format("affine_map<({}) -> ({})>", loops, loops);
  std::string attribute = configuration.empty() ? "" : fmt::format(",\n    kiln.configuration = \"{}\"", configuration);
  std::string text =
      fmt::format("func.func @{}(%lhs: {}{}) -> {} {{\n", function, type, binary ? ", %rhs: " + type : "", type);
  text += fmt::format("  %empty = tensor.empty() : {}\n", type);
  text += fmt::format("  %result = linalg.generic {{\n"
                      "    indexing_maps = [{},\n"
                      "                     {}{}],\n"
                      "    iterator_types = [{}]{}}}\n",
                      identity, identity, binary ? ",\n                     " + identity : "", kinds, attribute);
  text += fmt::format("    ins({} : {}{}) outs(%empty : {}) {{\n", binary ? "%lhs, %rhs" : "%lhs", type,
                      binary ? ", " + type : "", type);
  text +=
      fmt::format("  ^bb0(%a: {}, {}%out: {}):\n", element, binary ? fmt::format("%b: {}, ", element) : "", element);
  text += blockText(spec);
  text += fmt::format("  }} -> {}\n  return %result : {}\n}}\n", type, type);
  return text;
}

} // namespace kiln::families
