// Configurations of contractions: which a dispatch gets by default, and which a kernel can follow.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_CONTRACTIONCONFIG_H
#define KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_CONTRACTIONCONFIG_H

#include "kiln/base/tile_config.h"
#include "kiln/targets/cuda/codegen/CudaTarget.h"
#include "kiln/targets/cuda/wgmma_cost.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

struct ContractionGroup;

inline constexpr llvm::StringLiteral kSimtFfma = "simt_ffma";
inline constexpr llvm::StringLiteral kWmma = "tensorcore_wmma";
inline constexpr llvm::StringLiteral kMmaSync = "tensorcore_mmasync";
inline constexpr llvm::StringLiteral kWgmma = "tensorcore_wgmma";

// Whether a configuration's instructions are those of a kernel with tiles in shared memory.
bool isTiledKernel(const TileConfig &config);
// Whether each warp of it multiplies for itself, on tensor cores.
bool multipliesByWarps(const TileConfig &config);

// What a contraction gets where nothing else is said; nullopt where a kernel with tiles is not worth it or not
// possible.
std::optional<TileConfig> chooseContractionConfig(mlir::linalg::LinalgOp op, const CudaTarget &target);

// Fills in what the configuration leaves open: the parts of warps or threads.
void completeContractionConfig(TileConfig &config);

// Why a kernel cannot follow a complete configuration; empty where it can.
std::string checkContractionConfig(const TileConfig &config, const CudaTarget &target);

// Threads of a block, and blocks of a cluster.
int64_t threadsOf(const TileConfig &config);
int64_t blocksOfCluster(const TileConfig &config);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_CONTRACTIONCONFIG_H
