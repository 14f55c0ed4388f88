#include "kiln/targets/cuda/codegen/contraction/ContractionConfig.h"
#include "kiln/targets/cuda/codegen/contraction/ContractionKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace kiln {

// Elements of a fragment of either input along its outer loop: two of mma.sync's blocks of B, one of A.
static constexpr int64_t kFragment = 16;
// Bytes along k that an instruction takes.
static constexpr int64_t kStepBytes = 32;

std::optional<MmaKind> MmaKind::of(const ContractionGroup &group, StringRef instructions) {
  const bool isWmma = instructions == kWmma;
  auto root = group.root;
  Block *body = root.getBlock();
  Operation *sum = group.sum;
  Value term = sum->getOperand(0) == body->getArguments().back() ? sum->getOperand(1) : sum->getOperand(0);
  Operation *product = term.getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
    return std::nullopt;
  // Both factors are the inputs, made wider.
  auto typeOf = [&](Value factor) -> std::optional<std::pair<unsigned, NVVM::MMATypes>> {
    Operation *wider = factor.getDefiningOp();
    bool isUnsigned = isa_and_nonnull<arith::ExtUIOp>(wider);
    if (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(wider))
      factor = wider->getOperand(0);
    auto argument = dyn_cast<BlockArgument>(factor);
    Type type = factor.getType(), result = term.getType();
    if (!argument || argument.getOwner() != body || argument.getArgNumber() > 1)
      return std::nullopt;
    std::optional<NVVM::MMATypes> found;
    if (result.isF32())
      found = type.isF16()    ? std::optional(NVVM::MMATypes::f16)
              : type.isBF16() ? std::optional(NVVM::MMATypes::bf16)
              : type.isF32()  ? std::optional(NVVM::MMATypes::tf32)
                              : std::nullopt;
    else if (result.isInteger(32) && type.isInteger(8))
      found = isUnsigned ? NVVM::MMATypes::u8 : NVVM::MMATypes::s8;
    if (!found)
      return std::nullopt;
    return std::pair(argument.getArgNumber(), *found);
  };
  auto x = typeOf(product->getOperand(0)), y = typeOf(product->getOperand(1));
  if (!x || !y || x->first == y->first)
    return std::nullopt;
  if (x->first != (group.isSwapped ? 1u : 0u))
    std::swap(x, y);
  int64_t bytes = group.lhs.type().getElementTypeBitWidth() / 8;
  bool isInteger = term.getType().isInteger(32);
  if (group.lhs.type().getElementTypeBitWidth() != group.rhs.type().getElementTypeBitWidth() ||
      ((isWmma || !isInteger) && x->second != y->second))
    return std::nullopt;
  // Bytes cannot be turned on their way into registers, but by wmma.
  if (bytes == 1 && !isWmma && (group.lhs.innermost() != group.k || group.rhs.innermost() != group.k))
    return std::nullopt;
  return MmaKind{x->second, y->second, term.getType(), bytes};
}

static TileLayout layoutOf(const ContractionGroup &group, const ContractionGroup::Input &input, int64_t outer,
                           int64_t depth) {
  TileLayout layout = TileLayout::asInput(group, input, outer, depth);
  layout.isSwizzled = true;
  return layout;
}

Value roundToTF32(ImplicitLocOpBuilder &b, Value bits) {
  Value value = LLVM::BitcastOp::create(b, b.getF32Type(), bits);
  return NVVM::ConvertFloatToTF32Op::create(b, b.getI32Type(), value,
                                            NVVM::FPRoundingModeAttr::get(b.getContext(), NVVM::FPRoundingMode::RNA));
}

int64_t sharedBytesOfMmaSync(const ContractionGroup &group, const TileConfig &config) {
  return config.stages * (layoutOf(group, group.lhs, config.m, config.k).bytes() +
                          layoutOf(group, group.rhs, config.n, config.k).bytes());
}

