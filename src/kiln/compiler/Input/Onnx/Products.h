// Products that several operators are made of.
#ifndef KILN_COMPILER_INPUT_ONNX_PRODUCTS_H
#define KILN_COMPILER_INPUT_ONNX_PRODUCTS_H

#include "kiln/compiler/Input/Onnx/Lowering.h"

namespace kiln::onnx {

// Of vectors, matrices, or batches of matrices, as NumPy multiplies them.
mlir::FailureOr<Value> matmul(NodeLowering &n, const Value &lhs, const Value &rhs, DataType type);
// Numbers of 8 bits less their zero points, as i32. A zero point of one dimension belongs to `axis`.
mlir::FailureOr<Value> withoutZeroPoint(NodeLowering &n, const Value &value, size_t zeroPoint, int64_t axis);
// Of an image (batch, channels, space...) and filters (filters, channels of a group, space...), by the node's
// attributes.
mlir::FailureOr<Value> convolve(NodeLowering &n, const Value &image, const Value &filter, DataType type);
// With a number for each channel added to it.
mlir::FailureOr<Value> withBias(NodeLowering &n, const Value &value, const Value &bias);

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_PRODUCTS_H
