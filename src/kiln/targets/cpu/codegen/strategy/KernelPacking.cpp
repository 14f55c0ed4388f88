// Contractions in blocks of their reduction, with an operand copied into panels for each block.
#include "kiln/targets/cpu/codegen/strategy/KernelBuilder.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

// The loops that the packed operand needs are outside of the blocks.
bool KernelBuilder::startsBlocks(unsigned level) {
  if (plan.packedOperand < 0 || level == plan.parallelLoops.size())
    return true;
  unsigned dim = plan.parallelLoops[level];
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(plan.packedOperand));
  return isVectorLoop(dim) || isRowLoop(dim) || !map.isFunctionOfDim(dim);
}

void KernelBuilder::emitBlocks(unsigned level) {
  inBlock = true;
  Value upper = extent(plan.blockedLoop);
  // Sums that start in registers have to be stored even where there is nothing to sum up.
  Value last = upper;
  bool startInRegisters = llvm::any_of(initialValues, [](Value value) { return value != nullptr; });
  if (startInRegisters && !getConstantIntValue(upper))
    last = arith::MaxSIOp::create(builder, loc, upper, constant(1));
  loop(constant(0), last, plan.block, {}, [&](Value iv, ValueRange) {
    blockStart = iv;
    blockEnd = minimum(add(iv, plan.block), upper);
    firstBlock = Value();
    if (!getConstantIntValue(iv))
      firstBlock = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, iv, constant(0));
    if (plan.packedOperand >= 0)
      pack(iv);
    if (plan.widenedOperand >= 0)
      widenRows();
    emitParallel(level);
    return Values();
  });
  inBlock = false;
}

// The reductions beside the blocked one: the pixels of a convolution's filters.
SmallVector<unsigned> KernelBuilder::tapLoops() const {
  SmallVector<unsigned> taps;
  for (unsigned loop : plan.reductionLoops)
    if (static_cast<int>(loop) != plan.blockedLoop)
      taps.push_back(loop);
  return taps;
}

// Panels lie one after the other; in a panel, what is used together lies together: [panel][taps...][depth][column].
SmallVector<Value> KernelBuilder::packedIndices(Point point) {
  Value &panel = positions[{kOfBlock, 0}];
  if (!panel)
    panel = divide(dims[plan.vectorLoop].base, panelWidth());
  SmallVector<Value> indices = {panel};
  for (unsigned tap : tapLoops())
    indices.push_back(position(tap, point));
  indices.append({blockPosition(), constant(point.vector * plan.lanes)});
  return indices;
}

Value KernelBuilder::blockPosition() {
  Value &depth = positions[{kOfBlock, 1}];
  if (!depth)
    depth = subtract(dims[plan.blockedLoop].base, blockStart);
  return depth;
}

Value KernelBuilder::widen(Value value, OpOperand &operand) {
  FloatType wider = widerTypeOf(op, operand);
  if (!wider)
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  return arith::ExtFOp::create(builder, loc, vector ? Type(vector.clone(wider)) : wider, value);
}

// Each row keeps its place, and so does each depth of the block.
void KernelBuilder::widenRows() {
  OpOperand &operand = op->getOpOperand(plan.widenedOperand);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!widened) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(anchor);
    auto type = MemRefType::get({std::max<int64_t>(1, plan.widenedRows), plan.block}, widerTypeOf(op, operand));
    widened = memref::AllocOp::create(builder, loc, type, builder.getI64IntegerAttr(64));
  }
  loop(constant(0), extent(plan.rowLoop), 1, {}, [&](Value row, ValueRange) {
    dims[plan.rowLoop] = {row, 1};
    Value whole = fullEnd(blockStart, blockEnd, plan.lanes);
    const auto copy = [&](Value from, Value to, int64_t step) {
      lanes = step;
      loop(from, to, step, {}, [&](Value iv, ValueRange) {
        dims[plan.blockedLoop] = {iv, 1};
        SmallVector<Value> source = indicesOf(map, {}), target = {row, blockPosition()};
        if (lanes == 1) {
          Value element = memref::LoadOp::create(builder, loc, operand.get(), source);
          memref::StoreOp::create(builder, loc, widen(element, operand), widened, target);
        } else {
          Value elements = loadVector(operand.get(), source, /*mask=*/Value());
          vector::StoreOp::create(builder, loc, widen(elements, operand), widened, target);
        }
        return Values();
      });
    };
    copy(blockStart, whole, plan.lanes);
    copy(whole, blockEnd, 1);
    lanes = plan.lanes;
    return Values();
  });
}

