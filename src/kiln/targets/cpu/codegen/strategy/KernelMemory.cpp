// Reading and writing operands at points of the register tile.
#include "kiln/targets/cpu/codegen/strategy/KernelBuilder.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

Value KernelBuilder::position(unsigned dim, Point point, int64_t lane) {
  if (isStepLoop(dim))
    return constant(point.step);
  int64_t offset = isVectorLoop(dim) ? point.vector * lanes + lane : isRowLoop(dim) ? point.row : 0;
  Value &known = positions[{dim, offset}];
  if (!known)
    known = add(dims[dim].base, offset);
  return known;
}

SmallVector<Value> KernelBuilder::indicesOf(AffineMap map, Point point, int64_t lane) {
  SmallVector<Value> indices, all;
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      indices.push_back(position(dim.getPosition(), point, lane));
      continue;
    }
    if (auto known = dyn_cast<AffineConstantExpr>(expr)) {
      indices.push_back(constant(known.getValue()));
      continue;
    }
    if (all.empty())
      for (unsigned dim = 0; dim < dims.size(); ++dim)
        all.push_back(map.isFunctionOfDim(dim) ? position(dim, point, lane) : constant(0));
    indices.push_back(affine::expandAffineExpr(builder, loc, expr, all, {}));
  }
  return indices;
}

Type KernelBuilder::argumentType(OpOperand &operand) {
  return op.getBlock()->getArgument(operand.getOperandNumber()).getType();
}

Value KernelBuilder::convertElements(Value value, Type wanted) {
  Type element = getElementTypeOrSelf(value.getType());
  if (element == wanted)
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  Type type = vector ? Type(vector.clone(wanted)) : wanted;
  if (element.getIntOrFloatBitWidth() > wanted.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, type, value);
  return arith::ExtUIOp::create(builder, loc, type, value);
}

Value KernelBuilder::maskOf(int64_t vector) const {
  return vector < static_cast<int64_t>(masks.size()) ? masks[vector] : Value();
}

Value KernelBuilder::loadVector(Value memory, ValueRange indices, Value mask) {
  auto type = VectorType::get(lanes, cast<MemRefType>(memory.getType()).getElementType());
  if (!mask)
    return vector::LoadOp::create(builder, loc, type, memory, indices);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return vector::MaskedLoadOp::create(builder, loc, type, memory, indices, mask, zero);
}

// The rows of a panel follow each other in memory, and processors look ahead less far than a row takes to be used.
void KernelBuilder::readAhead(Value panel, SmallVector<Value> indices) {
  constexpr int64_t distance = 4096; // bytes
  auto type = cast<MemRefType>(panel.getType());
  const int64_t rowBytes = type.getShape().back() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  Value &row = indices[indices.size() - 2];
  row = add(row, llvm::divideCeil(distance, rowBytes));
  memref::PrefetchOp::create(builder, loc, panel, indices, /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
}

// Tiles follow each other along the first dimension that they have more of than one.
void KernelBuilder::askForNextTile(Value tile, SmallVector<Value> indices) {
  ArrayRef<int64_t> shape = cast<MemRefType>(tile.getType()).getShape();
  const size_t dim = llvm::find_if(shape, [](int64_t extent) { return extent != 1; }) - shape.begin();
  if (dim + 1 >= shape.size())
    return;
  indices[dim] = add(indices[dim], shape[dim]);
  memref::PrefetchOp::create(builder, loc, tile, indices, /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
}

Value KernelBuilder::loadStrided(Value memory, AffineMap map, Point point) {
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane)
    elements.push_back(memref::LoadOp::create(builder, loc, memory, indicesOf(map, point, lane)));
  return vector::FromElementsOp::create(builder, loc, VectorType::get(lanes, elements[0].getType()), elements);
}

Value KernelBuilder::loadShuffled(OpOperand &operand, AffineMap map, Point point, int64_t stride) {
  int64_t last = (lanes - 1) * stride;
  auto type = VectorType::get(lanes, cast<MemRefType>(operand.get().getType()).getElementType());
  Value mask = maskOf(point.vector), result;
  for (int64_t begin = 0; begin <= last; begin += lanes) {
    int64_t start = std::min(begin, last + 1 - lanes);
    // The innermost dimension is the one that the loop runs along.
    SmallVector<Value> indices = indicesOf(map, point);
    indices.back() = add(indices.back(), start);
    Value loadMask;
    if (mask) {
      Value wanted = add(multiply(add(columnsLeft, -point.vector * lanes - 1), stride), 1 - start);
      loadMask = vector::CreateMaskOp::create(builder, loc, type.clone(builder.getI1Type()), wanted);
    }
    Value part = loadVector(operand.get(), indices, loadMask);
    if (begin == 0) {
      result = part;
      continue;
    }
    // What earlier parts gave stays, but that the first one has its elements where memory has them.
    SmallVector<int64_t> picks;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t offset = lane * stride, earlier = begin == lanes ? offset : lane;
      picks.push_back(offset < begin ? earlier : lanes + std::min(offset - start, lanes - 1));
    }
    result = vector::ShuffleOp::create(builder, loc, result, part, picks);
  }
  return result;
}

