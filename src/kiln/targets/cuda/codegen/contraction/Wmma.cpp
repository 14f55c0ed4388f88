#include "kiln/targets/cuda/codegen/contraction/ContractionConfig.h"
#include "kiln/targets/cuda/codegen/contraction/ContractionKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace kiln {

// Rows and columns of a fragment of sums.
static constexpr int64_t kFragment = 16;
// Registers of sums that a thread has of a fragment, and how many neighbours it reads when they are in shared memory.
static constexpr int64_t kSums = 8, kWidth = 4;

// Rows of shared memory start at multiples of a fragment's bytes: 32 of f16, and 16 at most of the rest.
static TileLayout layoutOf(const ContractionGroup &group, const ContractionGroup::Input &input, int64_t outer,
                           int64_t depth) {
  TileLayout layout = TileLayout::asInput(group, input, outer, depth);
  layout.padding = input.type().getElementType().isF16() ? 32 : 16;
  return layout;
}

// Sums go through shared memory, a row of fragments of each warp at a time.
static int64_t sumRowBytes(const TileConfig &config) {
  return config.columns * 4 + 32;
}
static int64_t sumBytesOfWarp(const TileConfig &config) {
  return kFragment * sumRowBytes(config);
}

int64_t sharedBytesOfWmma(const ContractionGroup &group, const TileConfig &config) {
  int64_t inputs = config.stages * (layoutOf(group, group.lhs, config.m, config.k).bytes() +
                                    layoutOf(group, group.rhs, config.n, config.k).bytes());
  return std::max(inputs, threadsOf(config) / 32 * sumBytesOfWarp(config));
}

namespace {

// Which thread has which element of a fragment is the GPU's own: inputs come from shared memory, and sums go there, by
// wmma alone. LLVM's intrinsics are called by name, as NVVM's operations lack bf16.
class WmmaEmitter : public DepthStep {
public:
  WmmaEmitter(const TileKernel &kernel, const MmaKind &kind)
      : kernel(kernel), kind(kind), b(kernel.b), config(kernel.config), type(NVVM::stringifyMMATypes(kind.lhs)),
        sumType(kind.accumulator.isF32() ? "f32" : "s32"), depth(kind.lhs == NVVM::MMATypes::tf32 ? 8 : 16),
        shape(llvm::formatv("llvm.nvvm.wmma.m16n16k{0}", depth)),
        lhs(layoutOf(kernel.group, kernel.group.lhs, config.m, config.k)),
        rhs(layoutOf(kernel.group, kernel.group.rhs, config.n, config.k)), rowFragments(config.rows / kFragment),
        columnFragments(config.columns / kFragment), part(kernel) {}

  void run() {
    const ContractionGroup &group = kernel.group;
    TileCopy copies[] = {{kernel, group.lhs, group.m, lhs, 0}, {kernel, group.rhs, group.n, rhs, lhs.bytes()}};
    SmallVector<Value> zeros(rowFragments * columnFragments * kSums,
                             arith::ConstantOp::create(b, b.getZeroAttr(kind.accumulator)));
    SmallVector<Value> sums = overDepth(kernel, copies, lhs.bytes() + rhs.bytes(), zeros, *this);
    kernel.barrier(); // Other warps may still read what is overwritten now.
    for (int64_t i = 0; i < rowFragments; ++i)
      finishRows(i, ArrayRef<Value>(sums).slice(i * columnFragments * kSums, columnFragments * kSums));
  }

private:
  SmallVector<Value> loadFirst(Value) override { return {}; }
  SmallVector<Value> compute(Value stage, ArrayRef<Value>, SmallVectorImpl<Value> &sums,
                             llvm::function_ref<SmallVector<Value>()> awaitNext) override {
    multiply(stage, sums);
    return awaitNext();
  }

