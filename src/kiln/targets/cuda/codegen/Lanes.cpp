#include "kiln/targets/cuda/codegen/Lanes.h"

#include "kiln/compiler/Codegen/LoopBody.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace kiln {

//===--- What is known of addresses
//--------------------------------------------------------------------------------===//

// Numbers that are larger, or zero, count as multiples of this.
static constexpr int64_t largestDivisor = 1 << 20;

static int64_t limit(int64_t divisor) {
  divisor = std::abs(divisor);
  return divisor == 0 || divisor > largestDivisor ? largestDivisor : divisor;
}

// Of powers of two alone, since others do not matter to an address.
static int64_t powerIn(int64_t value) {
  return value == 0 ? largestDivisor : limit(value & -value);
}

static int64_t divisorOf(Value value);

static int64_t divisorOf(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return powerIn(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = divisorOf(binary.getLHS(), dims, symbols), rhs = divisorOf(binary.getRHS(), dims, symbols);
  if (expr.getKind() == AffineExprKind::Add || expr.getKind() == AffineExprKind::Mod)
    return std::min(lhs, rhs);
  return expr.getKind() == AffineExprKind::Mul ? limit(lhs * rhs) : 1;
}

static int64_t divisorOf(AffineMap map, ValueRange operands) {
  SmallVector<int64_t> divisors = llvm::map_to_vector(operands, [](Value value) { return divisorOf(value); });
  ArrayRef<int64_t> all = divisors;
  int64_t result = largestDivisor;
  for (AffineExpr expr : map.getResults())
    result = std::min(result, divisorOf(expr, all.take_front(map.getNumDims()), all.drop_front(map.getNumDims())));
  return result;
}

// The largest power of two that is known to divide an index.
static int64_t divisorOf(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return powerIn(*constant);
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto loop = dyn_cast<scf::ForOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
    bool isIndex = loop && loop.getInductionVar() == value;
    return isIndex ? std::min(divisorOf(loop.getLowerBound()), divisorOf(loop.getStep())) : 1;
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return divisorOf(apply.getMap(), apply.getMapOperands());
  if (auto min = dyn_cast<affine::AffineMinOp>(op))
    return divisorOf(min.getMap(), min.getMapOperands());
  if (isa<arith::MulIOp>(op))
    return limit(divisorOf(op->getOperand(0)) * divisorOf(op->getOperand(1)));
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return std::min(divisorOf(op->getOperand(0)), divisorOf(op->getOperand(1)));
  return 1;
}

static int64_t divisorOf(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return powerIn(*constant);
  return divisorOf(cast<Value>(value));
}

static SmallVector<int64_t> stridesOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    strides.assign(type.getRank(), ShapedType::kDynamic);
  return strides;
}

static int64_t divisorOfStride(int64_t stride) {
  return ShapedType::isDynamic(stride) ? 1 : powerIn(stride);
}

// Of the elements before the first one, from an address that is a multiple of a vector on.
static int64_t divisorOfOffset(Value memory) {
  Operation *op = memory.getDefiningOp();
  if (isa_and_nonnull<HAL::InterfaceBindingSubspanOp, memref::AllocOp, memref::AllocaOp>(op))
    return largestDivisor;
  if (isa_and_nonnull<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
    return divisorOfOffset(op->getOperand(0));
  auto view = dyn_cast_or_null<memref::SubViewOp>(op);
  if (!view)
    return 1;
  int64_t divisor = divisorOfOffset(view.getSource());
  for (auto [offset, stride] : llvm::zip(view.getMixedOffsets(), stridesOf(view.getSourceType())))
    divisor = std::min(divisor, limit(divisorOf(offset) * divisorOfStride(stride)));
  return divisor;
}

int64_t alignedElements(Value memory, int64_t most) {
  auto type = cast<MemRefType>(memory.getType());
  int64_t divisor = std::min<int64_t>(most, divisorOfOffset(memory));
  bool hasUnit = false;
  for (auto [extent, stride] : llvm::zip(type.getShape(), stridesOf(type))) {
    if (extent == 1)
      continue;
    if (stride == 1 && !hasUnit)
      hasUnit = true;
    else
      divisor = std::min(divisor, divisorOfStride(stride));
  }
  return divisor;
}

std::optional<unsigned> innermostLoop(AffineMap map, ArrayRef<int64_t> extents) {
  for (AffineExpr expr : llvm::reverse(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return std::nullopt;
    if (extents[dim.getPosition()] != 1)
      return dim.getPosition();
  }
  return std::nullopt;
}

int64_t bytesOfElement(Type element) {
  if (element.isIndex())
    return 8;
  if (!element.isIntOrFloat())
    return 0;
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return llvm::isPowerOf2_64(bytes) ? bytes : 0;
}

Along alongLoop(linalg::LinalgOp op, OpOperand &operand, unsigned loop) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return Along::Nothing;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isFunctionOfDim(loop))
    return Along::Nothing;
  Along along = Along::Other;
  for (auto [expr, stride] : llvm::zip(map.getResults(), stridesOf(type))) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (along == Along::Vector || !isa<AffineDimExpr>(expr) || stride != 1)
      return Along::Other;
    along = Along::Vector;
  }
  return along;
}