void KernelBuilder::loadInterleaved(OpOperand &operand, AffineMap map, Point point) {
  SmallVector<Value> parts;
  for (int64_t step = 0; step < plan.steps; ++step) {
    SmallVector<Value> indices = indicesOf(map, point);
    indices.back() = constant(step * lanes);
    parts.push_back(loadVector(operand.get(), indices, /*mask=*/Value()));
  }
  // By the lowest bit of the steps first.
  SmallVector<int64_t> even, odd;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
  }
  for (int64_t count = plan.steps; count > 1; count /= 2) {
    SmallVector<Value> taken(parts.size());
    for (int64_t from = 0, to = 0; from < plan.steps; from += 2, ++to) {
      taken[to] = vector::ShuffleOp::create(builder, loc, parts[from], parts[from + 1], even);
      taken[to + plan.steps / 2] = vector::ShuffleOp::create(builder, loc, parts[from], parts[from + 1], odd);
    }
    parts = std::move(taken);
  }
  for (auto [place, part] : llvm::enumerate(parts)) {
    LoadKey key(operand.getOperandNumber(), point.row, point.vector, place);
    loads[key] = convertElements(part, argumentType(operand));
  }
}

// Whether this one of the vectors of a row of a panel is the first in its line of the cache.
static bool startsLine(int64_t vector, Type type) {
  constexpr int64_t lineBits = 512;
  auto vectorType = cast<VectorType>(type);
  return vector * vectorType.getNumElements() * vectorType.getElementTypeBitWidth() % lineBits == 0;
}

Value KernelBuilder::load(OpOperand &operand, Point point) {
  Value memory = operand.get();
  if (!isa<MemRefType>(memory.getType()))
    return convertElements(memory, argumentType(operand));
  AffineMap map = op.getMatchingIndexingMap(&operand);
  bool byVector = plan.vectorLoop >= 0 && map.isFunctionOfDim(plan.vectorLoop);
  bool byRow = plan.rowLoop >= 0 && map.isFunctionOfDim(plan.rowLoop);
  bool byStep = plan.stepLoop >= 0 && map.isFunctionOfDim(plan.stepLoop);
  LoadKey key(operand.getOperandNumber(), byRow ? point.row : 0, byVector ? point.vector : 0, byStep ? point.step : 0);
  if (auto known = loads.find(key); known != loads.end())
    return known->second;

  Value value;
  if (static_cast<int>(operand.getOperandNumber()) == plan.packedOperand)
    value = loadVector(panels, packedIndices(point), /*mask=*/Value());
  else if (static_cast<int>(operand.getOperandNumber()) == plan.widenedOperand)
    value = memref::LoadOp::create(builder, loc, widened, ValueRange{position(plan.rowLoop, point), blockPosition()});
  else if (!byVector || lanes == 1)
    value = memref::LoadOp::create(builder, loc, memory, indicesOf(map, point));
  else if (strideAlong(op, operand, plan.vectorLoop) == 1) {
    SmallVector<Value> indices = indicesOf(map, point);
    value = loadVector(memory, indices, maskOf(point.vector));
    if (static_cast<int>(operand.getOperandNumber()) == plan.panelOperand && startsLine(point.vector, value.getType()))
      readAhead(memory, indices);
    if (llvm::is_contained(plan.lastReads, operand.getOperandNumber()) && startsLine(point.vector, value.getType()))
      askForNextTile(memory, indices);
  } else if (byStep) {
    loadInterleaved(operand, map, {byRow ? point.row : 0, point.vector});
    return loads[key];
  } else if (canTranspose(operand)) {
    loadTransposed(operand, map, point);
    return loads[key];
  } else if (plan.shuffles) {
    value = loadShuffled(operand, map, point, strideAlong(op, operand, plan.vectorLoop));
  } else
    value = loadStrided(memory, map, point);
  // The body takes wider floats as they are.
  if (!isa<FloatType>(getElementTypeOrSelf(value.getType())))
    value = convertElements(value, argumentType(operand));
  loads[key] = value;
  return value;
}

