// Indices that are a loop and something known: what is known goes into the operand.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_INDEXFOLDING_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_INDEXFOLDING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

// An input of a generic on memory that is read at (s * 17 + k, n), where the loop of s runs once, or at (k + 51, n), is
// a view that is read at (k, n). Only of such can plans tell that it is a matrix like any other, which can be packed.
void foldIndices(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_INDEXFOLDING_H
