#include "kiln/targets/cuda/codegen/contraction/TileKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

//===--- Integers -------------------------------------------------------------------------------------------------===//

Value Integers::constant(int64_t value) const {
  return arith::ConstantIntOp::create(b, type, value);
}
Value Integers::add(Value x, Value y) const {
  return b.createOrFold<arith::AddIOp>(x, y);
}
Value Integers::add(Value x, int64_t y) const {
  return y == 0 ? x : add(x, constant(y));
}
Value Integers::mul(Value x, Value y) const {
  return b.createOrFold<arith::MulIOp>(x, y);
}
Value Integers::mul(Value x, int64_t y) const {
  return mul(x, constant(y));
}
Value Integers::div(Value x, int64_t y) const {
  return b.createOrFold<arith::DivUIOp>(x, constant(y));
}
Value Integers::rem(Value x, int64_t y) const {
  return b.createOrFold<arith::RemUIOp>(x, constant(y));
}
Value Integers::bitXor(Value x, Value y) const {
  return b.createOrFold<arith::XOrIOp>(x, y);
}
Value Integers::bitXor(Value x, int64_t y) const {
  return y == 0 ? x : bitXor(x, constant(y));
}
Value Integers::bitAnd(Value x, int64_t y) const {
  return b.createOrFold<arith::AndIOp>(x, constant(y));
}
Value Integers::less(Value x, Value y) const {
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, x, y);
}
Value Integers::of(Value value) const {
  if (value.getType() == type)
    return value;
  if (value.getType().isIndex())
    return b.createOrFold<arith::IndexCastOp>(type, value);
  if (value.getType().getIntOrFloatBitWidth() < type.getWidth())
    return b.createOrFold<arith::ExtUIOp>(type, value);
  return b.createOrFold<arith::TruncIOp>(type, value);
}

//===--- TileKernel -----------------------------------------------------------------------------------------------===//

Value TileKernel::sharedAt(Value offset, int64_t distance) const {
  Value pointer = LLVM::GEPOp::create(b, shared.getType(), b.getI8Type(), shared, ValueRange{offset});
  if (distance == 0)
    return pointer;
  return LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{int32_t(distance)});
}

Value TileKernel::index(Value value) const {
  return b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), value);
}

void TileKernel::barrier() const {
  gpu::BarrierOp::create(b);
}

void TileKernel::where(Value condition, llvm::function_ref<void()> emit) const {
  if (!condition)
    return emit();
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emit();
}

bool TileKernel::isWhole(unsigned loop, int64_t tile) const {
  int64_t extent = group.extents[loop];
  tile *= loop == group.m ? config.clusterM : loop == group.n ? config.clusterN : loop == group.k ? config.clusterK : 1;
  return ShapedType::isStatic(extent) && extent % tile == 0;
}

//===--- TileLayout -----------------------------------------------------------------------------------------------===//

TileLayout TileLayout::asInput(const ContractionGroup &group, const ContractionGroup::Input &input, int64_t outer,
                               int64_t depth) {
  TileLayout layout;
  layout.isKInner = input.innermost() == group.k;
  layout.rows = layout.isKInner ? outer : depth;
  layout.rowElements = layout.isKInner ? depth : outer;
  layout.elementBytes = input.type().getElementTypeBitWidth() / 8;
  return layout;
}

int64_t TileLayout::panelBytes() const {
  return std::min<int64_t>(128, rowElements * elementBytes);
}

int64_t TileLayout::bytes() const {
  return rows * (rowElements * elementBytes + padding);
}

Value TileLayout::rowOffset(const Integers &i32, Value row) const {
  Value linear = i32.mul(row, panelBytes());
  // Fragments are 16 rows high, and so far the exchange must repeat; of rows of 32 bytes it does after 32.
  if (panelBytes() < 64)
    return linear;
  return i32.bitXor(linear, i32.bitAnd(i32.div(linear, 8), 0x70));
}

