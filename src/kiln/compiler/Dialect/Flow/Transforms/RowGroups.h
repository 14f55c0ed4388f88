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

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ROWGROUPS_H
