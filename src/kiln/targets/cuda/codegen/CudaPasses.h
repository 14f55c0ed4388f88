// The passes of the cuda backend, and how its pipelines are put together. Passes are declared in CudaPasses.td.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CUDAPASSES_H
#define KILN_TARGETS_CUDA_CODEGEN_CUDAPASSES_H

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace kiln {

struct TuningOptions;

#define GEN_PASS_DECL
#include "kiln/targets/cuda/codegen/CudaPasses.h.inc"

// From what lower-executable-target leaves to the LLVM dialect, on a variant.
void addCudaTranslationPasses(mlir::OpPassManager &variantPasses);

// The dialects that the passes work on, and the translations to LLVM IR that serializing needs.
void registerCudaDialects(mlir::DialectRegistry &registry);

// Registers every pass under its name, with what the options say, which must outlive every use.
void registerCudaPasses(const TuningOptions &tuning);
CudaSelectLoweringOptions cudaSelectionOptions(const TuningOptions &tuning);

// On a dispatch's function whose configuration is a tuning database's: that file's path.
inline constexpr llvm::StringLiteral tunedByAttr = "kiln.tuned_by";

// On a dispatch's function, and then on its kernel: how many threads a block has, an i32.
inline constexpr llvm::StringLiteral threadsAttr = "kiln.threads";
// On a kernel: the bytes of scratch memory that each block needs, an i64.
inline constexpr llvm::StringLiteral scratchBytesAttr = "kiln.scratch_bytes";
// On a dispatch's function, and then on its kernel: the bytes of shared memory that a launch asks for, an i64.
inline constexpr llvm::StringLiteral dynamicSharedBytesAttr = "kiln.dynamic_shared_bytes";
// On a dispatch that goes over its workgroups itself, and on its kernel: how many blocks a multiprocessor gets, an i32.
inline constexpr llvm::StringLiteral blocksPerMultiprocessorAttr = "kiln.blocks_per_multiprocessor";
// On a dispatch's function, and then on its kernel: how many blocks beside each other are a cluster, an i32.
inline constexpr llvm::StringLiteral clusterBlocksAttr = "kiln.cluster_blocks";
// On a dispatch's function that waits for the kernels before it, and on its kernel.
inline constexpr llvm::StringLiteral startsEarlyAttr = "kiln.starts_early";
// On an argument of a dispatch's function, an !llvm.ptr: it is a tensor map, of a dictionary with the fields of
// GpuTensorMap in schema/gpu_executable.fbs; and on a kernel, the list of them.
inline constexpr llvm::StringLiteral tensorMapAttr = "kiln.tensor_map", tensorMapsAttr = "kiln.tensor_maps";

// On a kernel: what its assertions say, a list of strings.
inline constexpr llvm::StringLiteral assertionsAttr = "kiln.assertions";

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_CUDAPASSES_H
