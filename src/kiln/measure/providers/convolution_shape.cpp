#include "kiln/measure/providers/convolution_shape.h"

#include "kiln/measure/providers/problem_fields.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure {

namespace {

constexpr std::string_view kFields[] = {"layout",     "n",           "h",           "w",           "c",
                                        "r",          "s",           "f",           "stride_h",    "stride_w",
                                        "dilation_h", "dilation_w",  "pad_h",       "pad_w",       "groups",
                                        "input_type", "filter_type", "result_type", "accumulator", "arithmetic"};

Result<ConvolutionAxis> readAxis(const ProblemText &problem, std::string_view extent, std::string_view filter,
                                 std::string_view suffix) {
  ConvolutionAxis axis;
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

} // namespace

std::string ConvolutionShape::text() const {
  return fmt::format("a convolution of {} x {} to {} in {}", hal::elementTypeName(input), hal::elementTypeName(filter),
                     hal::elementTypeName(result), channelsLast ? "nhwc_hwcf" : "nchw_fchw");
}

Result<ConvolutionShape> convolutionShape(const LoadRequest &request) {
  const ProblemText &problem = request.problem;
  if (problem.family != "conv2d")
    return unimplemented("this provider computes conv2d; not {}", problem.family);
  KILN_RETURN_IF_ERROR(checkFields(problem, kFields));
  KILN_RETURN_IF_ERROR(checkArithmetic(problem));
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

} // namespace kiln::measure
