#include "kiln/families/conv/workload/conv_mlir.h"

namespace kiln::families {

using measure::TensorType;

static std::string typeText(const TensorType &tensor) {
  std::string text = "tensor<";
  for (uint64_t extent : tensor.shape)
    text += fmt::format("{}x", extent);
  return fmt::format("{}{}>", text, hal::elementTypeName(tensor.type));
}

static const char *zeroOf(ElementType type) {
  return type == ElementType::I8 || type == ElementType::I32 ? "0" : "0.0";
}

//===--- Forms ----------------------------------------------------------------------------------------------------===//

namespace {
enum class Form { Dense, Depthwise, Grouped };

// The tensors as the op of the form wants them.
struct Operands {
  TensorType image, filter, sum;
  // Which dimensions of the tensors as they lie in memory become one, or become of one two; empty: none.
  std::string imageGroups, filterGroups, sumGroups;
};
} // namespace

static Form formOf(const ConvSpec &spec) {
  if (spec.groups == 1)
    return Form::Dense;
  return spec.groups == spec.c && spec.groups == spec.f ? Form::Depthwise : Form::Grouped;
}

static Operands operandsOf(const ConvSpec &spec, Form form) {
  Operands operands{spec.paddedTensor(), spec.filterTensor(), spec.sumTensor(), {}, {}, {}};
  // Splits the dimension of the channels, or of the filters, into groups and what each has.
  auto split = [&](TensorType &tensor, size_t place, uint64_t each) {
    tensor.shape[place] = each;
    tensor.shape.insert(tensor.shape.begin() + static_cast<std::ptrdiff_t>(place), spec.groups);
  };
  if (form == Form::Depthwise) {
    std::vector<uint64_t> &shape = operands.filter.shape;
    shape.erase(shape.begin() + (spec.channelsFirst ? 1 : 2));
    operands.filterGroups = spec.channelsFirst ? "[[0, 1], [2], [3]]" : "[[0], [1], [2, 3]]";
  } else if (form == Form::Grouped) {
    size_t channels = spec.channelsFirst ? 1 : 3;
    split(operands.image, channels, spec.groupChannels());
    split(operands.filter, spec.channelsFirst ? 0 : 3, spec.groupFilters());
    split(operands.sum, channels, spec.groupFilters());
    operands.imageGroups = operands.sumGroups =
        spec.channelsFirst ? "[[0], [1, 2], [3], [4]]" : "[[0], [1], [2], [3, 4]]";
    operands.filterGroups = spec.channelsFirst ? "[[0, 1], [2], [3], [4]]" : "[[0], [1], [2], [3, 4]]";
  }
  return operands;
}

//===--- Parts ----------------------------------------------------------------------------------------------------===//

static std::string padding(const ConvSpec &spec) {
  std::string_view type = hal::elementTypeName(spec.types.image);
  std::string low = spec.channelsFirst ? fmt::format("[0, 0, {}, {}]", spec.padH, spec.padW)
                                       : fmt::format("[0, {}, {}, 0]", spec.padH, spec.padW);
  return fmt::format("  %edge = arith.constant {} : {}\n"
                     "  %padded = tensor.pad %image low{} high{} {{\n"
                     "  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n"
                     "    tensor.yield %edge : {}\n"
                     "  }} : {} to {}\n",
                     zeroOf(spec.types.image), type, low, low, type, typeText(spec.imageTensor()),
                     typeText(spec.paddedTensor()));
}

// A reshape of `from` to `to`, or `value` itself where there is none.
static std::string reshape(std::string &text, std::string_view value, std::string_view name, const TensorType &from,
                           const TensorType &to, const std::string &groups) {
  if (groups.empty())
    return std::string(value);
  bool expands = to.shape.size() > from.shape.size();
  std::string shape;
  for (uint64_t extent : to.shape)
    shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
  text += fmt::format("  %{} = tensor.{}_shape {} {}{} : {} into {}\n", name, expands ? "expand" : "collapse", value,
                      groups, expands ? fmt::format(" output_shape [{}]", shape) : std::string(), typeText(from),
                      typeText(to));
  return fmt::format("%{}", name);
}

static std::string_view opName(const ConvSpec &spec, Form form) {
  switch (form) {
  case Form::Dense: return spec.channelsFirst ? "conv_2d_nchw_fchw" : "conv_2d_nhwc_hwcf";
  case Form::Depthwise: return spec.channelsFirst ? "depthwise_conv_2d_nchw_chw" : "depthwise_conv_2d_nhwc_hwc";
  case Form::Grouped: break;
  }
  return "conv_2d_ngchw_gfchw";
}

static std::string namedOp(const ConvSpec &spec, Form form, std::string_view configuration) {
  std::string attribute =
      configuration.empty() ? std::string() : fmt::format("     kiln.configuration = \"{}\",\n", configuration);
  return fmt::format("  %sum = linalg.{}\n"
                     "    {{dilations = dense<[{}, {}]> : tensor<2xi64>,\n"
                     "{}"
                     "     strides = dense<[{}, {}]> : tensor<2xi64>}}\n",
                     opName(spec, form), spec.dilationH, spec.dilationW, attribute, spec.strideH, spec.strideW);
}

// "y * 2 + r"
static std::string position(std::string_view pixel, uint64_t stride, std::string_view tap, uint64_t dilation) {
  auto times = [](std::string_view name, uint64_t factor) {
    return factor == 1 ? std::string(name) : fmt::format("{} * {}", name, factor);
  };
  return fmt::format("{} + {}", times(pixel, stride), times(tap, dilation));
}

static std::string genericOp(const ConvSpec &spec, std::string_view configuration) {
  const char *loops = "(n, y, x, g, f, r, s, c)";
  return fmt::format(
      "  %sum = linalg.generic {{\n"
      "    indexing_maps = [affine_map<{0} -> (n, {1}, {2}, g, c)>,\n"
      "                     affine_map<{0} -> (r, s, c, g, f)>,\n"
      "                     affine_map<{0} -> (n, y, x, g, f)>],\n"
      "    iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"parallel\",\n"
      "                      \"reduction\", \"reduction\", \"reduction\"]{3}\n"
      "  }}\n",
      loops, position("y", spec.strideH, "r", spec.dilationH), position("x", spec.strideW, "s", spec.dilationW),
      configuration.empty() ? std::string() : fmt::format(",\n    kiln.configuration = \"{}\"", configuration));
}

// What a generic op does with a pixel, a weight and the sum so far.
static std::string genericBody(const ConvSpec &spec) {
  std::string_view in = hal::elementTypeName(spec.types.image), sum = hal::elementTypeName(spec.accumulator());
  bool integers = spec.types.image == ElementType::I8;
  std::string text = fmt::format("  ^bb0(%pixel: {}, %weight: {}, %old: {}):\n", in, in, sum);
  std::string suffix;
  if (spec.types.image != spec.accumulator()) {
    const char *extend = integers ? "extsi" : "extf";
    text += fmt::format("    %wide_pixel = arith.{} %pixel : {} to {}\n"
                        "    %wide_weight = arith.{} %weight : {} to {}\n",
                        extend, in, sum, extend, in, sum);
    suffix = "wide_";
  }
  text += fmt::format("    %product = arith.mul{0} %{1}pixel, %{1}weight : {2}\n"
                      "    %new = arith.add{0} %old, %product : {2}\n"
                      "    linalg.yield %new : {2}\n"
                      "  }}",
                      integers ? "i" : "f", suffix, sum);
  return text;
}

static std::string rounding(const ConvSpec &spec, std::string_view sum) {
  std::string_view wide = hal::elementTypeName(spec.accumulator()), narrow = hal::elementTypeName(spec.types.result);
  std::string map = "affine_map<(a, b, c, d) -> (a, b, c, d)>", result = typeText(spec.resultTensor());
  return fmt::format("  %narrow = tensor.empty() : {0}\n"
                     "  %result = linalg.generic {{\n"
                     "    indexing_maps = [{1}, {1}],\n"
                     "    iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\"]\n"
                     "  }} ins({2} : {3}) outs(%narrow : {0}) {{\n"
                     "  ^bb0(%wide: {4}, %unused: {5}):\n"
                     "    %rounded = arith.truncf %wide : {4} to {5}\n"
                     "    linalg.yield %rounded : {5}\n"
                     "  }} -> {0}\n",
                     result, map, sum, typeText(spec.sumTensor()), wide, narrow);
}

std::string convMlir(const ConvSpec &spec, std::string_view function, std::string_view configuration) {
  Form form = formOf(spec);
  Operands operands = operandsOf(spec, form);
  std::string resultType = typeText(spec.resultTensor()), sumType = typeText(operands.sum);
  std::string_view element = hal::elementTypeName(spec.accumulator());
  std::string text = fmt::format("func.func @{}(%image: {}, %filter: {}) -> {} {{\n", function,
                                 typeText(spec.imageTensor()), typeText(spec.filterTensor()), resultType);
  bool pads = spec.padH != 0 || spec.padW != 0;
  if (pads)
    text += padding(spec);
  std::string image = reshape(text, pads ? "%padded" : "%image", "grouped_image", spec.paddedTensor(), operands.image,
                              operands.imageGroups);
  std::string filter = reshape(text, "%filter", form == Form::Depthwise ? "channel_filter" : "grouped_filter",
                               spec.filterTensor(), operands.filter, operands.filterGroups);
  text += fmt::format("  %zero = arith.constant {0} : {1}\n"
                      "  %empty = tensor.empty() : {2}\n"
                      "  %zeros = linalg.fill ins(%zero : {1}) outs(%empty : {2}) -> {2}\n",
                      zeroOf(spec.accumulator()), element, sumType);
  bool isGeneric = form == Form::Grouped && !spec.channelsFirst;
  text += isGeneric ? genericOp(spec, configuration) : namedOp(spec, form, configuration);
  text += fmt::format("    ins({}, {} : {}, {})\n    outs(%zeros : {})", image, filter, typeText(operands.image),
                      typeText(operands.filter), sumType);
  if (isGeneric)
    text += " {\n" + genericBody(spec);
  text += fmt::format(" -> {}\n", sumType);
  std::string sum = reshape(text, "%sum", "flat_sum", operands.sum, spec.sumTensor(), operands.sumGroups);
  if (spec.types.result == spec.accumulator())
    return text + fmt::format("  return {} : {}\n}}\n", sum, resultType);
  return text + rounding(spec, sum) + fmt::format("  return %result : {}\n}}\n", resultType);
}

} // namespace kiln::families
