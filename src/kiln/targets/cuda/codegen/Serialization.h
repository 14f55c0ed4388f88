// From a translated variant to an executable of schema/gpu_executable.fbs.
#ifndef KILN_TARGETS_CUDA_CODEGEN_SERIALIZATION_H
#define KILN_TARGETS_CUDA_CODEGEN_SERIALIZATION_H

#include "kiln/compiler/Interfaces/TargetBackend.h"
#include "kiln/targets/cuda/codegen/CudaOptions.h"

namespace kiln {

// The PTX of each of its modules, made on any thread, with machine code where ptxas is to be asked, and the table of
// kernels. Errors are diagnostics at the variant; what ptxas remarks becomes remarks of the executable.
mlir::LogicalResult serializeCudaVariant(HAL::ExecutableVariantOp variant, const SerializationOptions &options,
                                         const CudaOptions &cuda, llvm::SmallVectorImpl<char> &bytes);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_SERIALIZATION_H
