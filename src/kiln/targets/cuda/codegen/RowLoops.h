// Operations of linalg on memory that treat rows apart from each other, as those of a softmax or of a normalization do,
// by threads that keep their part of a row in registers from one operation to the next, or compute it again where the
// row is too long for that.
#ifndef KILN_TARGETS_CUDA_CODEGEN_ROWLOOPS_H
#define KILN_TARGETS_CUDA_CODEGEN_ROWLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

// How threads share rows of some length.
struct RowShares {
  int64_t lanes = 1;   // elements that a thread loads at once
  int64_t vectors = 1; // of so many elements, in a row
  int64_t threads = 1; // for a row: a power of two
  int64_t chunks = 1;  // vectors that a thread has at a time
  int64_t rounds = 1;  // until the row ends; 1 where a thread has all of its part at once

  static RowShares of(int64_t length, int64_t lanes);
  // Rows that a block has at a time.
  int64_t rows() const;
};

class RowGroup {
public:
  // All operations of the function, where they are such a group; `op` is none of them otherwise.
  static std::optional<RowGroup> find(mlir::func::FuncOp function);

  // Of a block.
  int64_t threads() const;
  // Replaces the operations, for the thread with number `thread`.
  void emit(mlir::Value thread);

private:
  friend class RowMatcher;
  friend class RowEmitter;

  mlir::SmallVector<mlir::linalg::LinalgOp> ops; // in their order
  unsigned rowLoops = 0;                         // the first ones of each operation
  mlir::SmallVector<int64_t> rowLength;          // the extents of the others
  std::optional<int64_t> rowCount;               // at most
  RowShares shares;
};

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_ROWLOOPS_H
