// How much work the loops of an operation are.
#ifndef KILN_COMPILER_INTERFACES_LOOPSTEPS_H
#define KILN_COMPILER_INTERFACES_LOOPSTEPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

// The product of the extents of the loops of one kind, or of all; nullopt where one is not known.
std::optional<int64_t> countSteps(mlir::linalg::LinalgOp op,
                                  std::optional<mlir::utils::IteratorType> kind = std::nullopt);

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_LOOPSTEPS_H
