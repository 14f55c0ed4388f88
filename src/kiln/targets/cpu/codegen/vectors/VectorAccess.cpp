#include "kiln/targets/cpu/codegen/vectors/VectorAccess.h"

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

VectorAccess::VectorAccess(Operation *op) : loc(op->getLoc()) {
  auto trailing = [&](VectorType vectorType, Value base) {
    type = vectorType;
    memref = base;
    int64_t rank = cast<MemRefType>(base.getType()).getRank();
    for (int64_t d = 0; d < type.getRank(); ++d)
      dimensions.push_back(rank - type.getRank() + d);
    inBounds.assign(type.getRank(), true);
  };
  auto transfer = [&](VectorTransferOpInterface xfer) {
    type = xfer.getVectorType();
    memref = xfer.getBase();
    indices = llvm::to_vector(xfer.getIndices());
    for (auto [d, result] : llvm::enumerate(xfer.getPermutationMap().getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(result);
      dimensions.push_back(dim ? static_cast<int64_t>(dim.getPosition()) : -1);
      inBounds.push_back(!dim || xfer.isDimInBounds(d));
    }
    mask = xfer.getMask();
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](vector::TransferReadOp read) {
        transfer(cast<VectorTransferOpInterface>(op));
        if (!read.getPadding().getDefiningOp<ub::PoisonOp>())
          padding = read.getPadding();
      })
      .Case([&](vector::TransferWriteOp) { transfer(cast<VectorTransferOpInterface>(op)); })
      .Case([&](vector::LoadOp load) {
        trailing(load.getVectorType(), load.getBase());
        indices = llvm::to_vector(load.getIndices());
      })
      .Case([&](vector::StoreOp store) {
        trailing(store.getVectorType(), store.getBase());
        indices = llvm::to_vector(store.getIndices());
      })
      .Case([&](vector::MaskedLoadOp load) {
        trailing(load.getVectorType(), load.getBase());
        indices = llvm::to_vector(load.getIndices());
        mask = load.getMask();
        passThrough = load.getPassThru();
      })
      .Case([&](vector::MaskedStoreOp store) {
        trailing(store.getVectorType(), store.getBase());
        indices = llvm::to_vector(store.getIndices());
        mask = store.getMask();
      });
  walked = lastLongDimension(type.getShape());
  if (walked >= 0 && dimensions[walked] >= 0) {
    auto memrefType = cast<MemRefType>(memref.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    contiguous = succeeded(memrefType.getStridesAndOffset(strides, offset)) && strides[dimensions[walked]] == 1;
  }
}

bool VectorAccess::isPlain() const {
  return !mask && llvm::all_of(inBounds, [](bool in) { return in; });
}

SmallVector<OpFoldResult> VectorAccess::positionOf(Builder &builder, int64_t element) const {
  return getAsIndexOpFoldResult(builder.getContext(), delinearize(element, type.getShape()));
}

static Value addIndex(OpBuilder &b, Location loc, Value base, OpFoldResult offset) {
  std::optional<int64_t> constant = getConstantIntValue(offset);
  if (constant == 0)
    return base;
  Value value = constant ? arith::ConstantIndexOp::create(b, loc, *constant).getResult() : cast<Value>(offset);
  return b.createOrFold<arith::AddIOp>(loc, base, value);
}

SmallVector<Value> VectorAccess::indicesAt(OpBuilder &b, ArrayRef<OpFoldResult> position) const {
  SmallVector<Value> at = indices;
  for (auto [d, dimension] : llvm::enumerate(dimensions))
    if (dimension >= 0)
      at[dimension] = addIndex(b, loc, at[dimension], position[d]);
  return at;
}

// In memory an i1 is a byte, 0 or 1, while a vector of i1 has a bit for each.
static Type inMemory(Type elementType) {
  return elementType.isInteger(1) ? IntegerType::get(elementType.getContext(), 8) : elementType;
}

Value VectorAccess::memory(OpBuilder &b) const {
  auto memrefType = cast<MemRefType>(memref.getType());
  Type stored = inMemory(memrefType.getElementType());
  if (stored == memrefType.getElementType())
    return memref;
  Type bytes = static_cast<MemRefType>(MemRefType::Builder(memrefType).setElementType(stored));
  return UnrealizedConversionCastOp::create(b, loc, bytes, memref).getResult(0);
}

static Value fromMemory(OpBuilder &b, Location loc, Value value, Type elementType) {
  if (!elementType.isInteger(1))
    return value;
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
}

static Value toMemory(OpBuilder &b, Location loc, Value value) {
  auto vectorType = cast<VectorType>(value.getType());
  Type stored = inMemory(vectorType.getElementType());
  if (stored == vectorType.getElementType())
    return value;
  return arith::ExtUIOp::create(b, loc, vectorType.clone(stored), value);
}

// The lanes that are in bounds and not masked off; null where all are.
Value VectorAccess::laneMask(VectorSplitter &splitter, ArrayRef<OpFoldResult> position, ValueRange at,
                             int64_t length) const {
  if (isPlain())
    return {};
  OpBuilder &b = splitter.builder();
  Value condition, count;
  for (auto [d, dimension] : llvm::enumerate(dimensions)) {
    if (inBounds[d] || dimension < 0)
      continue;
    Value bound = b.createOrFold<memref::DimOp>(loc, memref, dimension);
    Value rest = b.createOrFold<arith::SubIOp>(loc, bound, at[dimension]);
    std::optional<int64_t> known = getConstantIntValue(rest);
    bool isWalked = static_cast<int64_t>(d) == walked;
    if (known && *known >= (isWalked ? length : 1))
      continue;
    if (isWalked) {
      count = rest;
      continue;
    }
    Value inside = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, at[dimension], bound);
    condition = condition ? arith::AndIOp::create(b, loc, condition, inside).getResult() : inside;
  }

  Value result;
  if (count) {
    if (condition) {
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      count = arith::SelectOp::create(b, loc, condition, count, zero);
    }
    result = splitter.maskOfFirst(loc, count, length);
  } else if (condition) {
    result = splitter.splat(condition, length);
  }
  if (!mask)
    return result;

  // A mask has a dimension for each one that is walked, in the memref's order, which is the vector's own.
  SmallVector<int64_t> maskPosition, maskShape;
  for (auto [d, dimension] : llvm::enumerate(dimensions)) {
    if (dimension < 0)
      continue;
    maskPosition.push_back(*getConstantIntValue(position[d]));
    maskShape.push_back(type.getDimSize(d));
  }
  int64_t element = linearize(maskPosition, maskShape);
  Value lanes = repeats() ? splitter.splat(splitter.scalar(mask, element), length)
                          : splitter.piece(mask, splitter.layout(mask).locate(element).first);
  return result ? arith::AndIOp::create(b, loc, result, lanes).getResult() : lanes;
}

