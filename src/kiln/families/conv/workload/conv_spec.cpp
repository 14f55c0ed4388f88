#include "kiln/families/conv/workload/conv_spec.h"

#include <optional>
#include <span>
#include <vector>

#include "kiln/base/split.h"
#include "kiln/measure/names.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {

static constexpr std::string_view kPrefix = "conv2d_";
static constexpr std::string_view kForm =
    "conv2d_{nhwc_hwcf|nchw_fchw}_NxHxWxC_RxSxF_s1x1_d1x1_p0x0_g1_image_filter_result, like "
    "conv2d_nhwc_hwcf_1x56x56x64_3x3x64_s1x1_d1x1_p1x1_g1_f32_f32_f32";

std::string ConvSpec::name() const {
  return fmt::format("{}{}_{}x{}x{}x{}_{}x{}x{}_s{}x{}_d{}x{}_p{}x{}_g{}_{}_{}_{}", kPrefix, layout(), n, h, w, c, r, s,
                     f, strideH, strideW, dilationH, dilationW, padH, padW, groups, hal::elementTypeName(types.image),
                     hal::elementTypeName(types.filter), hal::elementTypeName(types.result));
}

//===--- Reading --------------------------------------------------------------------------------------------------===//

namespace {
// A word of the name: a letter or nothing, then numbers joined by 'x'.
struct Part {
  std::string_view what, letter;
  std::vector<uint64_t *> numbers;
};
} // namespace

