// Real numbers as integers of 8 bits, with a scale and a zero point that depend on them.
#ifndef KILN_COMPILER_INPUT_ONNX_QUANTIZE_H
#define KILN_COMPILER_INPUT_ONNX_QUANTIZE_H

#include "kiln/compiler/Input/Onnx/Lowering.h"

namespace kiln::onnx {

// Each number is about scale * (integer - zero), where the scale and the zero point are scalars.
struct Quantized {
  Value integers, scale, zero; // uint8, f32, uint8
};

// With the least scale by which the range of all numbers and of 0 fits. Zeros alone have a scale of 1.
mlir::FailureOr<Quantized> quantizeDynamically(Emitter &e, const Value &value);

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_QUANTIZE_H