// How far each lane lies from the first, in elements.
Value VectorAccess::strideVector(OpBuilder &b, int64_t length) const {
  std::optional<int64_t> known = getConstantIntValue(stride(b));
  SmallVector<int64_t> steps;
  for (int64_t i = 0; i < length; ++i)
    steps.push_back(i * known.value_or(1));
  // 32-bit distances gather twice as fast.
  if (known && steps.back() <= INT32_MAX) {
    SmallVector<int32_t> narrow(steps.begin(), steps.end());
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(VectorType::get({length}, b.getI32Type()), ArrayRef<int32_t>(narrow)));
  }
  auto vectorType = VectorType::get({length}, b.getI64Type());
  Value vector = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vectorType, ArrayRef<int64_t>(steps)));
  if (known)
    return vector;
  Value dynamic = arith::IndexCastOp::create(b, loc, b.getI64Type(), cast<Value>(stride(b)));
  return arith::MulIOp::create(b, loc, vector, vector::BroadcastOp::create(b, loc, vectorType, dynamic));
}

// Of the dimension that is walked.
OpFoldResult VectorAccess::stride(OpBuilder &b) const {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  return metadata.getConstifiedMixedStrides()[dimensions[walked]];
}

// The elements that are walked, as a contiguous memref: that of the access where it has them in its last dimension, and
// else one of one dimension, which begins at the first. Indices change with it.
Value VectorAccess::contiguousMemory(OpBuilder &b, SmallVectorImpl<Value> &at) const {
  Value base = memory(b);
  if (contiguous && dimensions[walked] == cast<MemRefType>(base.getType()).getRank() - 1)
    return base;
  return flatMemory(b, base, at);
}

