// Windows that move over the space of an image (batch, channels, space...): of convolutions and of pooling.
#ifndef KILN_COMPILER_INPUT_ONNX_WINDOWS_H
#define KILN_COMPILER_INPUT_ONNX_WINDOWS_H

#include "kiln/compiler/Input/Onnx/Lowering.h"

namespace kiln::onnx {

struct Window {
  llvm::SmallVector<int64_t> taps, strides, dilations; // one for each dimension of the space
  Dims low, high;                                      // padding
  Dims askedHigh;                                      // the padding behind the image without what rounding up adds
  Dims outputs;                                        // places of the window

  int64_t space() const { return static_cast<int64_t>(strides.size()); }

  // From the attributes strides, dilations, pads, auto_pad and ceil_mode.
  static mlir::FailureOr<Window> read(NodeLowering &n, const Value &image, llvm::ArrayRef<mlir::OpFoldResult> taps);
  // Drops the taps that lie in the padding at every place of the window, and the padding that only they reach. A window
  // that is far larger than its image then is about as large as the image.
  void clipTo(const Value &image);
  // The image with its padding.
  Value pad(NodeLowering &n, const Value &image, mlir::Value scalar) const;
};

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_WINDOWS_H