static Status parsePart(const Part &part, std::string_view word) {
  std::string form(part.letter);
  for (size_t i = 0; i < part.numbers.size(); ++i)
    form += i == 0 ? "1" : "x1";
  auto error = [&](std::string_view reason) {
    return invalidArgument("its {} '{}' {}; it is written like {}", part.what, word, reason, form);
  };
  if (!word.starts_with(part.letter))
    return error(fmt::format("does not start with '{}'", part.letter));
  std::vector<std::string_view> numbers = split(word.substr(part.letter.size()), 'x');
  if (numbers.size() != part.numbers.size())
    return error(fmt::format("has {} of {} numbers", numbers.size(), part.numbers.size()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    Result<uint64_t> number = measure::parseNumber(numbers[i]);
    if (!number.ok())
      return error(fmt::format("is wrong: {}", number.status().message()));
    *part.numbers[i] = *number;
  }
  return okStatus();
}

static Result<ElementType> parseType(std::string_view what, std::string_view word) {
  if (std::optional<ElementType> type = measure::verify::parseMeasuredType(word))
    return *type;
  return invalidArgument("its {} type '{}' is no element type, like f32 or i8", what, word);
}

static Status parseTypeWords(std::span<const std::string_view> words, ConvTypes &types) {
  KILN_ASSIGN_OR_RETURN(types.image, parseType("image", words[0]));
  KILN_ASSIGN_OR_RETURN(types.filter, parseType("filter", words[1]));
  KILN_ASSIGN_OR_RETURN(types.result, parseType("result", words[2]));
  return okStatus();
}

static Status parseWords(std::span<const std::string_view> words, ConvSpec &spec) {
  const Part parts[] = {
      {"image", "", {&spec.n, &spec.h, &spec.w, &spec.c}}, {"filter", "", {&spec.r, &spec.s, &spec.f}},
      {"stride", "s", {&spec.strideH, &spec.strideW}},     {"dilation", "d", {&spec.dilationH, &spec.dilationW}},
      {"padding", "p", {&spec.padH, &spec.padW}},          {"number of groups", "g", {&spec.groups}},
  };
  static constexpr size_t layoutWords = 2, typeWords = 3;
  size_t wanted = layoutWords + std::size(parts) + typeWords;
  std::string layout = words.size() < layoutWords ? std::string(words[0]) : fmt::format("{}_{}", words[0], words[1]);
  spec.channelsFirst = layout == "nchw_fchw";
  if (layout != spec.layout())
    return invalidArgument("its layout '{}' is none of nhwc_hwcf and nchw_fchw", layout);
  if (words.size() > wanted)
    return invalidArgument("'{}' is out of place; nothing follows the three types", words[wanted]);
  for (size_t i = 0; i < std::size(parts); ++i) {
    if (layoutWords + i >= words.size())
      return invalidArgument("its {} is missing", parts[i].what);
    KILN_RETURN_IF_ERROR(parsePart(parts[i], words[layoutWords + i]));
  }
  if (words.size() < wanted)
    return invalidArgument("it has {} of its 3 types", words.size() + typeWords - wanted);
  return parseTypeWords(words.last(typeWords), spec.types);
}

Result<ConvSpec> ConvSpec::parse(std::string_view name) {
  if (!name.starts_with(kPrefix))
    return notFound("'{}' is no name of the family conv2d", name);
  ConvSpec spec;
  Status status = parseWords(split(name.substr(kPrefix.size()), '_'), spec);
  if (status.ok())
    status = spec.validate();
  if (!status.ok())
    return invalidArgument("'{}' is no problem: {}; the form is {}", name, status.message(), kForm);
  return spec;
}

//===--- Limits ---------------------------------------------------------------------------------------------------===//

static Status validateTypes(const ConvTypes &types) {
  using enum ElementType;
  if (types.filter != types.image)
    return invalidArgument("its image and its filter differ in type, {} and {}", hal::elementTypeName(types.image),
                           hal::elementTypeName(types.filter));
  ElementType in = types.image, out = types.result;
  bool known = (in == F32 && out == F32) || (in == F16 && (out == F16 || out == F32)) ||
               (in == BF16 && (out == BF16 || out == F32)) || (in == I8 && out == I32);
  if (!known)
    return unimplemented("convolutions of {} with results of {} are not supported; f32 gives f32, f16 gives f16 or "
                         "f32, bf16 gives bf16 or f32, i8 gives i32",
                         hal::elementTypeName(in), hal::elementTypeName(out));
  return okStatus();
}

static Status validateNumbers(const ConvSpec &spec) {
  const struct {
    std::string_view what;
    uint64_t value;
    bool mayBeZero;
  } numbers[] = {
      {"number of images", spec.n, false},
      {"image height", spec.h, false},
      {"image width", spec.w, false},
      {"number of channels", spec.c, false},
      {"filter height", spec.r, false},
      {"filter width", spec.s, false},
      {"number of filters", spec.f, false},
      {"stride of rows", spec.strideH, false},
      {"stride of columns", spec.strideW, false},
      {"dilation of rows", spec.dilationH, false},
      {"dilation of columns", spec.dilationW, false},
      {"padding of rows", spec.padH, true},
      {"padding of columns", spec.padW, true},
      {"number of groups", spec.groups, false},
  };
  for (auto [what, value, mayBeZero] : numbers) {
    if (value == 0 && !mayBeZero)
      return invalidArgument("its {} must be positive", what);
    if (value > kConvExtentLimit)
      return invalidArgument("its {} is {}; it is at most 2^31", what, value);
  }
  return okStatus();
}

static Status validateBytes(std::string_view what, const measure::TensorType &tensor) {
  uint64_t bytes = hal::elementTypeByteSize(tensor.type);
  for (uint64_t extent : tensor.shape) {
    if (bytes > kConvByteLimit / extent)
      return invalidArgument("its {} would have more than 2^40 bytes", what);
    bytes *= extent;
  }
  return okStatus();
}

static Status validateReach(std::string_view what, uint64_t image, uint64_t pad, uint64_t filter, uint64_t dilation) {
  uint64_t reach = dilation * (filter - 1) + 1;
  if (reach > image + 2 * pad)
    return invalidArgument("its output has no pixels: a filter reaches over {} {}, and the image with its padding has "
                           "{}; enlarge the image or the padding",
                           reach, what, image + 2 * pad);
  return okStatus();
}

Status ConvSpec::validate() const {
  KILN_RETURN_IF_ERROR(validateTypes(types));
  KILN_RETURN_IF_ERROR(validateNumbers(*this));
  for (auto [what, value] : {std::pair("channels", c), std::pair("filters", f)})
    if (value % groups != 0)
      return invalidArgument("its {} {} are not divisible by {} groups", value, what, groups);
  KILN_RETURN_IF_ERROR(validateReach("rows", h, padH, r, dilationH));
  KILN_RETURN_IF_ERROR(validateReach("columns", w, padW, s, dilationW));
  KILN_RETURN_IF_ERROR(validateBytes("image with its padding", paddedTensor()));
  KILN_RETURN_IF_ERROR(validateBytes("filter", filterTensor()));
  return validateBytes("result", sumTensor());
}

//===--- Tensors --------------------------------------------------------------------------------------------------===//

measure::TensorType ConvSpec::images(ElementType type, uint64_t channels, uint64_t height, uint64_t width) const {
  if (channelsFirst)
    return {type, {n, channels, height, width}};
  return {type, {n, height, width, channels}};
}

measure::TensorType ConvSpec::filterTensor() const {
  if (channelsFirst)
    return {types.filter, {f, groupChannels(), r, s}};
  return {types.filter, {r, s, groupChannels(), f}};
}

Result<ConvTypes> parseConvTypes(std::string_view text) {
  ConvTypes types;
  if (std::optional<ElementType> type = measure::verify::parseMeasuredType(text)) {
    types = {*type, *type, *type == ElementType::I8 ? ElementType::I32 : *type};
  } else {
    std::vector<std::string_view> words = split(text, '_');
    Status status = words.size() == 3 ? parseTypeWords(words, types)
                                      : invalidArgument("it has {} types instead of 1 or 3", words.size());
    if (!status.ok())
      return invalidArgument("'{}' names no types: {}; give an element type like f16, or those of image, filter and "
                             "result like f16_f16_f32",
                             text, status.message());
  }
  KILN_RETURN_IF_ERROR(validateTypes(types));
  return types;
}

} // namespace kiln::families
