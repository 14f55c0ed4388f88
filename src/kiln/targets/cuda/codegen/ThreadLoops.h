// Operations of linalg on memory as loops that the threads of a block share.
#ifndef KILN_TARGETS_CUDA_CODEGEN_THREADLOOPS_H
#define KILN_TARGETS_CUDA_CODEGEN_THREADLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

// How many iterations there are at most, where that is known.
struct WorkSize {
  std::optional<int64_t> parallel, reduction;

  static WorkSize of(mlir::linalg::LinalgOp op);
};

// How many threads share each element of the result in a block of `threads`; 1 where each element is one thread's.
int64_t threadsOfElement(mlir::linalg::LinalgOp op, int64_t threads);

// Emits the loops before the operation, which is left as it is, for the thread with number `thread` of a block of
// `threads`. `fills` has for each result the value that it starts with, or null where that is read from memory.
void emitThreadLoops(mlir::OpBuilder &b, mlir::linalg::LinalgOp op, mlir::Value thread, int64_t threads,
                     mlir::ArrayRef<mlir::Value> fills);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_THREADLOOPS_H
