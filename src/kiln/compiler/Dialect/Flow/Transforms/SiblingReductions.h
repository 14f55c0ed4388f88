// Reductions of one value that can become one operation with several results.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SIBLINGREDUCTIONS_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SIBLINGREDUCTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln::Flow {

// The users of `value` in their order, if there are several and each is a reduction of it over the same loops; nothing
// otherwise. One of them may still need another one's result.
llvm::SmallVector<mlir::linalg::LinalgOp> findSiblingReductions(mlir::Value value);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SIBLINGREDUCTIONS_H