Value KernelBuilder::loadForEpilogue(OpOperand &operand, Point point) {
  if (!isa<MemRefType>(operand.get().getType()))
    return operand.get();
  AffineMap map = epilogue.maps[operand.getOperandNumber()];
  const bool byVector = map.isFunctionOfDim(plan.vectorLoop);
  const bool byRow = plan.rowLoop >= 0 && map.isFunctionOfDim(plan.rowLoop);
  // Its operands are numbered behind the other operation's.
  Value &value = loads[LoadKey(op->getNumOperands() + operand.getOperandNumber(), byRow ? point.row : 0,
                               byVector ? point.vector : 0, 0)];
  if (!value)
    value = byVector && lanes != 1 ? loadVector(operand.get(), indicesOf(map, point), maskOf(point.vector))
                                   : memref::LoadOp::create(builder, loc, operand.get(), indicesOf(map, point));
  return value;
}

void KernelBuilder::store(OpOperand &init, AffineMap map, Point point, Value value) {
  Value memory = init.get();
  value = payload.broadcast(value, lanes);
  value = convertElements(value, cast<MemRefType>(memory.getType()).getElementType());
  SmallVector<Value> indices = indicesOf(map, point);
  if (lanes == 1)
    memref::StoreOp::create(builder, loc, value, memory, indices);
  else if (Value mask = maskOf(point.vector))
    vector::MaskedStoreOp::create(builder, loc, memory, indices, mask, value);
  else
    vector::StoreOp::create(builder, loc, value, memory, indices);
}

void KernelBuilder::storeInterleaved(OpOperand &init, Point point, ArrayRef<Value> values) {
  SmallVector<Value> parts;
  for (Value value : values)
    parts.push_back(convertElements(payload.broadcast(value, lanes), getElementTypeOrSelf(init.get().getType())));
  // Lanes of two vectors by turns, as two vectors; those of steps that differ in the lowest bit last.
  SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    low.push_back(lane / 2 + lane % 2 * lanes);
    high.push_back((lane + lanes) / 2 + lane % 2 * lanes);
  }
  for (int64_t count = plan.steps; count > 1; count /= 2) {
    SmallVector<Value> joined;
    for (int64_t from = 0; from < plan.steps / 2; ++from)
      for (ArrayRef<int64_t> picks : {ArrayRef(low), ArrayRef(high)})
        joined.push_back(vector::ShuffleOp::create(builder, loc, parts[from], parts[from + plan.steps / 2], picks));
    parts = std::move(joined);
  }
  for (auto [place, part] : llvm::enumerate(parts)) {
    SmallVector<Value> indices = indicesOf(op.getMatchingIndexingMap(&init), point);
    indices.back() = constant(static_cast<int64_t>(place) * lanes);
    vector::StoreOp::create(builder, loc, part, init.get(), indices);
  }
}

//===--- Transposed blocks
//-----------------------------------------------------------------------------------------===//

bool KernelBuilder::canTranspose(OpOperand &operand) {
  return plan.rowLoop >= 0 && lanes == plan.lanes && dims[plan.rowLoop].count == lanes && llvm::isPowerOf2_64(lanes) &&
         strideAlong(op, operand, plan.rowLoop) == 1;
}

// Loads the square block of the point's vector along the rows, and turns it.
void KernelBuilder::loadTransposed(OpOperand &operand, AffineMap map, Point point) {
  SmallVector<Value> block;
  for (int64_t lane = 0; lane < lanes; ++lane)
    block.push_back(loadVector(operand.get(), indicesOf(map, {0, point.vector}, lane), /*mask=*/Value()));
  transpose(block);
  for (int64_t row = 0; row < lanes; ++row)
    loads[LoadKey(operand.getOperandNumber(), row, point.vector, 0)] =
        convertElements(block[row], argumentType(operand));
}

// Bit by bit of row and lane numbers: exchanges the elements that have the bit in one of the two only.
void KernelBuilder::transpose(SmallVector<Value> &block) {
  int64_t size = block.size();
  for (int64_t bit = 1; bit < size; bit *= 2) {
    SmallVector<int64_t> lower, upper;
    for (int64_t lane = 0; lane < size; ++lane) {
      lower.push_back(lane & bit ? size + (lane ^ bit) : lane);
      upper.push_back(lane & bit ? size + lane : lane | bit);
    }
    for (int64_t row = 0; row < size; ++row) {
      if (row & bit)
        continue;
      Value a = block[row], b = block[row | bit];
      block[row] = vector::ShuffleOp::create(builder, loc, a, b, lower);
      block[row | bit] = vector::ShuffleOp::create(builder, loc, a, b, upper);
    }
  }
}

} // namespace kiln
