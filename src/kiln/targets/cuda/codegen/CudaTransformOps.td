// Transform ops of the cuda backend: what specs need beyond upstream's transform.gpu and transform.nvgpu.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CUDATRANSFORMOPS_TD
#define KILN_TARGETS_CUDA_CODEGEN_CUDATRANSFORMOPS_TD

include "kiln/compiler/TransformOps/KilnTransformOpBase.td"

def VectorToMmaConversionOp : KilnInPlaceFunctionalOp<"vector.vector_to_mma_conversion"> {
  let summary = "makes instructions of tensor cores from contractions of vectors";
  let description = [{
    Each vector.contract of a shape that mma.sync has becomes one instruction of a warp, and the transfers that it reads and
    writes become loads and stores of the registers that each lane holds of it. f32 is computed in tf32. A contraction of
    another shape is an error: unroll it before (transform.apply_patterns.gpu.unroll_vectors_subgroup_mma).
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, UnitAttr:$use_mma_sync);
  let hasVerifier = 1;
}

#endif // KILN_TARGETS_CUDA_CODEGEN_CUDATRANSFORMOPS_TD