std::optional<int64_t> boundOf(OpFoldResult extent) {
  if (std::optional<int64_t> known = getConstantIntValue(extent))
    return known;
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, ValueBoundsConstraintSet::Variable(cast<Value>(extent)), /*stopCondition=*/nullptr,
      /*closedUB=*/true);
  return succeeded(bound) ? std::optional<int64_t>(std::max<int64_t>(*bound, 0)) : std::nullopt;
}

std::optional<FullTile> FullTile::of(OpBuilder &b, linalg::LinalgOp op) {
  FullTile tile;
  LaneEmitter emitter(b, op);
  auto kinds = op.getIteratorTypesArray();
  for (auto [loop, range] : llvm::enumerate(op.createLoopRanges(b, op.getLoc()))) {
    if (!getConstantIntValue(range.size) && kinds[loop] == utils::IteratorType::reduction) {
      tile.extents.push_back(ShapedType::kDynamic);
      continue;
    }
    std::optional<int64_t> bound = boundOf(range.size);
    if (!bound || *bound == 0)
      return std::nullopt;
    tile.extents.push_back(*bound);
    if (!getConstantIntValue(range.size)) {
      Value isBound = arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::eq, cast<Value>(range.size),
                                            emitter.index(*bound));
      tile.isFull = emitter.both(tile.isFull, isBound);
    }
  }
  return tile;
}

//===--- Arithmetic
//------------------------------------------------------------------------------------------------===//

Value LaneEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value LaneEmitter::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y, arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
}

Value LaneEmitter::multiply(Value x, int64_t y) {
  if (y == 1)
    return x;
  return arith::MulIOp::create(b, loc, x, index(y),
                               arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
}

std::pair<Value, Value> LaneEmitter::divide(Value number, int64_t divisor, int64_t bound) {
  if (divisor == 1)
    return {number, index(0)};
  if (bound <= divisor)
    return {index(0), number};
  bool isNarrow = bound <= INT32_MAX;
  Type i32 = b.getI32Type();
  Value by = index(divisor);
  if (isNarrow) {
    number = arith::IndexCastUIOp::create(b, loc, i32, number);
    by = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(divisor));
  }
  Value quotient = arith::DivUIOp::create(b, loc, number, by), remainder = arith::RemUIOp::create(b, loc, number, by);
  if (isNarrow) {
    quotient = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), quotient);
    remainder = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), remainder);
  }
  return {quotient, remainder};
}

SmallVector<Value> LaneEmitter::decode(Value number, ArrayRef<int64_t> extents) {
  SmallVector<Value> indices(extents.size());
  int64_t bound = 1;
  for (int64_t extent : extents)
    bound *= extent;
  for (size_t i = extents.size(); i-- > 0;) {
    if (i == 0) {
      indices[i] = number;
      break;
    }
    std::tie(number, indices[i]) = divide(number, extents[i], bound);
    bound /= extents[i];
  }
  return indices;
}

void LaneEmitter::where(Value condition, llvm::function_ref<void()> emit) {
  if (!condition)
    return emit();
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emit();
}

Value LaneEmitter::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

//===--- Memory
//----------------------------------------------------------------------------------------------------===//

SmallVector<Value> LaneEmitter::place(AffineMap map, ArrayRef<Value> ivs) {
  SmallVector<Value> known(ivs);
  for (Value &iv : known)
    iv = iv ? iv : index(0);
  SmallVector<Value> indices;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    indices.push_back(
        dim ? known[dim.getPosition()]
            : affine::AffineApplyOp::create(b, loc, AffineMap::get(map.getNumDims(), 0, expr), known).getResult());
  }
  return indices;
}

bool LaneEmitter::isVector(OpOperand &operand, unsigned along, int64_t count) {
  return count > 1 && alongLoop(op, operand, along) == Along::Vector && alignedElements(operand.get(), count) == count;
}

static llvm::Align alignmentOf(VectorType type) {
  return llvm::Align(std::min(accessBytes, type.getNumElements() * bytesOfElement(type.getElementType())));
}

