#include "kiln/targets/cpu/codegen/strategy/KernelEmitter.h"

#include "kiln/compiler/Codegen/Combiner.h"
#include "kiln/targets/cpu/codegen/strategy/KernelBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

KernelBuilder::KernelBuilder(RewriterBase &builder, linalg::LinalgOp op, const KernelPlan &plan,
                             const KernelTarget &target, ArrayRef<Value> initialValues, const Epilogue &epilogue)
    : builder(builder), op(op), loc(op.getLoc()), plan(plan), payload(builder, op, plan.rowLoads, target.fma),
      fma(target.fma), initialValues(initialValues), epilogue(epilogue), lanes(plan.lanes) {
  if (epilogue.op)
    epiloguePayload.emplace(builder, epilogue.op, ArrayRef<Operation *>(), target.fma);
}

void KernelBuilder::run() {
  builder.setInsertionPoint(epilogue.op ? epilogue.op : op);
  anchor = arith::ConstantIndexOp::create(builder, loc, 0);
  for (Range range : op.createLoopRanges(builder, loc))
    extents.push_back(range.size);
  dims.resize(extents.size());
  emitParallel(0);
  builder.eraseOp(op);
  if (epilogue.op)
    builder.eraseOp(epilogue.op);
}

void emitKernel(RewriterBase &rewriter, linalg::LinalgOp op, const KernelPlan &plan, const KernelTarget &target,
                ArrayRef<Value> initialValues, const Epilogue &epilogue) {
  OpBuilder::InsertionGuard guard(rewriter);
  if (plan.scaling) {
    Value factor = op.getBlock()->getArgument(plan.factor);
    rewriter.replaceOp(plan.scaling, plan.scaling->getOperand(plan.scaling->getOperand(0) == factor ? 1 : 0));
  }
  KernelBuilder(rewriter, op, plan, target, initialValues, epilogue).run();
}

//===--- Index arithmetic
//------------------------------------------------------------------------------------------===//

Value KernelBuilder::constant(int64_t value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(anchor);
    known = arith::ConstantIndexOp::create(builder, loc, value);
  }
  return known;
}

Value KernelBuilder::extent(unsigned dim) {
  if (std::optional<int64_t> known = getConstantIntValue(extents[dim]))
    return constant(*known);
  return cast<Value>(extents[dim]);
}

Value KernelBuilder::add(Value a, int64_t b) {
  if (b == 0)
    return a;
  if (auto known = getConstantIntValue(a))
    return constant(*known + b);
  return arith::AddIOp::create(builder, loc, a, constant(b));
}

Value KernelBuilder::subtract(Value a, Value b) {
  auto first = getConstantIntValue(a), second = getConstantIntValue(b);
  if (second == 0)
    return a;
  if (first && second)
    return constant(*first - *second);
  return arith::SubIOp::create(builder, loc, a, b);
}

Value KernelBuilder::multiply(Value a, int64_t b) {
  if (auto known = getConstantIntValue(a))
    return constant(*known * b);
  return arith::MulIOp::create(builder, loc, a, constant(b));
}

Value KernelBuilder::minimum(Value a, Value b) {
  auto first = getConstantIntValue(a), second = getConstantIntValue(b);
  if (first && second)
    return constant(std::min(*first, *second));
  return arith::MinSIOp::create(builder, loc, a, b);
}

Value KernelBuilder::divide(Value a, int64_t b) {
  if (auto known = getConstantIntValue(a))
    return constant(*known / b);
  return arith::DivUIOp::create(builder, loc, a, constant(b));
}

Value KernelBuilder::fullEnd(Value lower, Value upper, int64_t step) {
  if (step == 1)
    return upper;
  auto from = getConstantIntValue(lower), to = getConstantIntValue(upper);
  if (from && to)
    return constant(*from + (*to - *from) / step * step);
  Value rest = arith::RemUIOp::create(builder, loc, subtract(upper, lower), constant(step));
  return arith::SubIOp::create(builder, loc, upper, rest);
}