Value TileLayout::offset(const Integers &i32, Value row, Value column) const {
  if (!isSwizzled)
    return i32.add(i32.mul(row, rowElements * elementBytes + padding), column);
  Value inPanel = i32.bitXor(rowOffset(i32, row), i32.rem(column, panelBytes()));
  return i32.add(i32.mul(i32.div(column, panelBytes()), rows * panelBytes()), inPanel);
}

//===--- WarpPart -------------------------------------------------------------------------------------------------===//

WarpPart::WarpPart(const TileKernel &kernel) {
  const Integers &i32 = kernel.i32;
  const TileConfig &config = kernel.config;
  lane = i32.rem(kernel.thread, 32);
  warp = i32.div(kernel.thread, 32);
  int64_t warpsOfRow = config.n / config.columns;
  row = i32.mul(i32.div(warp, warpsOfRow), config.rows);
  column = i32.mul(i32.rem(warp, warpsOfRow), config.columns);
}

//===--- TileCopy -------------------------------------------------------------------------------------------------===//

// The conjunction, where null stands for what is always so.
static Value both(ImplicitLocOpBuilder &b, Value x, Value y) {
  return x && y ? arith::AndIOp::create(b, x, y).getResult() : x ? x : y;
}

int64_t alignmentOf(const ContractionGroup::Input &input) {
  MemRefType type = input.type();
  int64_t innermost = type.getShape().back(), bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  if (ShapedType::isDynamic(innermost))
    return bytes;
  int64_t distances = innermost * bytes;
  if (!type.getLayout().isIdentity()) {
    auto [strides, offset] = type.getStridesAndOffset();
    for (int64_t stride : ArrayRef(strides).drop_back())
      distances |= stride * bytes;
    distances |= offset * bytes;
  }
  return std::min<int64_t>(16, distances & -distances);
}

TileCopy::TileCopy(const TileKernel &kernel, const ContractionGroup::Input &input, unsigned loop,
                   const TileLayout &layout, int64_t offset)
    : kernel(kernel), layout(layout), start(offset), element(input.type().getElementType()) {
  ImplicitLocOpBuilder &b = kernel.b;
  const Integers &i64 = kernel.i64;
  const ContractionGroup &group = kernel.group;
  isKContiguous = input.innermost() == group.k;
  isTurned = isKContiguous != layout.isKInner;
  rowCount = isTurned ? layout.rowElements : layout.rows;
  rowLength = isTurned ? layout.rows : layout.rowElements;
  int64_t outer = isKContiguous ? rowCount : rowLength, depth = isKContiguous ? rowLength : rowCount;
  isOuterWhole = kernel.isWhole(loop, outer);
  isDepthWhole = kernel.isWhole(group.k, depth);

  bool isAligned = kernel.isAligned && ShapedType::isDynamic(input.type().getShape().back());
  int64_t alignment = isTurned ? layout.elementBytes : isAligned ? 16 : alignmentOf(input);
  async = alignment >= 4;
  // What is gathered goes to shared memory by words, so that neighbours are loaded by neighbours.
  int64_t bytes = async ? alignment : isTurned ? layout.elementBytes : std::max<int64_t>(4, layout.elementBytes);
  unit = bytes / layout.elementBytes;
  std::tie(row, column) = placeOfUnit(kernel.thread);

  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, input.memory);
  memory = LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global)),
      i64.of(address));
  // Strides of the input's dimensions, from the inside to the outside.
  const bool isStatic = input.type().hasStaticShape();
  SmallVector<int64_t> strides;
  int64_t first = 0;
  if (isStatic)
    std::tie(strides, first) = input.type().getStridesAndOffset();
  Value stride = i64.constant(1);
  origin = i64.constant(first);
  for (size_t dim = input.loops.size(); dim-- > 0;) {
    unsigned each = input.loops[dim];
    if (isStatic)
      stride = i64.constant(strides[dim]);
    if (each != group.k)
      origin = i64.add(origin, i64.mul(i64.of(kernel.origin[each]), stride));
    if (each == (isKContiguous ? loop : group.k))
      rowStride = stride;
    stride = i64.mul(stride, i64.of(kernel.extents[each]));
  }
  outerOrigin = i64.of(kernel.origin[loop]);
  outerExtent = i64.of(kernel.extents[loop]);
  depthExtent = i64.of(kernel.extents[group.k]);
  origin = i64.add(origin, i64.add(i64.mul(i64.of(row), rowStride), i64.of(column)));
}

