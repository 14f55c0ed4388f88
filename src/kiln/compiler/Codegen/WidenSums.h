// Sums of narrow floats.
#ifndef KILN_COMPILER_CODEGEN_WIDENSUMS_H
#define KILN_COMPILER_CODEGEN_WIDENSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

// Makes reductions on tensors that sum up in f16 or bf16 sum up in f32, products included, and round once at the end:
// CPUs compute in f32 anyway, and rounding after each step would cost both time and precision.
void widenNarrowSums(mlir::RewriterBase &rewriter, mlir::func::FuncOp function);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_WIDENSUMS_H