SmallVector<Value> KernelBuilder::loop(Value lower, Value upper, int64_t step, ValueRange init, Body body) {
  auto from = getConstantIntValue(lower), to = getConstantIntValue(upper);
  if (lower == upper || (from && to && *to <= *from))
    return init;
  PayloadEmitter::Memory later = epiloguePayload ? epiloguePayload->memory() : PayloadEmitter::Memory();
  llvm::scope_exit restore([this, memory = payload.memory(), later = std::move(later), oldLoads = loads,
                            oldPositions = positions]() mutable {
    payload.memory() = std::move(memory);
    if (epiloguePayload)
      epiloguePayload->memory() = std::move(later);
    loads = std::move(oldLoads);
    positions = std::move(oldPositions);
  });
  if (from && to && *to - *from <= step)
    return body(lower, init);
  auto forOp = scf::ForOp::create(builder, loc, lower, upper, constant(step), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(forOp.getBody());
  SmallVector<Value> yielded = body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(builder, loc, yielded);
  return SmallVector<Value>(forOp.getResults());
}

//===--- Loops
//-----------------------------------------------------------------------------------------------------===//

void KernelBuilder::emitParallel(unsigned level) {
  if (plan.blockedLoop >= 0 && !inBlock && startsBlocks(level))
    return emitBlocks(level);
  if (level == plan.parallelLoops.size())
    return emitTile();
  unsigned dim = plan.parallelLoops[level];
  if (isVectorLoop(dim))
    return emitVectorSegments([&] { emitParallel(level + 1); });
  if (isRowLoop(dim))
    return emitRowSegments(dim, [&] { emitParallel(level + 1); });
  loop(constant(0), extent(dim), 1, {}, [&](Value iv, ValueRange) {
    dims[dim] = {iv, 1};
    emitParallel(level + 1);
    return Values();
  });
}

void KernelBuilder::emitRowSegments(unsigned dim, llvm::function_ref<void()> inner) {
  Value lower = constant(0), upper = extent(dim);
  auto segment = [&](Value end, int64_t count) {
    loop(lower, end, count, {}, [&](Value iv, ValueRange) {
      dims[dim] = {iv, count};
      inner();
      return Values();
    });
    lower = end;
  };
  if (auto known = getConstantIntValue(upper)) {
    int64_t full = *known / plan.rows * plan.rows;
    segment(constant(full), plan.rows);
    if (full < *known)
      segment(upper, *known - full);
    return;
  }
  // How many rows are left over is not known: steps that get smaller take them.
  SmallVector<int64_t> steps{plan.rows};
  if (plan.rows > 4 && !plan.reductionLoops.empty())
    steps.push_back(4);
  if (plan.rows > 1)
    steps.push_back(1);
  for (int64_t step : steps)
    segment(fullEnd(lower, upper, step), step);
}

SmallVector<KernelBuilder::Segment> KernelBuilder::vectorSegments(bool allowMaskedTile) {
  SmallVector<Segment> segments;
  Value lower = constant(0), upper = extent(plan.vectorLoop);
  auto segment = [&](Value end, int64_t vectors, int64_t width, bool masked) {
    segments.push_back({end, vectors, width, masked});
    lower = end;
  };
  int64_t width = plan.lanes;
  segment(fullEnd(lower, upper, plan.vectors * width), plan.vectors, width, false);
  if (auto known = getConstantIntValue(upper)) {
    int64_t from = *getConstantIntValue(lower), rest = *known - from;
    if (rest == 0)
      return segments;
    if (allowMaskedTile) {
      segment(upper, llvm::divideCeil(rest, width), width, rest % width != 0);
      return segments;
    }
    if (int64_t whole = rest / width)
      segment(constant(from + whole * width), whole, width, false);
    if (rest % width != 0)
      segment(upper, 1, 1, false);
    return segments;
  }
  if (plan.packedOperand >= 0) {
    segment(upper, plan.vectors, width, true);
  } else if (plan.masked) {
    segment(upper, 1, width, true);
  } else {
    if (plan.vectors > 1)
      segment(fullEnd(lower, upper, width), 1, width, false);
    if (width > 1)
      segment(upper, 1, 1, false);
  }
  return segments;
}

void KernelBuilder::emitVectorSegments(llvm::function_ref<void()> inner) {
  Value lower = constant(0), upper = extent(plan.vectorLoop);
  for (const Segment &segment : vectorSegments(plan.masked || plan.packedOperand >= 0)) {
    loop(lower, segment.end, segment.vectors * segment.lanes, {}, [&](Value iv, ValueRange) {
      dims[plan.vectorLoop] = {iv, segment.vectors};
      lanes = segment.lanes;
      if (segment.masked)
        setMasks(iv, upper, segment.vectors);
      inner();
      masks.clear();
      lanes = plan.lanes;
      return Values();
    });
    lower = segment.end;
  }
}

void KernelBuilder::setMasks(Value base, Value upper, int64_t vectors) {
  masks.clear();
  Value left = columnsLeft = subtract(upper, base);
  auto known = getConstantIntValue(left);
  auto type = VectorType::get(lanes, builder.getI1Type());
  for (int64_t vector = 0; vector < vectors; ++vector) {
    if (known && *known >= (vector + 1) * lanes)
      masks.push_back(Value());
    else if (known)
      masks.push_back(
          vector::ConstantMaskOp::create(builder, loc, type, std::max<int64_t>(0, *known - vector * lanes)));
    else
      masks.push_back(vector::CreateMaskOp::create(builder, loc, type, add(left, -vector * lanes)));
  }
}

//===--- Tiles
//-----------------------------------------------------------------------------------------------------===//

SmallVector<KernelBuilder::Point> KernelBuilder::tilePoints() const {
  int64_t vectors = plan.vectorLoop >= 0 && !plan.reduceLanes ? dims[plan.vectorLoop].count : 1;
  SmallVector<Point> all;
  for (int64_t row = 0; row < rowCount(); ++row)
    for (int64_t vector = 0; vector < vectors; ++vector)
      all.push_back({row, vector});
  return all;
}

Value KernelBuilder::indexValue(unsigned dim, Point point) {
  Value start = position(dim, point);
  if (!isVectorLoop(dim) || lanes == 1)
    return start;
  Value steps = vector::StepOp::create(builder, loc, VectorType::get(lanes, builder.getIndexType()));
  return arith::AddIOp::create(builder, loc, payload.broadcast(start, lanes), steps);
}

SmallVector<Value> KernelBuilder::computeBody(Point point, ValueRange sums) {
  SmallVector<Value> arguments;
  for (OpOperand *input : op.getDpsInputOperands())
    arguments.push_back(op.payloadUsesValueFromOperand(input) ? load(*input, point) : Value());
  for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    bool loaded = sums.empty() && op.payloadUsesValueFromOperand(&init);
    arguments.push_back(!sums.empty() ? sums[index] : loaded ? initialValue(index, point) : Value());
  }
  return payload.compute(arguments, lanes, [&](unsigned dim) { return indexValue(dim, point); });
}

