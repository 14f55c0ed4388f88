#include "kiln/targets/cuda/codegen/contraction/ContractionKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {

// Rows are those of k: a thread loads neighbours along the outer loop. The padding keeps what is turned on its way in
// different banks.
static TileLayout layoutOf(const ContractionGroup &group, const ContractionGroup::Input &input, int64_t outer,
                           int64_t depth) {
  TileLayout layout;
  layout.rows = depth;
  layout.rowElements = outer;
  layout.elementBytes = input.type().getElementTypeBitWidth() / 8;
  layout.padding = input.innermost() == group.k ? 16 : 0;
  return layout;
}

int64_t sharedBytesOfSimt(const ContractionGroup &group, const TileConfig &config) {
  return config.stages * (layoutOf(group, group.lhs, config.m, config.k).bytes() +
                          layoutOf(group, group.rhs, config.n, config.k).bytes());
}

namespace {

// What a thread has of a tile along one loop: pieces of at most four neighbours, of which there are as many as there
// are threads along the loop, each thread's after the other's.
class Share {
public:
  struct Piece {
    int64_t begin, width; // of the thread's elements
    int64_t start;        // in the tile, of the first thread's
  };
  SmallVector<Piece> pieces;

  Share(int64_t tile, int64_t count, Value number) : number(number) {
    for (int64_t begin = 0, start = 0; begin < count; begin = pieces.back().begin + pieces.back().width) {
      int64_t width = std::min<int64_t>(4, llvm::bit_floor(uint64_t(count - begin)));
      pieces.push_back({begin, width, start});
      start += tile / count * width;
    }
  }

  // The place in the tile of an element of a piece.
  Value place(const Integers &i32, const Piece &piece, int64_t element) const {
    return i32.add(i32.mul(number, piece.width), piece.start + element);
  }

private:
  Value number; // of the thread along the loop
};

class SimtEmitter : public DepthStep {
public:
  explicit SimtEmitter(const TileKernel &kernel)
      : kernel(kernel), b(kernel.b), config(kernel.config),
        lhsLayout(layoutOf(kernel.group, kernel.group.lhs, config.m, config.k)),
        rhsLayout(layoutOf(kernel.group, kernel.group.rhs, config.n, config.k)) {}

  void run() {
    const Integers &i32 = kernel.i32;
    const ContractionGroup &group = kernel.group;
    // Warps are four threads high and eight wide where the block allows it, so that a load of theirs is 128 bytes long
    // at most.
    int64_t across = config.n / config.columns, down = config.m / config.rows;
    Value x, y;
    if (across % 8 == 0 && down % 4 == 0) {
      Value lane = i32.rem(kernel.thread, 32), warp = i32.div(kernel.thread, 32);
      x = i32.add(i32.mul(i32.rem(warp, across / 8), 8), i32.rem(lane, 8));
      y = i32.add(i32.mul(i32.div(warp, across / 8), 4), i32.div(lane, 8));
    } else {
      x = i32.rem(kernel.thread, across);
      y = i32.div(kernel.thread, across);
    }
    rowShare.emplace(config.m, config.rows, y);
    columnShare.emplace(config.n, config.columns, x);
    TileCopy copies[] = {{kernel, group.lhs, group.m, lhsLayout, 0},
                         {kernel, group.rhs, group.n, rhsLayout, lhsLayout.bytes()}};
    auto root = group.root;
    Type type = getElementTypeOrSelf(root->getResult(0).getType());
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    SmallVector<Value> sums = overDepth(kernel, copies, lhsLayout.bytes() + rhsLayout.bytes(),
                                        SmallVector<Value>(config.rows * config.columns, zero), *this);
    TileSums tile(kernel, sums);
    for (const Share::Piece &ofRows : rowShare->pieces)
      for (int64_t i = 0; i < ofRows.width; ++i) {
        Value m = rowShare->place(i32, ofRows, i);
        whereRow(kernel, m, [&] {
          for (const Share::Piece &piece : columnShare->pieces)
            tile.finish((ofRows.begin + i) * config.columns + piece.begin, piece.width, m,
                        columnShare->place(i32, piece, 0));
        });
      }
    tile.end();
  }

private:
  // A thread's elements at a step along k: of rows, and of columns.
  SmallVector<Value> load(Value stage, int64_t k) {
    SmallVector<Value> elements = load(stage, lhsLayout, kernel.group.lhs, *rowShare, k);
    llvm::append_range(elements,
                       load(kernel.i32.add(stage, lhsLayout.bytes()), rhsLayout, kernel.group.rhs, *columnShare, k));
    return elements;
  }

  // More sums leave no room for it in the 128 registers with which two blocks of 256 threads fill a multiprocessor.
  bool isAhead() const override { return config.rows * config.columns < 64; }
  SmallVector<Value> loadFirst(Value stage) override { return load(stage, 0); }

  SmallVector<Value> compute(Value stage, ArrayRef<Value> first, SmallVectorImpl<Value> &sums,
                             llvm::function_ref<SmallVector<Value>()> awaitNext) override {
    SmallVector<Value> now(first);
    for (int64_t k = 0; k < config.k; ++k) {
      SmallVector<Value> next = k + 1 < config.k ? load(stage, k + 1) : awaitNext();
      multiply(ArrayRef(now).take_front(config.rows), ArrayRef(now).drop_front(config.rows), sums);
      now = next;
    }
    return now;
  }

  SmallVector<Value> load(Value stage, const TileLayout &layout, const ContractionGroup::Input &input,
                          const Share &share, int64_t k) {
    const Integers &i32 = kernel.i32;
    Type element = input.type().getElementType();
    SmallVector<Value> elements;
    for (const Share::Piece &piece : share.pieces) {
      int64_t width = std::min<int64_t>(piece.width, 16 / layout.elementBytes);
      for (int64_t i = 0; i < piece.width; i += width) {
        Value column = i32.mul(share.place(i32, piece, i), layout.elementBytes);
        Value pointer = kernel.sharedAt(i32.add(stage, layout.offset(i32, i32.constant(k), column)));
        if (width == 1) {
          elements.push_back(LLVM::LoadOp::create(b, element, pointer, layout.elementBytes));
          continue;
        }
        Value vector = LLVM::LoadOp::create(b, VectorType::get({width}, element), pointer, width * layout.elementBytes);
        for (int64_t each = 0; each < width; ++each)
          elements.push_back(LLVM::ExtractElementOp::create(b, vector, i32.constant(each)));
      }
    }
    return elements;
  }

  void multiply(ArrayRef<Value> rows, ArrayRef<Value> columns, SmallVectorImpl<Value> &sums) {
    auto root = kernel.group.root;
    Block *body = root.getBlock();
    for (auto [i, row] : llvm::enumerate(rows))
      for (auto [j, column] : llvm::enumerate(columns)) {
        Value &sum = sums[i * columns.size() + j];
        IRMapping mapping;
        mapping.map(body->getArgument(kernel.group.isSwapped ? 1 : 0), row);
        mapping.map(body->getArgument(kernel.group.isSwapped ? 0 : 1), column);
        mapping.map(body->getArguments().back(), sum);
        for (Operation &op : body->without_terminator())
          b.clone(op, mapping);
        sum = mapping.lookup(body->getTerminator()->getOperand(0));
      }
  }

  const TileKernel &kernel;
  ImplicitLocOpBuilder &b;
  const TileConfig &config;
  TileLayout lhsLayout, rhsLayout;
  std::optional<Share> rowShare, columnShare;
};

} // namespace

void emitSimt(const TileKernel &kernel) {
  SimtEmitter(kernel).run();
}

} // namespace kiln