  SmallVector<Value> call(const std::string &name, int64_t registers, Type type, ArrayRef<Value> operands) {
    auto result = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(registers, type));
    Value values = LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name), operands).getResult(0);
    SmallVector<Value> each;
    for (int64_t i = 0; i < registers; ++i)
      each.push_back(LLVM::ExtractValueOp::create(b, values, i));
    return each;
  }

  // As the instructions call the layout of an input in shared memory.
  StringRef orderOf(bool isLhs) const { return (isLhs ? lhs : rhs).isKInner == isLhs ? "row" : "col"; }

  // The fragment of an input that starts at `first` of the outer loop, an i32, and `number` fragments further.
  SmallVector<Value> load(bool isLhs, Value stage, Value first, int64_t number, int64_t step) {
    const Integers &i32 = kernel.i32;
    const TileLayout &layout = isLhs ? lhs : rhs;
    int64_t bytes = layout.elementBytes, rowBytes = layout.rowElements * bytes + layout.padding;
    Value begin = layout.isKInner ? layout.offset(i32, first, i32.constant(0))
                                  : layout.offset(i32, i32.constant(0), i32.mul(first, bytes));
    int64_t outerBytes = layout.isKInner ? rowBytes : bytes, depthBytes = layout.isKInner ? bytes : rowBytes;
    int64_t distance = (isLhs ? 0 : lhs.bytes()) + number * kFragment * outerBytes + step * depth * depthBytes;
    bool isHalf = kind.lhs == NVVM::MMATypes::f16; // whose elements some GPUs hold twice
    Type word = isHalf ? Type(VectorType::get({2}, b.getF16Type())) : b.getI32Type();
    SmallVector<Value> fragment =
        call(llvm::formatv("{0}.load.{1}.{2}.stride.{3}", shape, isLhs ? "a" : "b", orderOf(isLhs), type),
             isHalf ? 8 : kFragment * depth * bytes / 128, word,
             {kernel.sharedAt(i32.add(stage, begin), distance), i32.constant(rowBytes / bytes)});
    if (kind.lhs == NVVM::MMATypes::tf32)
      for (Value &value : fragment)
        value = roundToTF32(b, value);
    return fragment;
  }

  void multiply(Value stage, SmallVectorImpl<Value> &sums) {
    // Products of f16 are named by their sums, others by their inputs.
    std::string name =
        llvm::formatv("{0}.mma.{1}.{2}.{3}", shape, orderOf(true), orderOf(false),
                      kind.lhs == NVVM::MMATypes::f16 ? llvm::formatv("{0}.{0}", sumType).str() : type.str());
    for (int64_t step = 0; step < config.k / depth; ++step) {
      SmallVector<SmallVector<Value>> columns;
      for (int64_t j = 0; j < columnFragments; ++j)
        columns.push_back(load(/*isLhs=*/false, stage, part.column, j, step));
      for (int64_t i = 0; i < rowFragments; ++i) {
        SmallVector<Value> row = load(/*isLhs=*/true, stage, part.row, i, step);
        for (int64_t j = 0; j < columnFragments; ++j) {
          auto sum = MutableArrayRef<Value>(sums).slice((i * columnFragments + j) * kSums, kSums);
          SmallVector<Value> operands(row);
          llvm::append_range(operands, columns[j]);
          llvm::append_range(operands, sum);
          llvm::copy(call(name, kSums, kind.accumulator, operands), sum.begin());
        }
      }
    }
  }

  // Finishes a row of fragments: the warp stores it, and each thread reads neighbours along n.
  void finishRows(int64_t number, ArrayRef<Value> sums) {
    const Integers &i32 = kernel.i32;
    Value start = i32.mul(part.warp, sumBytesOfWarp(config)), all = i32.constant(-1);
    if (number > 0)
      NVVM::SyncWarpOp::create(b, all);
    for (int64_t j = 0; j < columnFragments; ++j) {
      SmallVector<Value> operands = {kernel.sharedAt(start, j * kFragment * 4)};
      llvm::append_range(operands, sums.slice(j * kSums, kSums));
      operands.push_back(i32.constant(sumRowBytes(config) / 4));
      LLVM::CallIntrinsicOp::create(
          b, b.getStringAttr(llvm::formatv("{0}.store.d.row.stride.{1}", shape, sumType).str()), operands);
    }
    NVVM::SyncWarpOp::create(b, all);
    const int64_t threadsOfRow = std::min<int64_t>(config.columns / kWidth, 32), rowsAtOnce = 32 / threadsOfRow;
    Value column = i32.mul(i32.rem(part.lane, threadsOfRow), kWidth), row = i32.div(part.lane, threadsOfRow);
    Value place = i32.add(start, i32.add(i32.mul(row, sumRowBytes(config)), i32.mul(column, 4)));
    for (int64_t i = 0; i < kFragment; i += rowsAtOnce) {
      Value m = i32.add(i32.add(part.row, row), number * kFragment + i);
      whereRow(kernel, m, [&] {
        for (int64_t j = 0; j < config.columns; j += threadsOfRow * kWidth) {
          Value read = LLVM::LoadOp::create(b, VectorType::get({kWidth}, kind.accumulator),
                                            kernel.sharedAt(place, i * sumRowBytes(config) + j * 4), 16);
          SmallVector<Value> elements;
          for (int64_t each = 0; each < kWidth; ++each)
            elements.push_back(LLVM::ExtractElementOp::create(b, read, i32.constant(each)));
          finishElements(kernel, elements, m, i32.add(i32.add(part.column, column), j));
        }
      });
    }
  }

  const TileKernel &kernel;
  const MmaKind &kind;
  ImplicitLocOpBuilder &b;
  const TileConfig &config;
  StringRef type, sumType; // as the instructions call them
  int64_t depth;           // of a product
  std::string shape;       // what names of intrinsics start with
  TileLayout lhs, rhs;
  int64_t rowFragments, columnFragments;
  WarpPart part;
};

} // namespace

void emitWmma(const TileKernel &kernel, const MmaKind &kind) {
  WmmaEmitter(kernel, kind).run();
}

} // namespace kiln
