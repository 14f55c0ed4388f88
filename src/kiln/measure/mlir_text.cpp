#include "kiln/measure/mlir_text.h"

#include <algorithm>

namespace kiln::measure {

static bool isInteger(ElementType type) {
  return type == ElementType::I8 || type == ElementType::I32;
}

ElementType signlessType(ElementType type) {
  switch (type) {
  case ElementType::SI8:
  case ElementType::UI8: return ElementType::I8;
  case ElementType::SI16:
  case ElementType::UI16: return ElementType::I16;
  case ElementType::SI32:
  case ElementType::UI32: return ElementType::I32;
  case ElementType::SI64:
  case ElementType::UI64: return ElementType::I64;
  default: return type;
  }
}

std::string tensorTypeText(const TensorType &tensor) {
  std::string text = "tensor<";
  for (uint64_t extent : tensor.shape)
    text += fmt::format("{}x", extent);
  return fmt::format("{}{}>", text, hal::elementTypeName(signlessType(tensor.type)));
}

std::string genericText(std::string_view result, const GenericText &generic) {
  std::string maps, iterators, values, types;
  auto map = [&](const GenericOperand &operand) {
    return fmt::format("affine_map<({}) -> ({})>", generic.dims, operand.indices);
  };
  for (const GenericOperand &input : generic.inputs) {
    maps += map(input) + ",\n                     ";
    values += fmt::format("{}{}", values.empty() ? "" : ", ", input.value.name);
    types += fmt::format("{}{}", types.empty() ? "" : ", ", input.value.type);
  }
  size_t loops = 1 + static_cast<size_t>(std::ranges::count(generic.dims, ','));
  for (size_t loop = 0; loop < loops; ++loop)
    iterators +=
        fmt::format("{}\"{}\"", loop ? ", " : "", loop + generic.reductions < loops ? "parallel" : "reduction");
  const GenericOperand &output = generic.output;
  return fmt::format("  {} = linalg.generic {{\n"
                     "    indexing_maps = [{}{}],\n"
                     "    iterator_types = [{}]\n"
                     "  }} ins({} : {}) outs({} : {}){} {{\n"
                     "{}"
                     "  }} -> {}\n",
                     result, maps, map(output), iterators, values, types, output.value.name, output.value.type,
                     generic.attribute.empty() ? "" : " attrs = " + generic.attribute, generic.body, output.value.type);
}

std::string emptyText(std::string_view name, const TensorType &tensor) {
  return fmt::format("  %{} = tensor.empty() : {}\n", name, tensorTypeText(tensor));
}

std::string zerosText(std::string_view name, const TensorType &tensor, std::string_view zero) {
  std::string empty = fmt::format("{}_empty", name), type = tensorTypeText(tensor);
  return emptyText(empty, tensor) + fmt::format("  %{} = linalg.fill ins(%{} : {}) outs(%{} : {}) -> {}\n", name, zero,
                                                hal::elementTypeName(tensor.type), empty, type, type);
}

std::string zeroText(ElementType type, std::string_view zero) {
  return fmt::format("  %{} = arith.constant {} : {}\n", zero, isInteger(type) ? "0" : "0.0",
                     hal::elementTypeName(type));
}

std::string convertText(std::string_view result, std::string_view value, ElementType from, ElementType to) {
  if (from == to)
    return "";
  bool wider = hal::elementTypeByteSize(to) > hal::elementTypeByteSize(from);
  std::string_view op = isInteger(from) ? "arith.extsi" : wider ? "arith.extf" : "arith.truncf";
  return fmt::format("    %{} = {} %{} : {} to {}\n", result, op, value, hal::elementTypeName(from),
                     hal::elementTypeName(to));
}

std::string productBody(ElementType operands, ElementType wide, ElementType sum, std::string_view window) {
  std::string_view in = hal::elementTypeName(operands), type = hal::elementTypeName(wide);
  std::string text = fmt::format("  ^bb0(%a: {}, %b: {}, {}%before: {}):\n", in, in,
                                 window.empty() ? "" : fmt::format("%extent: {}, ", window), hal::elementTypeName(sum));
  auto widened = [&](const char *value, ElementType from) {
    std::string name = fmt::format("wide_{}", value);
    text += convertText(name, value, from, wide);
    return from == wide ? std::string(value) : name;
  };
  std::string a = widened("a", operands), b = widened("b", operands), before = widened("before", sum);
  char kind = isInteger(wide) ? 'i' : 'f';
  text += fmt::format("    %product = arith.mul{} %{}, %{} : {}\n", kind, a, b, type);
  text += fmt::format("    %next = arith.add{} %{}, %product : {}\n", kind, before, type);
  text += convertText("rounded", "next", wide, sum);
  text += fmt::format("    linalg.yield %{} : {}\n", wide == sum ? "next" : "rounded", hal::elementTypeName(sum));
  return text;
}

std::string configurationText(std::string_view configuration) {
  return configuration.empty() ? "" : fmt::format("{{kiln.configuration = \"{}\"}}", configuration);
}

} // namespace kiln::measure
