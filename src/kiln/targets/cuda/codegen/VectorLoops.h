// Elementwise operations of linalg on memory, whose elements a thread loads and stores as vectors, several at a time.
// What does not lie in the result's order is turned in shared memory.
#ifndef KILN_TARGETS_CUDA_CODEGEN_VECTORLOOPS_H
#define KILN_TARGETS_CUDA_CODEGEN_VECTORLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

struct FullTile;

// Bytes of the result that a block computes: two vectors for each of 256 threads.
inline constexpr int64_t vectorTileBytes = 8192;
// Rows and columns of the result that a block computes where an input lies in another order.
inline constexpr int64_t turnedTile = 64;

// Whether elements that are beside each other in an input are not beside each other in the result. The operation may be
// on tensors.
bool movesInnermost(mlir::linalg::LinalgOp op);

// Emits the loops before the operation, for the thread with number `thread` of a block of `threads`. Fails, having
// emitted nothing, where the operation is not elementwise or the elements do not lie beside each other.
mlir::LogicalResult emitVectorLoops(mlir::OpBuilder &b, mlir::linalg::LinalgOp op, const FullTile &tile,
                                    mlir::Value thread, int64_t threads);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_VECTORLOOPS_H
