// A product of a softmax's weights, before these are divided by their sum: what attention computes of scores. It can be
// computed for some keys after the others, as what is known of a row is made smaller when a larger score comes: flow
// asks before it makes one dispatch of an attention whose rows no worker could keep, and code generation does it.
#ifndef KILN_COMPILER_INTERFACES_SOFTMAXPRODUCT_H
#define KILN_COMPILER_INTERFACES_SOFTMAXPRODUCT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

struct SoftmaxProduct {
  mlir::linalg::LinalgOp scores; // a product
  // What is computed of each score, in order.
  llvm::SmallVector<mlir::linalg::GenericOp> between;
  // The largest score of each row, the exponentials of how far scores are below it, and the sum of those.
  mlir::linalg::GenericOp largest, powers, sum;
  mlir::linalg::LinalgOp result; // the product of `powers`, or of what `powers` becomes, with values

  // `weights` is what `result` is the product of, and nothing else uses it: the result of `powers`, or that divided.
  // All others are used by each other only, but that rows may be used elsewhere.
  static std::optional<SoftmaxProduct> of(mlir::linalg::LinalgOp result, mlir::Value powers);

  // The loop over keys of all but `result`, of which it is the next one.
  unsigned keyLoop() { return powers.getNumLoops() - 1; }
};

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_SOFTMAXPRODUCT_H