Value KernelBuilder::initialValue(unsigned index, Point point) {
  OpOperand &init = op.getDpsInitsMutable()[index];
  if (index >= initialValues.size() || !initialValues[index])
    return load(init, point);
  Value value = convertElements(initialValues[index], argumentType(init));
  if (!firstBlock)
    return value;
  Value before = load(init, point);
  Value first = isa<VectorType>(before.getType()) ? payload.broadcast(value, lanes) : value;
  return arith::SelectOp::create(builder, loc, firstBlock, first, before);
}

void KernelBuilder::emitElements(Point point) {
  SmallVector<Values> steps;
  for (point.step = 0; point.step < plan.steps; ++point.step)
    steps.push_back(computeBody(point, {}));
  for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (lanes > 1 && plan.stepLoop >= 0 && strideAlong(op, init, plan.vectorLoop) != 1) {
      storeInterleaved(init, point, llvm::map_to_vector(steps, [&](Values &values) { return values[index]; }));
      continue;
    }
    for (point.step = 0; point.step < plan.steps; ++point.step)
      store(init, op.getMatchingIndexingMap(&init), point, steps[point.step][index]);
  }
}

void KernelBuilder::emitTile() {
  SmallVector<Point> points = tilePoints();
  unsigned inits = op.getNumDpsInits();
  if (plan.storesLast) {
    SmallVector<Values> results;
    for (Point point : points)
      results.push_back(computeBody(point, {}));
    for (auto [point, values] : llvm::zip(points, results))
      for (auto [init, value] : llvm::zip(op.getDpsInitsMutable(), values))
        store(init, op.getMatchingIndexingMap(&init), point, value);
    return;
  }
  if (plan.reductionLoops.empty()) {
    for (Point point : points)
      emitElements(point);
    return;
  }
  if (plan.reduceLanes)
    return emitLaneReduction();
  SmallVector<Value> sums;
  for (Point point : points)
    for (unsigned index = 0; index < inits; ++index)
      sums.push_back(payload.broadcast(initialValue(index, point), lanes));
  sums = emitReductions(0, plan.reductionLoops.size(), sums, [&](ValueRange current) {
    SmallVector<Value> results;
    for (auto [i, point] : llvm::enumerate(points))
      for (Value value : computeBody(point, current.slice(i * inits, inits)))
        results.push_back(payload.broadcast(value, lanes));
    return results;
  });
  for (auto [i, point] : llvm::enumerate(points)) {
    if (epilogue.op) {
      emitEpilogue(point, sums[i]);
      continue;
    }
    for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable()))
      store(init, op.getMatchingIndexingMap(&init), point, sums[i * inits + index]);
  }
}

