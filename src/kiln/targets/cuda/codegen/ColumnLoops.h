// Reductions of linalg on memory whose results lie beside each other as what they are reduced from does: sums of
// columns, and products of a vector and a matrix.
#ifndef KILN_TARGETS_CUDA_CODEGEN_COLUMNLOOPS_H
#define KILN_TARGETS_CUDA_CODEGEN_COLUMNLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

struct FullTile;

// The input that has an element for each iteration; null where there is none, as in a product of matrices. The
// operation may be on tensors, here and below.
mlir::OpOperand *findWholeInput(mlir::linalg::LinalgOp op);

// Whether elements that are beside each other in the result come from ones that are beside each other in that input.
bool isAlongColumns(mlir::linalg::LinalgOp op);

// How many threads of a block share the operation, of a dispatch that has so many workgroups.
int64_t threadsForColumns(mlir::linalg::LinalgOp op, std::optional<int64_t> workgroups);

// Emits the loops before the operation, for the thread with number `thread` of a block of `threads`. `fills` has for
// each result the value that it starts with, or null where that is read from memory. Fails, having emitted nothing,
// where the operation is none of these.
mlir::LogicalResult emitColumnLoops(mlir::OpBuilder &b, mlir::linalg::LinalgOp op, const FullTile &tile,
                                    mlir::Value thread, int64_t threads, mlir::ArrayRef<mlir::Value> fills);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_COLUMNLOOPS_H
