// What the kernels of contractions share: the values of a thread, and tiles of the inputs on their way to shared
// memory.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_TILEKERNEL_H
#define KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_TILEKERNEL_H

#include "kiln/base/tile_config.h"
#include "kiln/compiler/Codegen/ContractionGroup.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kiln {

// Arithmetic on integers of one width, with little to write.
class Integers {
public:
  Integers(mlir::ImplicitLocOpBuilder &b, unsigned width) : b(b), type(b.getIntegerType(width)) {}

  mlir::Value constant(int64_t value) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value add(mlir::Value x, int64_t y) const;
  mlir::Value mul(mlir::Value x, mlir::Value y) const;
  mlir::Value mul(mlir::Value x, int64_t y) const;
  // Of numbers that are not negative.
  mlir::Value div(mlir::Value x, int64_t y) const;
  mlir::Value rem(mlir::Value x, int64_t y) const;
  mlir::Value bitXor(mlir::Value x, mlir::Value y) const;
  mlir::Value bitXor(mlir::Value x, int64_t y) const;
  mlir::Value bitAnd(mlir::Value x, int64_t y) const;
  mlir::Value less(mlir::Value x, mlir::Value y) const;
  // Of an index, or of an integer of another width.
  mlir::Value of(mlir::Value value) const;

private:
  mlir::ImplicitLocOpBuilder &b;
  mlir::IntegerType type;
};

// What a thread of a kernel works with.
struct TileKernel {
  mlir::ImplicitLocOpBuilder &b;
  const ContractionGroup &group;
  const TileConfig &config;
  int64_t threads;
  Integers i32, i64;
  mlir::Value shared; // the block's shared memory, an !llvm.ptr<3>
  mlir::Value thread; // an i32
  // Of each loop of the root: the index where the workgroup's tile starts, and the extent. Indices.
  llvm::SmallVector<mlir::Value> origin, extents;
  // Whether rows of unknown length are known to be multiples of 16 bytes.
  bool isAligned = false;
  // The block's number among those of its cluster, each of which computes a part of k; null where one computes all.
  mlir::Value part = {}; // i32

  // At an offset in shared memory, an i32, and some bytes further.
  mlir::Value sharedAt(mlir::Value offset, int64_t distance = 0) const;
  mlir::Value index(mlir::Value value) const;
  void barrier() const;
  // Calls `emit` where the condition holds; always where it is null.
  void where(mlir::Value condition, llvm::function_ref<void()> emit) const;
  // Whether every tile of the loop is whole, with those that complete a cluster.
  bool isWhole(unsigned loop, int64_t tile) const;
};

// How a tile of an input lies in shared memory, where it has a part of each stage.
struct TileLayout {
  int64_t rows = 0, rowElements = 0, elementBytes = 0;
  // Rows run along k, and neighbours along the other loop; or the other way round.
  bool isKInner = false;
  // Rows are cut into panels of 128 bytes at most, whose pieces of 16 bytes are exchanged so that eight rows at the
  // same column are in different banks. Otherwise rows follow each other, with `padding` bytes between them.
  bool isSwizzled = false;
  int64_t padding = 0;

  // Of a tile that lies as the input does, with the same loop inside: `outer` elements along its loop that is not k,
  // and `depth` along k.
  static TileLayout asInput(const ContractionGroup &group, const ContractionGroup::Input &input, int64_t outer,
                            int64_t depth);
  int64_t panelBytes() const;
  int64_t bytes() const;
  // The offset of a byte. `column` counts bytes.
  mlir::Value offset(const Integers &i32, mlir::Value row, mlir::Value column) const;
  // The swizzled offset of the start of a row within a panel: columns are added with exclusive or.
  mlir::Value rowOffset(const Integers &i32, mlir::Value row) const;
};

// The part of the tile that the thread's warp computes, config.rows by config.columns. Values are i32.
struct WarpPart {
  explicit WarpPart(const TileKernel &kernel);

  mlir::Value lane, warp;
  mlir::Value row, column; // where it starts
};

// Copies tiles of an input to shared memory, all threads together.
class TileCopy {
public:
  // `loop` is the input's loop that is not k; `offset` is where the layout starts in a stage.
  TileCopy(const TileKernel &kernel, const ContractionGroup::Input &input, unsigned loop, const TileLayout &layout,
           int64_t offset);

  // Starts the copy of the tile whose k starts at `k`, an i64, to the stage that starts at `stage`, an i32. What lies
  // outside of the input becomes zero. Where `isAsync` is false, the tile is there after the next barrier, and else
  // with the group of copies that it is committed to.
  void issue(mlir::Value stage, mlir::Value k) const;

  bool isAsync() const { return async; }

  // The same in two parts, for what is not asynchronous: the thread's elements of the tile, for which nothing waits
  // yet, and their way to the stage. Where `exists` is false, nothing is read.
  llvm::SmallVector<mlir::Value> load(mlir::Value k, mlir::Value exists) const;
  void store(mlir::Value stage, llvm::ArrayRef<mlir::Value> elements) const;
  // How many elements of a tile a thread copies.
  int64_t elementsOfThread() const;

private:
  // What a thread copies at once.
  struct Unit {
    mlir::Value inside; // whether it is in the input, as far as its first element tells; null: it is
    mlir::Value offset; // of the first element in the input, i64
    mlir::Value inner;  // the first element's place along the input's innermost dimension, i64
    mlir::Value place;  // in the stage, i32
    mlir::Value isMine; // whether the thread has it; null: each thread has one
  };
  int64_t units() const { return rowCount * rowLength / unit; }
  // Whether neighbours are loaded one by one.
  bool isGathered() const { return !async && unit > 1; }
  Unit unitAt(mlir::Value k, int64_t number) const;
  // Its row and column in the tile, by its number in all threads' order.
  std::pair<mlir::Value, mlir::Value> placeOfUnit(mlir::Value number) const;
  // Whether the tile at `k` is known not to reach beyond the input along k.
  bool isInDepth(mlir::Value k) const;

  const TileKernel &kernel;
  TileLayout layout;
  int64_t start;
  mlir::Type element;
  mlir::Value memory;          // !llvm.ptr<1>
  bool isKContiguous;          // in the input
  bool isTurned;               // in shared memory another loop is the inner one than in the input
  int64_t rowCount, rowLength; // of the tile, as it lies in the input
  int64_t unit = 0;            // elements that a thread copies at once
  bool async = false;
  mlir::Value origin, rowStride;                     // i64
  mlir::Value row, column;                           // of the thread's first unit in the tile, i32
  mlir::Value outerOrigin, outerExtent, depthExtent; // i64
  bool isOuterWhole, isDepthWhole;
};

// The largest power of two, at most 16, that divides the distance in bytes of any two rows of an input, and from the
// start of its memory; the size of an element where the rows' length is not known.
int64_t alignmentOf(const ContractionGroup::Input &input);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_CONTRACTION_TILEKERNEL_H