void KernelBuilder::emitEpilogue(Point point, Value result) {
  linalg::LinalgOp next = epilogue.op;
  SmallVector<Value> arguments;
  for (OpOperand *input : next.getDpsInputOperands())
    arguments.push_back(!next.payloadUsesValueFromOperand(input)   ? Value()
                        : input->get() == op.getDpsInits().front() ? payload.broadcast(result, lanes)
                                                                   : loadForEpilogue(*input, point));
  arguments.push_back(Value()); // What is there is overwritten.
  SmallVector<Value> values =
      epiloguePayload->compute(arguments, lanes, [&](unsigned dim) { return indexValue(epilogue.loops[dim], point); });
  store(*next.getDpsInitOperand(0), epilogue.maps.back(), point, values.front());
}

SmallVector<Value> KernelBuilder::emitReductions(unsigned level, unsigned count, ValueRange sums,
                                                 llvm::function_ref<Values(ValueRange)> body) {
  if (level == count)
    return body(sums);
  unsigned dim = plan.reductionLoops[level];
  bool blocked = static_cast<int>(dim) == plan.blockedLoop;
  return loop(blocked ? blockStart : constant(0), blocked ? blockEnd : extent(dim), 1, sums,
              [&](Value iv, ValueRange current) {
                dims[dim] = {iv, 1};
                return emitReductions(level + 1, count, current, body);
              });
}

//===--- Reductions along vectors
//----------------------------------------------------------------------------------===//

static vector::CombiningKind kindOf(Operation *combiner) {
  using vector::CombiningKind;
  return llvm::TypeSwitch<Operation *, CombiningKind>(combiner)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return CombiningKind::ADD; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return CombiningKind::MUL; })
      .Case<arith::MaximumFOp>([](auto) { return CombiningKind::MAXIMUMF; })
      .Case<arith::MinimumFOp>([](auto) { return CombiningKind::MINIMUMF; })
      .Case<arith::MaxNumFOp>([](auto) { return CombiningKind::MAXNUMF; })
      .Case<arith::MinNumFOp>([](auto) { return CombiningKind::MINNUMF; })
      .Case<arith::MaxSIOp>([](auto) { return CombiningKind::MAXSI; })
      .Case<arith::MinSIOp>([](auto) { return CombiningKind::MINSI; })
      .Case<arith::MaxUIOp>([](auto) { return CombiningKind::MAXUI; })
      .Case<arith::MinUIOp>([](auto) { return CombiningKind::MINUI; })
      .Case<arith::AndIOp>([](auto) { return CombiningKind::AND; })
      .Case<arith::OrIOp>([](auto) { return CombiningKind::OR; })
      .Case<arith::XOrIOp>([](auto) { return CombiningKind::XOR; });
}