// A memref of one dimension and stride 1 that begins at an element.
Value VectorAccess::flatMemory(OpBuilder &b, Value base, SmallVectorImpl<Value> &at) const {
  auto type = cast<MemRefType>(base.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, base);
  Value start = getValueOrCreateConstantIndexOp(b, loc, metadata.getConstifiedMixedOffset());
  for (auto [index, stride] : llvm::zip(at, metadata.getConstifiedMixedStrides())) {
    Value distance = b.createOrFold<arith::MulIOp>(loc, index, getValueOrCreateConstantIndexOp(b, loc, stride));
    start = b.createOrFold<arith::AddIOp>(loc, start, distance);
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  // How far it extends does not matter: what is beyond is masked off.
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1});
  auto flat = MemRefType::get({1}, type.getElementType(), layout, type.getMemorySpace());
  at.assign({zero});
  return memref::ReinterpretCastOp::create(b, loc, flat, metadata.getBaseBuffer(), OpFoldResult(start),
                                           {OpFoldResult(b.getIndexAttr(1))}, {OpFoldResult(b.getIndexAttr(1))});
}

Value VectorAccess::loadScalar(VectorSplitter &splitter, ArrayRef<OpFoldResult> position) const {
  assert(isPlain() && "an element that may not be there is read under a mask");
  OpBuilder &b = splitter.builder();
  return memref::LoadOp::create(b, loc, memref, indicesAt(b, position));
}

Value VectorAccess::loadPiece(VectorSplitter &splitter, ArrayRef<OpFoldResult> position, int64_t length) const {
  OpBuilder &b = splitter.builder();
  Type elementType = type.getElementType();
  auto pieceType = VectorType::get({length}, elementType);
  SmallVector<Value> at = indicesAt(b, position);
  int64_t loadedLength = repeats() ? 1 : length;
  auto loadedType = VectorType::get({loadedLength}, inMemory(elementType));
  Value lanes = laneMask(splitter, position, at, loadedLength);
  Value loaded;
  if (!lanes && loadedLength == 1) {
    return vector::BroadcastOp::create(b, loc, pieceType, memref::LoadOp::create(b, loc, memref, at));
  } else if (!lanes && contiguous) {
    Value base = contiguousMemory(b, at);
    loaded = vector::LoadOp::create(b, loc, loadedType, base, at);
  } else if (!lanes) {
    // On most CPUs as fast as a gather, or faster.
    SmallVector<Value> elements;
    for (int64_t i = 0; i < length; ++i)
      elements.push_back(memref::LoadOp::create(b, loc, memref, indicesAt(b, lanePosition(b, position, i))));
    return vector::FromElementsOp::create(b, loc, pieceType, elements);
  } else {
    Value otherwise;
    if (passThrough) {
      int64_t element = linearize(*getConstantIntValues(position), type.getShape());
      otherwise = toMemory(b, loc, splitter.piece(passThrough, splitter.layout(passThrough).locate(element).first));
    } else if (padding) {
      otherwise = toMemory(b, loc, splitter.splat(padding, loadedLength));
    } else {
      otherwise = ub::PoisonOp::create(b, loc, loadedType);
    }
    // A single element is its own vector, wherever it lies.
    Value base = loadedLength == 1 ? flatMemory(b, memory(b), at) : contiguousMemory(b, at);
    if (contiguous || loadedLength == 1)
      loaded = vector::MaskedLoadOp::create(b, loc, loadedType, base, at, lanes, otherwise);
    else
      loaded = vector::GatherOp::create(b, loc, loadedType, base, at, strideVector(b, length), lanes, otherwise);
  }
  loaded = fromMemory(b, loc, loaded, elementType);
  if (loadedLength != length) {
    Value element = vector::ExtractOp::create(b, loc, loaded, ArrayRef<int64_t>{0});
    loaded = vector::BroadcastOp::create(b, loc, pieceType, element);
  }
  return loaded;
}