namespace {

// Brings parts of an input from shared memory to the registers where mma.sync wants them.
class FragmentLoader {
public:
  // The warp's part starts at `first`, an i32, of the outer loop.
  FragmentLoader(const TileKernel &kernel, const TileLayout &layout, int64_t start, bool isLhs, Value first, Value lane)
      : kernel(kernel), layout(layout), start(start), isLhs(isLhs) {
    const Integers &i32 = kernel.i32;
    int64_t panel = layout.panelBytes();
    Value eights = i32.rem(i32.div(lane, 8), 2), sixteens = i32.div(lane, 16);
    Value low = i32.rem(lane, 16), spread = i32.add(i32.rem(lane, 8), i32.mul(sixteens, 8));
    Value firstBytes = i32.mul(first, layout.elementBytes);
    if (layout.isKInner) {
      Value row = i32.add(first, isLhs ? low : spread);
      base = i32.bitXor(layout.rowOffset(i32, row), i32.mul(isLhs ? sixteens : eights, 16));
      panels = i32.constant(0);
      return;
    }
    panels = i32.mul(i32.div(firstBytes, panel), layout.rows * panel);
    Value inPanel = i32.rem(firstBytes, panel);
    if (layout.elementBytes == 2) {
      base = i32.bitXor(layout.rowOffset(i32, isLhs ? spread : low), i32.mul(isLhs ? eights : sixteens, 16));
      base = i32.bitXor(base, inPanel);
      return;
    }
    // Elements of four bytes are loaded one by one: a thread has column lane / 4 of rows lane % 4 and 4 above.
    Value row = i32.rem(lane, 4), column = i32.bitXor(i32.mul(i32.div(lane, 4), 4), inPanel);
    base = i32.bitXor(layout.rowOffset(i32, row), column);
    upper = i32.bitXor(layout.rowOffset(i32, i32.add(row, 4)), column);
  }

  // Fragment `number` of the warp's part, at `step` of the tile: four registers, as i32.
  SmallVector<Value> load(Value stage, int64_t number, int64_t step) const {
    ImplicitLocOpBuilder &b = kernel.b;
    const Integers &i32 = kernel.i32;
    int64_t panel = layout.panelBytes();
    Value begin = i32.add(i32.add(stage, panels), start);
    if (!layout.isKInner && layout.elementBytes == 4) {
      SmallVector<Value> parts;
      for (int64_t part = 0; part < 4; ++part) {
        // A's registers go down the rows first, B's along k.
        int64_t isUpper = isLhs ? part / 2 : part % 2, isSecond = isLhs ? part % 2 : part / 2;
        int64_t column = (number * kFragment + isSecond * 8) * 4;
        Value place = i32.bitXor(isUpper ? upper : base, column % panel);
        int64_t distance = column / panel * layout.rows * panel + step * 8 * panel;
        parts.push_back(LLVM::LoadOp::create(b, b.getI32Type(), kernel.sharedAt(i32.add(begin, place), distance), 4));
      }
      return parts;
    }
    Value place;
    int64_t distance;
    if (layout.isKInner) {
      place = i32.bitXor(base, step * kStepBytes);
      distance = number * kFragment * panel;
    } else {
      int64_t column = number * kFragment * layout.elementBytes;
      place = i32.bitXor(base, column % panel);
      distance = column / panel * layout.rows * panel + step * 16 * panel;
    }
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getI32Type()));
    Value matrices =
        NVVM::LdMatrixOp::create(b, type, kernel.sharedAt(i32.add(begin, place), distance), 4,
                                 layout.isKInner ? NVVM::MMALayout::row : NVVM::MMALayout::col,
                                 NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
    SmallVector<Value> parts;
    for (int64_t part = 0; part < 4; ++part)
      parts.push_back(LLVM::ExtractValueOp::create(b, matrices, part));
    return parts;
  }

private:
  const TileKernel &kernel;
  const TileLayout &layout;
  int64_t start;
  bool isLhs;
  Value base, upper, panels;
};

class MmaSyncEmitter : public DepthStep {
public:
  MmaSyncEmitter(const TileKernel &kernel, const MmaKind &kind)
      : kernel(kernel), kind(kind), b(kernel.b), config(kernel.config),
        lhsLayout(layoutOf(kernel.group, kernel.group.lhs, config.m, config.k)),
        rhsLayout(layoutOf(kernel.group, kernel.group.rhs, config.n, config.k)), part(kernel),
        lhs(kernel, lhsLayout, 0, /*isLhs=*/true, part.row, part.lane),
        rhs(kernel, rhsLayout, lhsLayout.bytes(), /*isLhs=*/false, part.column, part.lane),
        rowFragments(config.rows / kFragment), columnFragments(config.columns / kFragment) {}

