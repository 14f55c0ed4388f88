// How much work the loops of an operation are.
#ifndef KILN_COMPILER_INTERFACES_LOOPSTEPS_H
#define KILN_COMPILER_INTERFACES_LOOPSTEPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

// The product of the extents of the loops of one kind, or of all; nullopt where one is not known.
std::optional<int64_t> countSteps(mlir::linalg::LinalgOp op,
                                  std::optional<mlir::utils::IteratorType> kind = std::nullopt);

// The product of the extents that are known, at most the largest number; the others may make it a multiple, or 0.
int64_t countKnownSteps(mlir::linalg::LinalgOp op);

// Whether two inputs of an operation change along what it reduces.
bool isLikeProduct(mlir::linalg::LinalgOp op);

// Whether an operation is like a product of large matrices: it reduces eight elements or more at a time, and of two
// inputs at least it uses each element eight times or more. Extents that are not known count as large.
bool isLikeLargeProduct(mlir::linalg::LinalgOp op);

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_LOOPSTEPS_H