std::pair<Value, Value> TileCopy::placeOfUnit(Value number) const {
  const Integers &i32 = kernel.i32;
  int64_t unitsOfRow = rowLength / unit;
  return {i32.div(number, unitsOfRow), i32.mul(i32.rem(number, unitsOfRow), unit)};
}

bool TileCopy::isInDepth(Value k) const {
  std::optional<int64_t> known = getConstantIntValue(k), extent = getConstantIntValue(depthExtent);
  return isDepthWhole || (known && extent && *known + kernel.config.k <= *extent);
}

TileCopy::Unit TileCopy::unitAt(Value k, int64_t number) const {
  ImplicitLocOpBuilder &b = kernel.b;
  const Integers &i32 = kernel.i32, &i64 = kernel.i64;
  Unit result;
  if (int64_t rest = units() - number * kernel.threads; rest < kernel.threads)
    result.isMine = i32.less(kernel.thread, i32.constant(rest));
  result.offset = i64.add(origin, isKContiguous ? k : i64.mul(k, rowStride));
  Value unitRow, unitColumn;
  if (int64_t unitsOfRow = rowLength / unit; kernel.threads % unitsOfRow && unitsOfRow % kernel.threads) {
    std::tie(unitRow, unitColumn) = placeOfUnit(i32.add(kernel.thread, number * kernel.threads));
    Value distance = i64.mul(i64.of(arith::SubIOp::create(b, unitRow, row)), rowStride);
    // The column may be before the thread's first one.
    Value across = arith::ExtSIOp::create(b, b.getI64Type(), arith::SubIOp::create(b, unitColumn, column));
    result.offset = i64.add(result.offset, i64.add(distance, across));
  } else {
    int64_t ahead = number * kernel.threads * unit;
    int64_t rowsAhead = ahead / rowLength, columnsAhead = ahead % rowLength;
    unitRow = i32.add(row, rowsAhead);
    unitColumn = i32.add(column, columnsAhead);
    result.offset = i64.add(result.offset, i64.add(i64.mul(rowStride, rowsAhead), columnsAhead));
  }

  Value outer = i64.add(outerOrigin, i64.of(isKContiguous ? unitRow : unitColumn));
  Value depth = i64.add(k, i64.of(isKContiguous ? unitColumn : unitRow));
  result.inner = isKContiguous ? depth : outer;
  // Units divide the rows of the input, so that their first element tells for all; but for what is gathered.
  if (!isOuterWhole && !(isGathered() && !isKContiguous))
    result.inside = i64.less(outer, outerExtent);
  if (!isInDepth(k) && !(isGathered() && isKContiguous))
    result.inside = both(b, result.inside, i64.less(depth, depthExtent));

  Value columnBytes = i32.mul(isTurned ? unitRow : unitColumn, layout.elementBytes);
  result.place = i32.add(layout.offset(i32, isTurned ? unitColumn : unitRow, columnBytes), start);
  return result;
}

void TileCopy::issue(Value stage, Value k) const {
  if (!async)
    return store(stage, load(k, Value()));
  ImplicitLocOpBuilder &b = kernel.b;
  int64_t bytes = unit * layout.elementBytes;
  for (int64_t number = 0; number * kernel.threads < units(); ++number) {
    Unit each = unitAt(k, number);
    kernel.where(each.isMine, [&] {
      Value offset = each.offset, size;
      if (each.inside) {
        offset = arith::SelectOp::create(b, each.inside, offset, kernel.i64.constant(0));
        size = arith::SelectOp::create(b, each.inside, kernel.i32.constant(bytes), kernel.i32.constant(0));
      }
      Value source = LLVM::GEPOp::create(b, memory.getType(), element, memory, ValueRange{offset});
      NVVM::CpAsyncOp::create(b, kernel.sharedAt(kernel.i32.add(stage, each.place)), source, bytes,
                              bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA, size);
    });
  }
}

