#include "kiln/targets/cuda/codegen/SimpleTile.h"

#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/targets/cuda/codegen/ColumnLoops.h"
#include "kiln/targets/cuda/codegen/Lanes.h"
#include "kiln/targets/cuda/codegen/RowLoops.h"
#include "kiln/targets/cuda/codegen/VectorLoops.h"

using namespace mlir;

namespace kiln {

static constexpr int64_t kFewElements = 256;              // of a block without a reduction, in short operations
static constexpr int64_t kBlocks = 264, kFewBlocks = 120; // that occupy a large device, fully and once
static constexpr int64_t kLineBytes = 128;                // of the cache
static constexpr int64_t kLarge = 4096;                   // for an extent that is not known

// Bytes of the largest element in memory.
static int64_t bytesOf(Operation *op) {
  int64_t bytes = 1;
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (isa<ShapedType>(type))
      bytes = std::max(bytes, bytesOfElement(getElementTypeOrSelf(type)));
  return bytes;
}

static int64_t lanesOf(Operation *op, int64_t length) {
  int64_t lanes = std::max<int64_t>(1, accessBytes / bytesOf(op));
  while (length % lanes != 0)
    lanes /= 2;
  return lanes;
}

// Whole lines of the cache where that leaves enough blocks.
static int64_t chooseColumns(linalg::LinalgOp op, int64_t columns, int64_t others) {
  int64_t bytes = bytesOfElement(getElementTypeOrSelf(op.getDpsInputOperands().back()->get().getType()));
  int64_t most = kLineBytes / std::max<int64_t>(1, bytes);
  return columns / most * others < kFewBlocks ? most / 2 : most;
}

// A size that tiles can have without one that is smaller, if there is one that is not much smaller than `most`.
static int64_t fitTile(int64_t extent, int64_t most) {
  if (extent <= most)
    return extent;
  for (int64_t size = most; size >= most / 4; size -= accessBytes)
    if (extent % size == 0)
      return size;
  return most;
}

TileConfig chooseSimpleTile(DispatchRoot &root) {
  TileConfig config;
  config.instructions = "simt";
  LoopShape shape = LoopShape::of(root.op);
  auto extent = [&](unsigned place) -> int64_t {
    if (place >= shape.resultLoops.size())
      return 1;
    int64_t known = shape.extents[shape.resultLoops[place]];
    return ShapedType::isDynamic(known) ? kLarge : known;
  };
  int64_t reduced = 1;
  for (auto [size, isParallel] : llvm::zip(shape.extents, shape.parallel))
    if (!isParallel)
      reduced *= ShapedType::isDynamic(size) ? kLarge : size;
  if (root.strategy == "contraction" && extent(1) > 1 && extent(0) > 1) {
    config.n = config.m = 32;
    return config;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(root.op.getOperation());
  if (root.strategy == "contraction" || root.strategy == "reduction") {
    int64_t rows = RowShares::of(reduced, lanesOf(root.op, reduced)).rows();
    if (linalgOp && isAlongColumns(linalgOp))
      rows = chooseColumns(linalgOp, extent(0), extent(1));
    config.n = extent(0) == 1 ? 1 : rows;
    config.m = extent(0) == 1 ? rows : 1;
    return config;
  }
  if (linalgOp && movesInnermost(linalgOp)) {
    config.n = config.m = turnedTile;
    return config;
  }
  int64_t total = 1;
  for (int64_t size : shape.extents)
    total *= ShapedType::isDynamic(size) ? kLarge : size;
  int64_t elements = vectorTileBytes / bytesOf(root.op);
  while (elements > kFewElements && total / elements < kBlocks)
    elements /= 2;
  config.n = fitTile(extent(0), elements);
  config.m = std::max<int64_t>(1, elements / std::max<int64_t>(1, config.n));
  return config;
}

void remarkSimpleContraction(func::FuncOp function, const Twine &reason) {
  Util::addRemark(function, Util::Cost::ScalarLoop, function.getLoc(), function.getSymName(),
                  "computes its contraction without tiles in shared memory, since it " + reason);
}

} // namespace kiln
