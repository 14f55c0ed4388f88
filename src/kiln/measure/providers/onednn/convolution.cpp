// Convolutions in two dimensions. With the preferred layouts the filter is brought into its own when the problem is
// loaded; the input and the result are brought there and back in every call.
#include "kiln/measure/providers/onednn/operation.h"
#include "kiln/measure/providers/problem_fields.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure::onednn {

namespace {

using io::ElementType;

// One spatial dimension.
struct Axis {
  uint64_t input, filter, stride, dilation, padding;

  // What the filter covers; at least 1.
  uint64_t window() const { return (filter - 1) * dilation + 1; }
  bool fits() const { return window() <= input + 2 * padding; }
  uint64_t output() const { return (input + 2 * padding - window()) / stride + 1; }
};

struct ConvolutionShape {
  bool channelsLast = true; // nhwc_hwcf, else nchw_fchw
  uint64_t n, c, f, groups;
  Axis height, width;
  ElementType input, filter, result;

  std::string text() const {
    return fmt::format("a convolution of {} x {} to {} in {}", hal::elementTypeName(input),
                       hal::elementTypeName(filter), hal::elementTypeName(result),
                       channelsLast ? "nhwc_hwcf" : "nchw_fchw");
  }
};

constexpr std::string_view kFields[] = {"layout",     "n",           "h",           "w",          "c",
                                        "r",          "s",           "f",           "stride_h",   "stride_w",
                                        "dilation_h", "dilation_w",  "pad_h",       "pad_w",      "groups",
                                        "input_type", "filter_type", "result_type", "accumulator"};

// Sums of products of bytes saturate without instructions made for them.
bool multipliesBytesExactly() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  return true;
#endif
}

Result<Axis> readAxis(const ProblemText &problem, std::string_view extent, std::string_view filter,
                      std::string_view suffix) {
  Axis axis;
  KILN_ASSIGN_OR_RETURN(axis.input, fieldNumber(problem, extent));
  KILN_ASSIGN_OR_RETURN(axis.filter, fieldNumber(problem, filter));
  KILN_ASSIGN_OR_RETURN(axis.stride, fieldNumber(problem, fmt::format("stride_{}", suffix)));
  KILN_ASSIGN_OR_RETURN(axis.dilation, fieldNumber(problem, fmt::format("dilation_{}", suffix)));
  KILN_ASSIGN_OR_RETURN(axis.padding, fieldNumber(problem, fmt::format("pad_{}", suffix), /*minimum=*/0));
  if (!axis.fits())
    return invalidArgument("the filter of {} is larger than its padded input", problem.name);
  return axis;
}

Status checkShapes(const LoadRequest &request, const ConvolutionShape &shape) {
  uint64_t h = shape.height.input, w = shape.width.input, oh = shape.height.output(), ow = shape.width.output();
  uint64_t r = shape.height.filter, s = shape.width.filter, c = shape.c / shape.groups;
  ExpectedTensor inputs[] = {{"input", shape.input, {shape.n, h, w, shape.c}},
                             {"filter", shape.filter, {r, s, c, shape.f}}};
  ExpectedTensor output = {"result", shape.result, {shape.n, oh, ow, shape.f}};
  if (!shape.channelsLast) {
    inputs[0].shape = {shape.n, shape.c, h, w};
    inputs[1].shape = {shape.f, c, r, s};
    output.shape = {shape.n, shape.f, oh, ow};
  }
  return checkTensors(request, inputs, {&output, 1});
}

Result<ConvolutionShape> readShape(const LoadRequest &request) {
  const ProblemText &problem = request.problem;
  KILN_RETURN_IF_ERROR(checkFields(problem, kFields));
  ConvolutionShape shape;
  KILN_ASSIGN_OR_RETURN(std::string_view layout, fieldText(problem, "layout"));
  if (layout != "nhwc_hwcf" && layout != "nchw_fchw")
    return unimplemented("this provider does not know the layout '{}' of {}", layout, problem.name);
  shape.channelsLast = layout == "nhwc_hwcf";
  KILN_ASSIGN_OR_RETURN(shape.n, fieldNumber(problem, "n"));
  KILN_ASSIGN_OR_RETURN(shape.c, fieldNumber(problem, "c"));
  KILN_ASSIGN_OR_RETURN(shape.f, fieldNumber(problem, "f"));
  KILN_ASSIGN_OR_RETURN(shape.groups, fieldNumber(problem, "groups"));
  KILN_ASSIGN_OR_RETURN(shape.height, readAxis(problem, "h", "r", "h"));
  KILN_ASSIGN_OR_RETURN(shape.width, readAxis(problem, "w", "s", "w"));
  KILN_ASSIGN_OR_RETURN(shape.input, fieldType(problem, "input_type"));
  KILN_ASSIGN_OR_RETURN(shape.filter, fieldType(problem, "filter_type"));
  KILN_ASSIGN_OR_RETURN(shape.result, fieldType(problem, "result_type"));
  if (shape.c % shape.groups != 0 || shape.f % shape.groups != 0)
    return invalidArgument("{} channels to {} cannot be split into {} groups", shape.c, shape.f, shape.groups);
  KILN_RETURN_IF_ERROR(checkShapes(request, shape));
  return shape;
}