// Each lane of each of the tile's vectors sums up its own elements. Carried through the loops are, by row: the vectors
// of each init, and the scalar of each init, which starts with what was there and takes the elements of tails without
// masks.
void KernelBuilder::emitLaneReduction() {
  unsigned inits = op.getNumDpsInits();
  SmallVector<Operation *> combiners;
  for (unsigned index = 0; index < inits; ++index)
    combiners.push_back(findCombiner(op, index));

  SmallVector<Value> carried;
  for (int64_t row = 0; row < rowCount(); ++row) {
    for (Operation *combiner : combiners)
      carried.append(plan.vectors, neutralVector(combiner));
    for (unsigned index = 0; index < inits; ++index)
      carried.push_back(initialValue(index, {row, 0}));
  }
  carried = emitReductions(0, plan.reductionLoops.size() - 1, carried,
                           [&](ValueRange current) { return emitScaledSegments(current, combiners); });

  lanes = 1;
  auto next = carried.begin();
  for (int64_t row = 0; row < rowCount(); ++row) {
    SmallVector<Value> totals;
    for (Operation *combiner : combiners) {
      SmallVector<Value> vectors(next, next + plan.vectors);
      next += plan.vectors;
      while (vectors.size() > 1) {
        SmallVector<Value> halves;
        for (size_t i = 0; i + 1 < vectors.size(); i += 2)
          halves.push_back(payload.combine(combiner, vectors[i], vectors[i + 1]));
        if (vectors.size() % 2)
          halves.push_back(vectors.back());
        vectors = std::move(halves);
      }
      auto reassociate = arith::FastMathFlags::reassoc;
      Value start; // Without one, upstream starts sums with 0.0, which a sum of -0.0 is not.
      if (isa<arith::AddFOp>(combiner))
        start = arith::ConstantOp::create(builder, loc, *neutralElement(combiner));
      totals.push_back(
          vector::ReductionOp::create(builder, loc, kindOf(combiner), vectors.front(), start, reassociate));
    }
    for (auto [combiner, total, init] : llvm::zip(combiners, totals, op.getDpsInitsMutable()))
      store(init, op.getMatchingIndexingMap(&init), {row, 0}, payload.combine(combiner, total, *next++));
  }
  lanes = plan.lanes;
}

Value KernelBuilder::neutralVector(Operation *combiner) {
  auto type = VectorType::get(plan.lanes, combiner->getResult(0).getType());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(*neutralElement(combiner))));
}

// What has a common factor is summed up without it.
SmallVector<Value> KernelBuilder::emitScaledSegments(ValueRange carried, ArrayRef<Operation *> combiners) {
  if (!plan.scaling)
    return emitLaneSegments(carried, combiners);
  Value none = arith::ConstantOp::create(builder, loc, *neutralElement(combiners[0]));
  SmallVector<Value> parts;
  for (int64_t row = 0; row < rowCount(); ++row) {
    parts.append(plan.vectors, neutralVector(combiners[0]));
    parts.push_back(none);
  }
  parts = emitLaneSegments(parts, combiners);
  SmallVector<Value> totals(carried);
  for (int64_t row = 0; row < rowCount(); ++row) {
    const int64_t first = row * (plan.vectors + 1);
    for (int64_t vector = 1; vector < plan.vectors; ++vector)
      parts[first] = payload.combine(combiners[0], parts[first], parts[first + vector]);
    Value factor = load(op->getOpOperand(plan.factor), {row, 0});
    for (int64_t place : {first, first + plan.vectors}) {
      if (parts[place] == none) // Vectors had all elements.
        continue;
      auto type = dyn_cast<VectorType>(parts[place].getType());
      Value by = type ? payload.broadcast(factor, type.getNumElements()) : factor;
      totals[place] =
          fma ? math::FmaOp::create(builder, loc, parts[place], by, totals[place]).getResult()
              : payload.combine(combiners[0], totals[place], arith::MulFOp::create(builder, loc, parts[place], by));
    }
  }
  return totals;
}

