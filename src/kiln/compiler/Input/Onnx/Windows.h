// Windows that move over the space of an image (batch, channels, space...): of convolutions and of pooling.
#ifndef KILN_COMPILER_INPUT_ONNX_WINDOWS_H
#define KILN_COMPILER_INPUT_ONNX_WINDOWS_H

#include "kiln/compiler/Input/Onnx/Lowering.h"

namespace kiln::onnx {

struct Window {
  llvm::SmallVector<int64_t> taps, strides, dilations; // one for each dimension of the space
  Dims low, high;                                      // padding
  Dims outputs;                                        // places of the window

  int64_t space() const { return static_cast<int64_t>(strides.size()); }

  // From the attributes strides, dilations, pads, auto_pad and ceil_mode.
  static mlir::FailureOr<Window> read(NodeLowering &n, const Value &image, llvm::ArrayRef<mlir::OpFoldResult> taps);
  // Where there is one place for the window, and it has the whole image under it: the window is that, without padding.
  // For those that do not look at the padding.
  void fitTo(const Value &image);
  // The image with its padding.
  Value pad(NodeLowering &n, const Value &image, mlir::Value scalar) const;
};

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_WINDOWS_H
