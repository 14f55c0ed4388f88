// A convolution of images as its name says it, and back.
//
//   conv2d_{layout}_{N}x{H}x{W}x{C}_{R}x{S}x{F}_s{Y}x{X}_d{Y}x{X}_p{Y}x{X}_g{groups}_{image}_{filter}_{result}
//
//   conv2d_nhwc_hwcf_1x56x56x64_3x3x64_s1x1_d1x1_p1x1_g1_f32_f32_f32
//   conv2d_nchw_fchw_1x112x112x32_3x3x32_s2x2_d1x1_p1x1_g32_f16_f16_f16     depthwise: a group for each channel
//
// N images of H x W pixels and C channels; F filters of R x S pixels, each over the C / groups channels of its group.
// The sizes are in this order in both layouts. Stride, dilation and padding are those of rows, then of columns; padding
// is on both sides. The layout says how tensors lie in memory:
//
//   nhwc_hwcf   image N x H x W x C, filter R x S x C/groups x F, result N x OH x OW x F
//   nchw_fchw   image N x C x H x W, filter F x C/groups x R x S, result N x F x OH x OW
//
// Image and filter have the same type. f32 gives f32, f16 gives f16 or f32, bf16 gives bf16 or f32, i8 gives i32.
// Floats are summed in f32, integers in i32.
#ifndef KILN_FAMILIES_CONV_WORKLOAD_CONV_SPEC_H
#define KILN_FAMILIES_CONV_WORKLOAD_CONV_SPEC_H

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/measure/workload.h"

namespace kiln::families {

using io::ElementType;

struct ConvTypes {
  ElementType image = ElementType::F32, filter = ElementType::F32, result = ElementType::F32;

  bool operator==(const ConvTypes &) const = default;
};

struct ConvSpec {
  // nchw_fchw, not nhwc_hwcf.
  bool channelsFirst = false;
  uint64_t n = 1, h = 1, w = 1, c = 1, r = 1, s = 1, f = 1;
  uint64_t strideH = 1, strideW = 1, dilationH = 1, dilationW = 1, padH = 0, padW = 0, groups = 1;
  ConvTypes types;
  bool tf32 = false;     // of f32: multiplied as tf32; the name does not say it
  bool cutsSums = false; // on a device; as Problem::promiseSumsOfTensorCores has it

  bool operator==(const ConvSpec &) const = default;

  // Whether products of floats of 16 bits are added up in f32.
  bool sumsNarrowFloats() const { return types.image == ElementType::F16 || types.image == ElementType::BF16; }

  std::string_view layout() const { return channelsFirst ? "nchw_fchw" : "nhwc_hwcf"; }
  std::string name() const;
  // NotFound where the name does not start with "conv2d_"; InvalidArgument where it does and is malformed, or says what
  // is not supported.
  static Result<ConvSpec> parse(std::string_view name);

  // Whether the types go together, sizes are within limits, groups divide channels and filters, and the output has
  // pixels; what `parse` gives is.
  Status validate() const;

  uint64_t outputHeight() const { return (h + 2 * padH - dilationH * (r - 1) - 1) / strideH + 1; }
  uint64_t outputWidth() const { return (w + 2 * padW - dilationW * (s - 1) - 1) / strideW + 1; }
  uint64_t groupChannels() const { return c / groups; }
  uint64_t groupFilters() const { return f / groups; }
  // What sums are kept in.
  ElementType accumulator() const { return types.image == ElementType::I8 ? ElementType::I32 : ElementType::F32; }

  // As they lie in memory.
  measure::TensorType imageTensor() const { return images(types.image, c, h, w); }
  measure::TensorType paddedTensor() const { return images(types.image, c, h + 2 * padH, w + 2 * padW); }
  measure::TensorType filterTensor() const;
  measure::TensorType resultTensor() const { return images(types.result, f, outputHeight(), outputWidth()); }
  measure::TensorType sumTensor() const { return images(accumulator(), f, outputHeight(), outputWidth()); }

private:
  measure::TensorType images(ElementType type, uint64_t channels, uint64_t height, uint64_t width) const;
};

// No tensor of a problem may have more bytes than this, and no number be larger.
inline constexpr uint64_t kConvByteLimit = uint64_t(1) << 40;
inline constexpr uint64_t kConvExtentLimit = uint64_t(1) << 31;

// "f16": image, filter and result, i32 for the result of i8. "f16_f16_f32": each of them.
Result<ConvTypes> parseConvTypes(std::string_view text);

} // namespace kiln::families

#endif // KILN_FAMILIES_CONV_WORKLOAD_CONV_SPEC_H
