// Tensors of i1 take a byte for each element, but a vector of i1 in memory would take a bit for each.
#ifndef KILN_COMPILER_CODEGEN_BOOLEANMEMORY_H
#define KILN_COMPILER_CODEGEN_BOOLEANMEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

// Makes all memory of i1 in the function memory of i8, 0 or 1. Loads and stores are converted with it; linalg
// operations keep i1 in their bodies, which KernelEmitter.h takes. Other users of such memory are errors.
mlir::LogicalResult convertBooleanMemory(mlir::RewriterBase &rewriter, mlir::func::FuncOp function);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_BOOLEANMEMORY_H
