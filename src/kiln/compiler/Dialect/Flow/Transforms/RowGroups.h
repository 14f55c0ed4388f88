// Which operations share a dispatch because they work on the same rows: softmax, normalizations, whatever reduces each
// row of a tensor and then uses what it got with that row.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ROWGROUPS_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ROWGROUPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln::Flow {

// The first operation of the block that uses a result of the group, itself or inside of it; null where there is none.
mlir::Operation *findFirstUser(llvm::ArrayRef<mlir::Operation *> group);

// Whether the user of the group, whose first operation must reduce rows of tensors, treats rows apart from each
// other too, and what is kept of a row for all of them is not too much. A workgroup that has some of the rows can then
// compute all of the group for them, without another one's help.
bool canJoinRows(mlir::Operation *user, llvm::ArrayRef<mlir::Operation *> group);

// The operations of a dispatch that keeps some rows of a product in a worker's memory: what is computed of each row,
// with reductions among it as in a softmax, the product of these rows with another tensor, and what is computed of its
// result. In their order; none where `root` starts no such chain, something else uses a part of it, or a row takes more
// than `mostBytes`, unless sums may be reassociated and it is a softmax, of which a worker needs no whole rows.
llvm::SmallVector<mlir::Operation *> findProductsOfRows(mlir::Operation *root, int64_t mostBytes, bool reassociates);

// Where the rows that the second product reads are the exponentials of a softmax, divided by a number of each row,
// divides its result instead, which is shorter.
void divideLast(llvm::SmallVectorImpl<mlir::Operation *> &productsOfRows);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ROWGROUPS_H