SmallVector<Value> LaneEmitter::loadAt(Value memory, ArrayRef<Value> indices, int64_t count) {
  if (count == 1)
    return {memref::LoadOp::create(b, loc, memory, indices)};
  auto type = VectorType::get({count}, cast<MemRefType>(memory.getType()).getElementType());
  Value whole = vector::LoadOp::create(b, loc, type, memory, indices, /*nontemporal=*/false, alignmentOf(type));
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < count; ++lane)
    values.push_back(vector::ExtractOp::create(b, loc, whole, lane));
  return values;
}

void LaneEmitter::storeAt(Value memory, ArrayRef<Value> indices, ArrayRef<Value> values) {
  if (values.size() == 1) {
    memref::StoreOp::create(b, loc, values.front(), memory, indices);
    return;
  }
  auto type = VectorType::get({int64_t(values.size())}, values.front().getType());
  Value whole = vector::FromElementsOp::create(b, loc, type, values);
  vector::StoreOp::create(b, loc, whole, memory, indices, /*nontemporal=*/false, alignmentOf(type));
}

SmallVector<Value> LaneEmitter::load(OpOperand &operand, ArrayRef<Value> ivs, unsigned along, int64_t count) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return SmallVector<Value>(count, operand.get());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (isVector(operand, along, count))
    return loadAt(operand.get(), place(map, ivs), count);
  SmallVector<Value> values;
  SmallVector<Value> step(ivs);
  for (int64_t lane = 0; lane < count; ++lane) {
    if (lane > 0 && alongLoop(op, operand, along) == Along::Nothing) {
      values.push_back(values.front());
      continue;
    }
    if (lane > 0)
      step[along] = add(ivs[along], index(lane));
    values.push_back(memref::LoadOp::create(b, loc, operand.get(), place(map, step)));
  }
  return values;
}

void LaneEmitter::store(OpOperand &init, ArrayRef<Value> values, ArrayRef<Value> ivs, unsigned along) {
  int64_t count = values.size();
  AffineMap map = op.getMatchingIndexingMap(&init);
  if (isVector(init, along, count))
    return storeAt(init.get(), place(map, ivs), values);
  SmallVector<Value> step(ivs);
  for (auto [lane, value] : llvm::enumerate(values)) {
    if (lane > 0)
      step[along] = add(ivs[along], index(lane));
    memref::StoreOp::create(b, loc, value, init.get(), place(map, step));
  }
}

//===--- Bodies
//----------------------------------------------------------------------------------------------------===//

int64_t LaneEmitter::bodySize() {
  int64_t size = 0;
  op.getBlock()->walk([&](Operation *) { ++size; });
  return size;
}

SmallVector<Value> LaneEmitter::emitBody(ArrayRef<Value> operands, ArrayRef<Value> ivs) {
  return cloneLoopBody(b, op, operands, [&](unsigned loop) { return ivs[loop]; });
}

SmallVector<Value> LaneEmitter::emitLane(ArrayRef<Value> operands, ArrayRef<Value> ivs, unsigned along, int64_t lane) {
  SmallVector<Value> step(ivs);
  if (lane > 0 && op.hasIndexSemantics())
    step[along] = add(ivs[along], index(lane));
  return emitBody(operands, step);
}

Value LaneEmitter::shuffle(Value value, int64_t distance) {
  Type type = value.getType();
  auto move = [&](Value word) {
    return gpu::ShuffleOp::create(b, loc, word, distance, /*width=*/32, gpu::ShuffleMode::XOR).getShuffleResult();
  };
  if (type.isF32() || type.isInteger(32))
    return move(value);
  if (type.isIndex()) {
    Value word = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
    return arith::IndexCastOp::create(b, loc, type, shuffle(word, distance));
  }
  Type integer = b.getIntegerType(type.getIntOrFloatBitWidth());
  if (type != integer) {
    Value bits = arith::BitcastOp::create(b, loc, integer, value);
    return arith::BitcastOp::create(b, loc, type, shuffle(bits, distance));
  }
  Type i32 = b.getI32Type();
  if (integer.getIntOrFloatBitWidth() < 32)
    return arith::TruncIOp::create(b, loc, type, move(arith::ExtUIOp::create(b, loc, i32, value)));
  // i64, in two words.
  Value half = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
  Value low = move(arith::TruncIOp::create(b, loc, i32, value));
  Value high = move(arith::TruncIOp::create(b, loc, i32, arith::ShRUIOp::create(b, loc, value, half)));
  high = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, type, high), half);
  return arith::OrIOp::create(b, loc, arith::ExtUIOp::create(b, loc, type, low), high);
}

Value LaneEmitter::combineLanes(Operation *combiner, Value value, int64_t from, int64_t to) {
  for (int64_t distance = from; distance < to; distance *= 2)
    value = cloneCombiner(b, combiner, value, shuffle(value, distance));
  return value;
}

} // namespace kiln