// oneDNN's order of dimensions is n, c, h, w, wherever they lie in memory.
Result<Description> describeImage(const Library &library, bool channelsLast, ElementType type, uint64_t n, uint64_t c,
                                  uint64_t h, uint64_t w) {
  std::vector<uint64_t> strides = {c * h * w, h * w, w, 1};
  if (channelsLast)
    strides = {h * w * c, 1, w * c, c};
  return library.describe(type, std::vector<uint64_t>{n, c, h, w}, strides);
}

// And that of filters is f, c, r, s; with groups, these before the f and c of each.
Result<Description> describeFilter(const Library &library, const ConvolutionShape &shape) {
  uint64_t f = shape.f / shape.groups, c = shape.c / shape.groups, r = shape.height.filter, s = shape.width.filter;
  std::vector<uint64_t> extents = {f, c, r, s}, strides = {c * r * s, r * s, s, 1};
  if (shape.channelsLast)
    strides = {1, shape.f, s * c * shape.f, c * shape.f};
  if (shape.groups > 1) {
    extents.insert(extents.begin(), shape.groups);
    strides.insert(strides.begin(), f * strides[0]);
  }
  return library.describe(shape.filter, extents, strides);
}

Result<PrimitiveDescription> choose(const Library &library, const ConvolutionShape &shape, const Description &source,
                                    const Description &weights, const Description &result) {
  int64_t strides[kMaxDimensions] = {}, dilations[kMaxDimensions] = {}, padding[kMaxDimensions] = {};
  int i = 0;
  for (const Axis &axis : {shape.height, shape.width}) {
    strides[i] = int64_t(axis.stride);
    dilations[i] = int64_t(axis.dilation - 1); // counted from 0
    // The same before and after. Where the last step ends before the padding does, the rest of it is never looked at.
    padding[i++] = int64_t(axis.padding);
  }
  return library.choose(shape.text(), &Functions::convolution_forward_primitive_desc_create, kInference,
                        kConvolutionDirect, source.get(), weights.get(), nullptr, result.get(), strides, dilations,
                        padding, padding, nullptr);
}

} // namespace

Result<Operation> createConvolution(const Library &library, const LoadRequest &request, Layouts layouts) {
  KILN_ASSIGN_OR_RETURN(ConvolutionShape shape, readShape(request));
  KILN_ASSIGN_OR_RETURN(Description source, describeImage(library, shape.channelsLast, shape.input, shape.n, shape.c,
                                                          shape.height.input, shape.width.input));
  KILN_ASSIGN_OR_RETURN(Description weights, describeFilter(library, shape));
  KILN_ASSIGN_OR_RETURN(Description result, describeImage(library, shape.channelsLast, shape.result, shape.n, shape.f,
                                                          shape.height.output(), shape.width.output()));
  Description wanted[] = {source, weights, result};
  // It halves such weights there, and loses their last bit.
  if (layouts == Layouts::Preferred && shape.filter == io::ElementType::I8 && !multipliesBytesExactly())
    return unimplemented("oneDNN does not do this exactly with a filter that is laid out ahead, on a processor without "
                         "AVX-512 VNNI: {}",
                         shape.text());
  if (layouts == Layouts::Preferred)
    for (Description &description : wanted) {
      KILN_ASSIGN_OR_RETURN(description, library.leaveOpen(description));
    }
  KILN_ASSIGN_OR_RETURN(PrimitiveDescription description, choose(library, shape, wanted[0], wanted[1], wanted[2]));
  KILN_ASSIGN_OR_RETURN(Description usedSource, library.chosenLayout(description, kSourceLayout, source));
  KILN_ASSIGN_OR_RETURN(Description usedWeights, library.chosenLayout(description, kWeightsLayout, weights));
  KILN_ASSIGN_OR_RETURN(Description usedResult, library.chosenLayout(description, kResultLayout, result));
  Operation created;
  KILN_ASSIGN_OR_RETURN(created.primitive, library.create(description));
  created.arguments = {{kSource, 0, source, usedSource},
                       {kWeights, 1, weights, usedWeights, /*isWeight=*/true},
                       {kResult, 0, result, usedResult}};
  return created;
}

} // namespace kiln::measure::onednn
