// Attention in blocks of keys: what is known of a row is its largest score so far, the sum of its exponentials, and its
// result, which a larger score makes smaller. So a worker needs memory for a block, however many keys there are.
#ifndef KILN_COMPILER_CODEGEN_KEYBLOCKS_H
#define KILN_COMPILER_CODEGEN_KEYBLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

// The keys of a block, and how many keys are done as a whole.
inline constexpr int64_t keysOfBlock = 256, mostKeysAtOnce = 4096;

// Whether what a product multiplies are weights of a softmax over more keys, or of as many as only a call knows.
bool isDoneInBlocks(mlir::linalg::LinalgOp product);

// Does those products in blocks; whether there are any.
bool doInBlocks(mlir::RewriterBase &rewriter, mlir::func::FuncOp function);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_KEYBLOCKS_H