int64_t TileCopy::elementsOfThread() const {
  return llvm::divideCeil(units(), kernel.threads) * unit;
}

// Loads an element at a byte's distance from `source`, or gives zero.
static Value loadWhere(ImplicitLocOpBuilder &b, Type element, Value source, int64_t distance, Value condition) {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Type loaded = b.getIntegerType(std::max<int64_t>(bytes, 4) * 8);
  std::string code =
      llvm::formatv("{{ .reg .pred p; setp.ne.b32 p, $2, 0; mov.b{0} $0, 0; @p ld.global.u{1} $0, [$1+{2}]; }",
                    loaded.getIntOrFloatBitWidth(), bytes * 8, distance);
  Value value = LLVM::InlineAsmOp::create(
                    b, loaded, ValueRange{source, b.createOrFold<arith::ExtUIOp>(b.getI32Type(), condition)}, code,
                    bytes == 8 ? "=l,l,r" : "=r,l,r",
                    /*has_side_effects=*/true,
                    /*is_align_stack=*/false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
                    .getResult(0);
  if (bytes < 4)
    value = arith::TruncIOp::create(b, b.getIntegerType(bytes * 8), value);
  return element.isInteger() ? value : arith::BitcastOp::create(b, element, value).getResult();
}

SmallVector<Value> TileCopy::load(Value k, Value exists) const {
  ImplicitLocOpBuilder &b = kernel.b;
  const Integers &i32 = kernel.i32, &i64 = kernel.i64;
  Value limit;
  if (isGathered() && !(isKContiguous ? isInDepth(k) : isOuterWhole))
    limit = isKContiguous ? depthExtent : outerExtent;
  SmallVector<Value> elements;
  for (int64_t number = 0; number * kernel.threads < units(); ++number) {
    Unit each = unitAt(k, number);
    Value isRead = both(b, both(b, each.inside, each.isMine), exists);
    Value source = LLVM::GEPOp::create(b, memory.getType(), element, memory, ValueRange{each.offset});
    Value rest; // how many of the unit's elements are there
    if (limit)
      rest = i32.of(arith::MinSIOp::create(b, arith::SubIOp::create(b, limit, each.inner), i64.constant(unit)));
    if (rest && isRead)
      rest = arith::SelectOp::create(b, isRead, rest, i32.constant(0));
    for (int64_t i = 0; i < unit; ++i) {
      Value condition = rest ? i32.less(i32.constant(i), rest) : isRead;
      elements.push_back(condition ? loadWhere(b, element, source, i * layout.elementBytes, condition)
                                   : LLVM::LoadOp::create(b, element,
                                                          LLVM::GEPOp::create(b, memory.getType(), element, source,
                                                                              ArrayRef<LLVM::GEPArg>{int32_t(i)}),
                                                          layout.elementBytes)
                                         .getResult());
    }
  }
  return elements;
}

void TileCopy::store(Value stage, ArrayRef<Value> elements) const {
  ImplicitLocOpBuilder &b = kernel.b;
  for (int64_t number = 0; number * kernel.threads < units(); ++number) {
    ArrayRef<Value> values = elements.slice(number * unit, unit);
    Unit each = unitAt(kernel.i64.constant(0), number);
    kernel.where(each.isMine, [&] {
      Value whole = values[0];
      if (unit > 1) {
        whole = LLVM::PoisonOp::create(b, VectorType::get({unit}, element));
        for (auto [i, value] : llvm::enumerate(values))
          whole = LLVM::InsertElementOp::create(b, whole, value, kernel.i32.constant(i));
      }
      LLVM::StoreOp::create(b, whole, kernel.sharedAt(kernel.i32.add(stage, each.place)), unit * layout.elementBytes);
    });
  }
}

} // namespace kiln
