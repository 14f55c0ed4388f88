// What the groups of a block do with wgmma's sums: they add up parts of k, compute the epilogue and store.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_WGMMARESULTS_H
#define KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_WGMMARESULTS_H

#include "kiln/targets/cuda/codegen/contraction/ContractionConfig.h"
#include "kiln/targets/cuda/codegen/contraction/ContractionKernels.h"

namespace kiln {

inline constexpr int64_t kGroupThreads = 128; // of four warps that issue wgmma together
inline constexpr int64_t kGroupRows = 64;
inline constexpr int64_t kRowBytes = 128; // of a box, and of the swizzle

// The groups of a block that multiply; one more copies.
int64_t consumersOf(const TileConfig &config);
// Where the first stage is in shared memory, and what each has: parts of both inputs, whichever way they lie.
inline constexpr int64_t kStagesStart = 1024;
int64_t stageBytesOf(const TileConfig &config);

// Adds a tensor map to the arguments of a function, of a binding's memory seen as `type`. `loops` are those that its
// dimensions run along, of which a box has `boxOf` elements.
mlir::Value addTensorMap(mlir::OpBuilder &b, mlir::func::FuncOp function, mlir::Value memory, mlir::MemRefType type,
                         llvm::ArrayRef<unsigned> loops, llvm::function_ref<int64_t(unsigned)> boxOf);

// Which of its group's 64 rows a thread holds first, where rows go through registers.
mlir::Value firstHeldRow(const TileKernel &kernel, int64_t elementBytes);

class WgmmaResults {
public:
  // `part` is the block's of k, or null where it has all.
  WgmmaResults(const TileKernel &kernel, const WgmmaKind &kind, mlir::func::FuncOp function, mlir::Value part);

  // Which of the consuming groups the thread is in, and which 64 rows of the tile it finishes.
  struct Own {
    mlir::Value group, rows;
  };
  // All threads of the group come here, with the sums of one tile.
  void finish(llvm::ArrayRef<mlir::Value> origin, const Own &own, mlir::Value sums);
  // What has left is no longer read where another object goes on with the group's shared memory.
  void leave(const Own &own) const;
  // After the last tile: shared memory is not read any more.
  void end();
  // Through which results leave.
  llvm::ArrayRef<mlir::Value> tensorMaps() const { return maps; }

private:
  // A thread has two rows of its group's 64, and two columns beside each other in every eight. Where the rows are those
  // of the result, they are lane / 4 and 8 below in its warp's 16, or neighbours where they were held; where they are
  // its columns, a pair of them is at two rows: neighbours that were held, or that lanes of two rows exchange.
  struct Pair {
    mlir::Value m, n;        // of the first, in the tile
    mlir::Value row, column; // and in what is stored at once
    llvm::SmallVector<mlir::Value> sums;
  };
  // What a group stores at once: rows and columns, of which the first is at m and n of the tile.
  struct OutputPart {
    int64_t rows, columns;
    mlir::Value m, n;
  };
  // The elements of each pair, one after the other.
  using Elements = llvm::SmallVector<mlir::Value>;

  void chooseOutput(mlir::func::FuncOp function);
  bool canSendBoxes(const ContractionGroup::Store &store) const;

  mlir::Value rowOfThread() const;
  Pair pairAt(const Own &own, mlir::Value sums, int64_t begin, int64_t block, int64_t which) const;
  Pair pairBelowAt(const Own &own, mlir::Value sums, int64_t begin, int64_t block, int64_t which) const;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> finishPair(const TileKernel &tile, const Pair &pair) const;

  mlir::Value placeOfSums(int64_t block) const;
  void whereOwn(int64_t number, int64_t begin, int64_t count, mlir::Value sums,
                llvm::function_ref<void(mlir::Value)> emit) const;
  void finishTile(llvm::ArrayRef<mlir::Value> origin, const Own &own, mlir::Value sums) const;
  void finishByPairs(const TileKernel &tile, const Own &own, mlir::Value sums) const;

  void writePairs(const TileLayout &layout, mlir::Value buffer, mlir::Type element, llvm::ArrayRef<Pair> pairs,
                  llvm::ArrayRef<mlir::Value> elements) const;
  void writeMatrices(const TileLayout &layout, mlir::Value buffer, llvm::ArrayRef<mlir::Value> elements) const;
  void sendBoxes(const TileKernel &tile, size_t store, const OutputPart &part, mlir::Value buffer) const;
  void sendPieces(const TileKernel &tile, const ContractionGroup::Store &store, const OutputPart &part,
                  const TileLayout &layout, mlir::Value buffer) const;
  void awaitBoxes(mlir::Value ofGroup, int64_t pending) const;
  void groupBarrier(mlir::Value group) const;
  llvm::SmallVector<mlir::Value> existing(const TileKernel &tile, mlir::Value m, mlir::Value n, int64_t width) const;
  mlir::Value isFirstOfGroup() const;

  const TileKernel &kernel;
  const WgmmaKind &kind;
  mlir::ImplicitLocOpBuilder &b;
  const TileConfig &config;
  const ContractionGroup &group;
  const Integers &i32;
  mlir::Value part, lane;
  int64_t columns; // of wgmma, which are rows of the result where sides are swapped
  // Of them, how many are stored at once through shared memory; 0: each thread stores its pairs.
  int64_t width = 0;
  // Sums go to shared memory as matrices of 8 by 8, by stmatrix.
  bool storesMatrices = false;
  // Of each store: the map by which its boxes leave; null where threads store pieces of 16 bytes.
  llvm::SmallVector<mlir::Value> mapOf;
  llvm::SmallVector<mlir::Value> maps;
};

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_WGMMARESULTS_H
