// Normalization along axes, of which operators of several domains are made.
#ifndef KILN_COMPILER_INPUT_ONNX_NORMALIZATION_H
#define KILN_COMPILER_INPUT_ONNX_NORMALIZATION_H

#include "kiln/compiler/Input/Onnx/Lowering.h"

namespace kiln::onnx {

// What becomes of x with its mean and one over its deviation, which have an extent of 1 along the axes.
struct Normalized {
  Value value, mean, inverse;
};
// x less its mean, unless it is not centered, over the root of the mean square of that and epsilon; along the last
// axis.
mlir::FailureOr<Normalized> normalizeRows(Emitter &e, const Value &value, double epsilon, bool centers);
// Times a scale, plus a bias where there is one.
mlir::FailureOr<Value> affine(Emitter &e, const Value &value, const Value &scale, const Value *bias);

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_NORMALIZATION_H
