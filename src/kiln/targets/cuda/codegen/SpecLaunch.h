// What a transform-dialect spec leaves of a kernel for GPUs: a gpu.launch, whose grid becomes the dispatch's workgroup
// count and whose block becomes that of the kernel.
#ifndef KILN_TARGETS_CUDA_CODEGEN_SPECLAUNCH_H
#define KILN_TARGETS_CUDA_CODEGEN_SPECLAUNCH_H

#include "kiln/compiler/TransformOps/TransformSpec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

// Puts the body of the function's launch in its place, and buffers of the block into shared memory. Work that the spec
// has mapped to threads is left as it is: what writes memory without regard to the thread is a fault. A function
// without a launch keeps its linalg, which is distributed over threads later.
std::optional<SpecFault> takeLaunch(mlir::RewriterBase &rewriter, mlir::func::FuncOp function);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_SPECLAUNCH_H