SmallVector<Value> KernelBuilder::emitLaneSegments(ValueRange carried, ArrayRef<Operation *> combiners) {
  Value lower = constant(0), upper = extent(plan.vectorLoop);
  SmallVector<Value> current(carried);
  for (const Segment &segment : vectorSegments(plan.masked)) {
    bool isWhole = segment.lanes == plan.lanes && segment.vectors == plan.vectors && !segment.masked;
    if (isWhole && llvm::any_of(combiners, llvm::IsaPred<arith::AddFOp>))
      current = emitLaneBlocks(lower, segment, current, combiners);
    current = emitLaneLoop(lower, segment.end, segment, upper, current);
    lower = segment.end;
  }
  return current;
}

// A long row of floats is added up in blocks, whose sums are added up in their turn: the error of a sum grows with the
// number of additions that an element goes through. Moves `lower` to where the last whole block ends.
SmallVector<Value> KernelBuilder::emitLaneBlocks(Value &lower, const Segment &segment, ValueRange carried,
                                                 ArrayRef<Operation *> combiners) {
  constexpr int64_t stepsOfBlock = 64;
  int64_t block = stepsOfBlock * segment.vectors * segment.lanes;
  Value end = fullEnd(lower, segment.end, block);
  auto from = getConstantIntValue(lower), to = getConstantIntValue(end);
  if (from && to && *to - *from <= block)
    return carried;
  int64_t perRow = combiners.size() * (plan.vectors + 1);
  // The combiner of what is carried at a place; null for what tails without masks are added to.
  auto combinerAt = [&](int64_t place) {
    int64_t index = place % perRow / plan.vectors;
    return index < static_cast<int64_t>(combiners.size()) ? combiners[index] : nullptr;
  };
  SmallVector<Value> sums = loop(lower, end, block, carried, [&](Value start, ValueRange totals) {
    SmallVector<Value> parts(totals);
    for (auto [place, part] : llvm::enumerate(parts))
      if (Operation *combiner = combinerAt(place))
        part = neutralVector(combiner);
    parts = emitLaneLoop(start, add(start, block), segment, add(start, block), parts);
    for (auto [place, part] : llvm::enumerate(parts))
      if (Operation *combiner = combinerAt(place))
        part = payload.combine(combiner, totals[place], part);
    return parts;
  });
  lower = end;
  return sums;
}

SmallVector<Value> KernelBuilder::emitLaneLoop(Value lower, Value end, const Segment &segment, Value upper,
                                               ValueRange carried) {
  unsigned inits = op.getNumDpsInits();
  int64_t perRow = inits * plan.vectors + inits;
  return loop(lower, end, segment.vectors * segment.lanes, carried, [&](Value iv, ValueRange sums) {
    dims[plan.vectorLoop] = {iv, segment.vectors};
    lanes = segment.lanes;
    if (segment.masked)
      setMasks(iv, upper, segment.vectors);
    SmallVector<Value> results(sums);
    for (int64_t row = 0; row < rowCount(); ++row) {
      for (int64_t vector = 0; vector < segment.vectors; ++vector) {
        auto place = [&](unsigned index) {
          return row * perRow + (lanes == 1 ? inits * plan.vectors + index : index * plan.vectors + vector);
        };
        SmallVector<Value> before;
        for (unsigned index = 0; index < inits; ++index)
          before.push_back(results[place(index)]);
        SmallVector<Value> after = before;
        for (int64_t step = 0; step < plan.steps; ++step) {
          after = computeBody({row, vector, step}, after);
          for (Value &sum : after)
            sum = payload.broadcast(sum, lanes);
        }
        for (unsigned index = 0; index < inits; ++index) {
          Value sum = after[index];
          if (Value mask = maskOf(vector))
            sum = arith::SelectOp::create(builder, loc, mask, sum, before[index]);
          results[place(index)] = sum;
        }
      }
    }
    masks.clear();
    lanes = plan.lanes;
    return results;
  });
}

} // namespace kiln