void KernelBuilder::pack(Value blockStart) {
  OpOperand &operand = op->getOpOperand(plan.packedOperand);
  bool turned = strideAlong(op, operand, plan.vectorLoop) != 1;
  if (!panels) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(anchor);
    int64_t count = std::max<int64_t>(1, llvm::divideCeil(plan.packedExtent, panelWidth()));
    int64_t depth = turned ? llvm::alignTo(plan.block, plan.lanes) : plan.block;
    SmallVector<int64_t> shape = {count};
    for (unsigned tap : tapLoops())
      shape.push_back(*getConstantIntValue(extents[tap]));
    shape.append({depth, panelWidth()});
    Type element = cast<MemRefType>(operand.get().getType()).getElementType();
    if (FloatType wider = widerTypeOf(op, operand))
      element = wider;
    auto type = MemRefType::get(shape, element);
    panels = memref::AllocOp::create(builder, loc, type, builder.getI64IntegerAttr(64));
  }
  emitVectorSegments([&] {
    if (turned)
      packTurned(operand, blockStart);
    else
      packTaps(operand, tapLoops());
  });
}

void KernelBuilder::packTaps(OpOperand &operand, ArrayRef<unsigned> taps) {
  if (taps.empty())
    return packStraight(operand, blockStart);
  loop(constant(0), extent(taps.front()), 1, {}, [&](Value iv, ValueRange) {
    dims[taps.front()] = {iv, 1};
    packTaps(operand, taps.drop_front());
    return Values();
  });
}

// Columns beyond the last one become zeros.
void KernelBuilder::packStraight(OpOperand &operand, Value blockStart) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  loop(blockStart, blockEnd, 1, {}, [&](Value iv, ValueRange) {
    dims[plan.blockedLoop] = {iv, 1};
    for (int64_t vector = 0; vector < dims[plan.vectorLoop].count; ++vector) {
      Value value = widen(loadVector(operand.get(), indicesOf(map, {0, vector}), maskOf(vector)), operand);
      vector::StoreOp::create(builder, loc, value, panels, packedIndices({0, vector}));
    }
    return Values();
  });
}

// The operand is contiguous along the reduction: squares of it are turned. Columns beyond the last one repeat it, and
// depths beyond the block are zeros; both are computed with at most, never stored.
void KernelBuilder::packTurned(OpOperand &operand, Value blockStart) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Value last = add(extent(plan.vectorLoop), -1);
  loop(blockStart, blockEnd, lanes, {}, [&](Value iv, ValueRange) {
    dims[plan.blockedLoop] = {iv, 1};
    Value left = subtract(blockEnd, iv);
    Value mask;
    if (plan.block % lanes != 0 || getConstantIntValue(extents[plan.blockedLoop]).value_or(1) % lanes != 0)
      mask = vector::CreateMaskOp::create(builder, loc, VectorType::get(lanes, builder.getI1Type()), left);
    for (int64_t vector = 0; vector < dims[plan.vectorLoop].count; ++vector) {
      SmallVector<Value> block;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value column = position(plan.vectorLoop, {0, vector}, lane);
        if (!masks.empty())
          positions[{plan.vectorLoop, vector * lanes + lane}] = minimum(column, last);
        block.push_back(loadVector(operand.get(), indicesOf(map, {0, vector}, lane), mask));
      }
      transpose(block);
      SmallVector<Value> indices = packedIndices({0, vector});
      for (int64_t row = 0; row < lanes; ++row)
        vector::StoreOp::create(builder, loc, widen(block[row], operand), panels,
                                ValueRange{indices[0], add(indices[1], row), indices[2]});
    }
    return Values();
  });
}

} // namespace kiln
