// The kernels of contractions: what the threads of a block do for one tile of the result.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_CONTRACTIONKERNELS_H
#define KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_CONTRACTIONKERNELS_H

#include "kiln/targets/cuda/codegen/contraction/TileKernel.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace kiln {

// What mma.sync multiplies: 16 rows by 8 columns, and 32 bytes along k.
struct MmaKind {
  mlir::NVVM::MMATypes lhs, rhs;
  mlir::Type accumulator;
  int64_t elementBytes;

  // How the root's body is computed on tensor cores; nullopt where they have no such instruction. f32 is computed as
  // tf32.
  static std::optional<MmaKind> of(const ContractionGroup &group);
};

// Bytes of shared memory that the kernels below need.
int64_t sharedBytesOfMmaSync(const ContractionGroup &group, const TileConfig &config);
int64_t sharedBytesOfSimt(const ContractionGroup &group, const TileConfig &config);

// By mma.sync: each warp computes a part of the tile of config.rows by config.columns.
void emitMmaSync(const TileKernel &kernel, const MmaKind &kind);
// By scalar arithmetic: each thread computes config.rows by config.columns elements.
void emitSimt(const TileKernel &kernel);

// Runs over the tiles of k, which are copied to shared memory config.stages - 1 tiles ahead. `compute` gets the offset
// of the stage, an i32, and what the one before gave. Gives what the last one gave.
llvm::SmallVector<mlir::Value>
overDepth(const TileKernel &kernel, llvm::ArrayRef<TileCopy> copies, int64_t stageBytes,
          llvm::ArrayRef<mlir::Value> initial,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, llvm::ArrayRef<mlir::Value>)> compute);

// Finishes elements that lie beside each other along n, at `m` and `n` (i32) within the tile. Rows are taken to exist.
void finishElements(const TileKernel &kernel, llvm::ArrayRef<mlir::Value> sums, mlir::Value m, mlir::Value n);
// Calls `emit` for a row of the tile, at `m` (i32), if it exists.
void whereRow(const TileKernel &kernel, mlir::Value m, llvm::function_ref<void()> emit);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_CONTRACTIONKERNELS_H
