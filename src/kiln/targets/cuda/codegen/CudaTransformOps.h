// The transform-dialect extension of the cuda backend. See CudaTransformOps.td.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CUDATRANSFORMOPS_H
#define KILN_TARGETS_CUDA_CODEGEN_CUDATRANSFORMOPS_H

#include "kiln/compiler/TransformOps/KilnTransformOps.h"

#define GET_OP_CLASSES
#include "kiln/targets/cuda/codegen/CudaTransformOps.h.inc"

namespace kiln {

// Makes the extension known, and upstream's extensions for GPUs.
void registerCudaTransformExtension(mlir::DialectRegistry &registry);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_CUDATRANSFORMOPS_H