  void run() {
    const Integers &i32 = kernel.i32;
    const ContractionGroup &group = kernel.group;
    TileCopy copies[] = {{kernel, group.lhs, group.m, lhsLayout, 0},
                         {kernel, group.rhs, group.n, rhsLayout, lhsLayout.bytes()}};
    SmallVector<Value> zeros(rowFragments * columnFragments * 8,
                             arith::ConstantOp::create(b, b.getZeroAttr(kind.accumulator)));
    SmallVector<Value> sums = overDepth(kernel, copies, lhsLayout.bytes() + rhsLayout.bytes(), zeros, *this);

    TileSums tile(kernel, sums);
    // A thread has two elements each of rows lane / 4 and 8 below.
    Value row = i32.add(part.row, i32.div(part.lane, 4));
    Value column = i32.add(part.column, i32.mul(i32.rem(part.lane, 4), 2));
    for (int64_t i = 0; i < rowFragments * 2; ++i) {
      Value m = i32.add(row, i * 8);
      whereRow(kernel, m, [&] {
        for (int64_t j = 0; j < columnFragments * 2; ++j)
          tile.finish(place(i / 2, j) + i % 2 * 2, 2, m, i32.add(column, j * 8));
      });
    }
    tile.end();
  }

private:
  // Where the sums of a fragment of A and a block of eight columns start.
  int64_t place(int64_t i, int64_t j) const { return (i * columnFragments * 2 + j) * 4; }

  // The registers of all fragments at a step: A's, and B's.
  SmallVector<Value> load(Value stage, int64_t step) {
    SmallVector<Value> registers;
    for (int64_t i = 0; i < rowFragments; ++i)
      llvm::append_range(registers, convert(lhs.load(stage, i, step)));
    for (int64_t j = 0; j < columnFragments; ++j)
      llvm::append_range(registers, convert(rhs.load(stage, j, step)));
    return registers;
  }

  // Two blocks of few warps wait in turns: on an H200 128x128_32x4 of four warps takes 48 us so, and 46 without, but
  // 128x256_32x3 of eight 45, and 55 without.
  bool isAhead() const override { return kernel.threads >= 256; }
  SmallVector<Value> loadFirst(Value stage) override { return load(stage, 0); }

  SmallVector<Value> compute(Value stage, ArrayRef<Value> first, SmallVectorImpl<Value> &sums,
                             llvm::function_ref<SmallVector<Value>()> awaitNext) override {
    const int64_t steps = config.k * kind.elementBytes / kStepBytes;
    SmallVector<Value> now(first);
    for (int64_t step = 0; step < steps; ++step) {
      SmallVector<Value> next = step + 1 < steps ? load(stage, step + 1) : awaitNext();
      ArrayRef<Value> a = ArrayRef(now).take_front(rowFragments * 4), c = ArrayRef(now).drop_front(rowFragments * 4);
      for (int64_t i = 0; i < rowFragments; ++i)
        for (int64_t j = 0; j < columnFragments * 2; ++j)
          multiplyAdd(a.slice(i * 4, 4), c.slice(j * 2, 2), sums, place(i, j));
      now = next;
    }
    return now;
  }

  // Registers as the instruction wants them.
  SmallVector<Value> convert(SmallVector<Value> registers) {
    for (Value &value : registers) {
      if (kind.lhs == NVVM::MMATypes::f16)
        value = LLVM::BitcastOp::create(b, VectorType::get({2}, b.getF16Type()), value);
      if (kind.lhs == NVVM::MMATypes::tf32)
        value = roundToTF32(b, value);
    }
    return registers;
  }

  void multiplyAdd(ArrayRef<Value> a, ArrayRef<Value> c, SmallVectorImpl<Value> &sums, int64_t at) {
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, kind.accumulator));
    SmallVector<Value> before(sums.begin() + at, sums.begin() + at + 4);
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (kind.accumulator.isInteger())
      overflow = NVVM::MMAIntOverflow::wrapped;
    Value result = NVVM::MmaOp::create(b, type, a, c, before, ArrayRef<int64_t>{16, 8, kStepBytes / kind.elementBytes},
                                       std::nullopt, overflow, std::array<NVVM::MMATypes, 2>{kind.lhs, kind.rhs},
                                       std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (int64_t i = 0; i < 4; ++i)
      sums[at + i] = LLVM::ExtractValueOp::create(b, result, i);
  }

  const TileKernel &kernel;
  const MmaKind &kind;
  ImplicitLocOpBuilder &b;
  const TileConfig &config;
  TileLayout lhsLayout, rhsLayout;
  WarpPart part;
  FragmentLoader lhs, rhs;
  int64_t rowFragments, columnFragments;
};

} // namespace

void emitMmaSync(const TileKernel &kernel, const MmaKind &kind) {
  MmaSyncEmitter(kernel, kind).run();
}

} // namespace kiln
