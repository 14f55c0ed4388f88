// A convolution in two dimensions as the fields of a problem say it; what providers other than Kiln compute.
#ifndef KILN_MEASURE_PROVIDERS_CONVOLUTION_SHAPE_H
#define KILN_MEASURE_PROVIDERS_CONVOLUTION_SHAPE_H

#include <cstdint>
#include <string>

#include "kiln/base/status.h"
#include "kiln/measure/workers/protocol.h"

namespace kiln::measure {

// One spatial dimension.
struct ConvolutionAxis {
  uint64_t input = 1, filter = 1, stride = 1, dilation = 1;
  uint64_t padding = 0; // the same before and after

  // What the filter covers; at least 1.
  uint64_t window() const { return (filter - 1) * dilation + 1; }
  bool fits() const { return window() <= input + 2 * padding; }
  // Where the last step ends before the padding does, the rest of the padding is never looked at.
  uint64_t output() const { return (input + 2 * padding - window()) / stride + 1; }
};

struct ConvolutionShape {
  bool channelsLast = true; // nhwc_hwcf, else nchw_fchw
  uint64_t n = 1, c = 1, f = 1, groups = 1;
  ConvolutionAxis height, width;
  io::ElementType input = io::ElementType::F32, filter = io::ElementType::F32, result = io::ElementType::F32;

  // "a convolution of f32 x f32 to f32 in nhwc_hwcf"
  std::string text() const;
};

// From the fields of the family conv2d; `accumulator` may say anything, since providers sum in f32 or wider, or in i32.
// Unimplemented for a problem of another family, or with a field that is not known here and could change what is
// computed. InvalidArgument where the tensors of the request are not those of the problem.
Result<ConvolutionShape> convolutionShape(const LoadRequest &request);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_CONVOLUTION_SHAPE_H
