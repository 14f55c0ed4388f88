// What operations that work row by row keep of a row: flow asks whether a group of them fits into a worker's memory,
// and a target how many rows do.
#ifndef KILN_COMPILER_INTERFACES_ROWMEMORY_H
#define KILN_COMPILER_INTERFACES_ROWMEMORY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

// All that a group keeps of one row. Every target has memory for two such rows.
inline constexpr int64_t mostRowBytes = int64_t(1) << 23;

// How many parallel loops an operation starts with; nullopt where others stand between its parallel loops. Those of an
// operation with a reduction are its rows.
std::optional<unsigned> countRowLoops(mlir::linalg::LinalgOp op);

// What an element takes of a worker's memory: narrow floats are kept as f32.
int64_t bytesOfElement(mlir::Type type);

// The bytes that an elementwise operation makes for each step of its first `rows` loops, narrow floats as f32; 0 for an
// operation with a reduction, and more than `mostRowBytes` where the length of a row is not known.
int64_t bytesOfRow(mlir::linalg::LinalgOp op, unsigned rows);

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_ROWMEMORY_H