void VectorAccess::storePiece(VectorSplitter &splitter, ArrayRef<OpFoldResult> position, Value piece) const {
  OpBuilder &b = splitter.builder();
  int64_t length = cast<VectorType>(piece.getType()).getDimSize(0);
  SmallVector<Value> at = indicesAt(b, position);
  Value lanes = laneMask(splitter, position, at, length);
  if (!lanes && (length == 1 || !contiguous)) {
    for (int64_t i = 0; i < length; ++i) {
      Value element = vector::ExtractOp::create(b, loc, piece, ArrayRef<int64_t>{i});
      memref::StoreOp::create(b, loc, element, memref, indicesAt(b, lanePosition(b, position, i)));
    }
    return;
  }
  Value bits = toMemory(b, loc, piece);
  Value base = length == 1 ? flatMemory(b, memory(b), at) : contiguousMemory(b, at);
  if (!lanes)
    vector::StoreOp::create(b, loc, bits, base, at);
  else if (contiguous || length == 1)
    vector::MaskedStoreOp::create(b, loc, base, at, lanes, bits);
  else
    vector::ScatterOp::create(b, loc, /*resultType=*/Type(), base, at, strideVector(b, length), lanes, bits);
}

// The position of a lane of the piece that starts there.
SmallVector<OpFoldResult> VectorAccess::lanePosition(OpBuilder &b, ArrayRef<OpFoldResult> position,
                                                     int64_t lane) const {
  SmallVector<OpFoldResult> result(position);
  if (lane == 0)
    return result;
  if (std::optional<int64_t> start = getConstantIntValue(position[walked]))
    result[walked] = b.getIndexAttr(*start + lane);
  else
    result[walked] = addIndex(b, loc, cast<Value>(position[walked]), b.getIndexAttr(lane));
  return result;
}

//===--- Overlap --------------------------------------------------------------------------------------------------===//

bool mayOverlap(Value memrefA, Value memrefB) {
  enum class Kind { Binding, Own, Argument, Unknown };
  auto rootOf = [](Value memref) {
    while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
      memref = view.getViewSource();
    return memref;
  };
  auto kindOf = [](Value root) {
    if (root.getDefiningOp<HAL::InterfaceBindingSubspanOp>())
      return Kind::Binding;
    if (isa_and_nonnull<memref::AllocaOp, memref::AllocOp, memref::GetGlobalOp>(root.getDefiningOp()))
      return Kind::Own;
    auto argument = dyn_cast<BlockArgument>(root);
    return argument && isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) &&
                   argument.getOwner()->isEntryBlock()
               ? Kind::Argument
               : Kind::Unknown;
  };
  Value a = rootOf(memrefA), b = rootOf(memrefB);
  Kind kindA = kindOf(a), kindB = kindOf(b);
  if (a == b || kindA == Kind::Unknown || kindB == Kind::Unknown)
    return true;
  // One of the two is written, and a binding that is written overlaps no other.
  if (kindA == Kind::Binding && kindB == Kind::Binding)
    return a.getDefiningOp<HAL::InterfaceBindingSubspanOp>().getBinding() ==
           b.getDefiningOp<HAL::InterfaceBindingSubspanOp>().getBinding();
  return kindA == Kind::Argument && kindB == Kind::Argument;
}

} // namespace kiln
