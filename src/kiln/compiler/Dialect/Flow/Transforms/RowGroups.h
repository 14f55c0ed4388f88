// Which operations share a dispatch because they work on the same rows: softmax, normalizations, whatever reduces each
// row of a tensor and then uses what it got with that row.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ROWGROUPS_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ROWGROUPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln::Flow {

// The operation that can join `group`, whose first one is a reduction over the rows of one tensor: the first in the
// block that uses a result of the group, if it treats rows apart from each other too. Null where there is none. A
// workgroup that has some of the rows can then compute all of the group for them, without another one's help.
mlir::Operation *findRowwiseUser(llvm::ArrayRef<mlir::Operation *> group);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_ROWGROUPS_H
