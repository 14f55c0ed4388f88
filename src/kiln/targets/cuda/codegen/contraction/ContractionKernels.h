// The kernels of contractions: what the threads of a block do for one tile of the result.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_CONTRACTIONKERNELS_H
#define KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_CONTRACTIONKERNELS_H

#include "kiln/targets/cuda/codegen/contraction/TileKernel.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace kiln {

// What a warp multiplies by mma.sync or wmma.
struct MmaKind {
  mlir::NVVM::MMATypes lhs, rhs;
  mlir::Type accumulator;
  int64_t elementBytes;

  // How the root's body is computed on tensor cores by instructions of a class; nullopt where they have none for it.
  // f32 is computed as tf32.
  static std::optional<MmaKind> of(const ContractionGroup &group, llvm::StringRef instructions);
};

// The bits of an f32, rounded to what tensor cores look at.
mlir::Value roundToTF32(mlir::ImplicitLocOpBuilder &b, mlir::Value bits);

// What wgmma multiplies: 64 rows, and 32 bytes along k.
struct WgmmaKind {
  mlir::NVVM::WGMMATypes lhs, rhs, result;
  mlir::Type accumulator;
  int64_t elementBytes;
  // The rows come from registers, where they are turned; and they are the columns of the result.
  bool isHeld = false, isSwapped = false;

  // The same as an MmaKind has; nullopt where wgmma or the copies of boxes do not take the inputs as they lie in
  // memory.
  static std::optional<WgmmaKind> of(const ContractionGroup &group, const MmaKind &kind);
};

// Bytes of shared memory that the kernels below need.
int64_t sharedBytesOfMmaSync(const ContractionGroup &group, const TileConfig &config);
int64_t sharedBytesOfWmma(const ContractionGroup &group, const TileConfig &config);
int64_t sharedBytesOfSimt(const ContractionGroup &group, const TileConfig &config);
int64_t sharedBytesOfWgmma(const TileConfig &config);

// By mma.sync, or by wmma: each warp computes a part of the tile of config.rows by config.columns.
void emitMmaSync(const TileKernel &kernel, const MmaKind &kind);
void emitWmma(const TileKernel &kernel, const MmaKind &kind);
// By wgmma, with blocks that stay: a group of four warps copies boxes of the inputs, and each of the others computes 64
// rows of the tile. `total` is the number of tiles, an index; `originOf` gives the origin of each loop for the number
// of a tile. Adds a tensor map for each input to the arguments of the function.
void emitWgmma(const TileKernel &kernel, const WgmmaKind &kind, mlir::func::FuncOp function, mlir::Value total,
               llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value)> originOf);
// By scalar arithmetic: each thread computes config.rows by config.columns elements.
void emitSimt(const TileKernel &kernel);

// Rows that cp.async does not copy go through registers. Elements of a tile that a thread holds at most, with its sums
// in all tiles that it holds while it multiplies, in all tiles before it does, and how many tiles at most.
inline constexpr int64_t kMostHeld = 64, kMostHeldAndSums = 128, kMostHeldAtFirst = 160, kMostTilesHeld = 4;
// Few tiles of k with few sums are written out one after the other, where it is known which elements exist.
inline constexpr int64_t kMostUnrolled = 12, kMostSumsUnrolled = 16;

// What a kernel does with a tile of k that is in shared memory at `stage`, an i32, the stage's offset.
class DepthStep {
public:
  virtual ~DepthStep() = default;
  // Whether it is worth the registers to load the first of a tile while the one before is multiplied.
  virtual bool isAhead() const { return true; }
  // What it multiplies first, as it is loaded.
  virtual llvm::SmallVector<mlir::Value> loadFirst(mlir::Value stage) = 0;
  // Adds to `sums`. `first` is what loadFirst gave. Calls `awaitNext` once, when all of the tile is loaded and, at
  // best, something is left to multiply; it gives what loadFirst does of the tile that comes after, which is returned.
  virtual llvm::SmallVector<mlir::Value> compute(mlir::Value stage, llvm::ArrayRef<mlir::Value> first,
                                                 llvm::SmallVectorImpl<mlir::Value> &sums,
                                                 llvm::function_ref<llvm::SmallVector<mlir::Value>()> awaitNext) = 0;
};

// Runs over the tiles of k, which are copied to shared memory config.stages - 1 tiles ahead. Gives what the last one
// made of the sums, which are `initial` before the first.
llvm::SmallVector<mlir::Value> overDepth(const TileKernel &kernel, llvm::ArrayRef<TileCopy> copies, int64_t stageBytes,
                                         llvm::ArrayRef<mlir::Value> initial, DepthStep &work);

// All threads of all blocks of a cluster meet, and see what the others have written.
void clusterBarrier(mlir::ImplicitLocOpBuilder &b);
// What the blocks of a cluster have at the same place in shared memory, added up in the order of their parts of k,
// whoever adds.
mlir::Value addUpParts(mlir::ImplicitLocOpBuilder &b, mlir::Value place, mlir::Type type, int64_t parts);

// A block's sums of a tile. Where blocks of a cluster compute parts of k, each part comes to where the others read it,
// in the stages' memory, and the blocks finish elements in turn.
class TileSums {
public:
  TileSums(const TileKernel &kernel, llvm::ArrayRef<mlir::Value> sums);
  // As finishElements, of `count` sums.
  void finish(int64_t first, int64_t count, mlir::Value m, mlir::Value n);
  // All threads come here at last: nobody's memory is read any more.
  void end();

  static int64_t sharedBytes(const TileConfig &config, int64_t sumBytes) {
    return config.clusterK == 1 ? 0 : config.m * config.n * sumBytes;
  }

private:
  mlir::Value placeOf(int64_t sum) const;

  const TileKernel &kernel;
  llvm::SmallVector<mlir::Value> sums;
  int64_t turn = 0;
};

// Finishes elements that lie beside each other along n, at `m` and `n` (i32) within the tile. Rows are taken to exist.
void finishElements(const TileKernel &kernel, llvm::ArrayRef<mlir::Value> sums, mlir::Value m, mlir::Value n);
// Calls `emit` for a row of the tile, at `m` (i32), if it exists.
void whereRow(const TileKernel &kernel, mlir::Value m, llvm::function_ref<void()> emit);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_CONTRACTIONKERNELS_H
