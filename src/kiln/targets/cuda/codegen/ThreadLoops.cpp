#include "kiln/targets/cuda/codegen/ThreadLoops.h"

#include "kiln/compiler/Codegen/Combiner.h"
#include "kiln/compiler/Codegen/LoopBody.h"
#include "kiln/compiler/Interfaces/InitUse.h"
#include "kiln/targets/cuda/codegen/ColumnLoops.h"
#include "kiln/targets/cuda/codegen/Lanes.h"
#include "kiln/targets/cuda/codegen/VectorLoops.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

// The extent of each loop: a constant, or the dimension of an operand, for which no op is made.
static SmallVector<std::optional<int64_t>> loopBounds(linalg::LinalgOp op) {
  SmallVector<int64_t> known = op.getStaticLoopRanges();
  SmallVector<std::optional<int64_t>> bounds;
  AffineMap shapes = op.getLoopsToShapesMap();
  SmallVector<std::pair<Value, unsigned>> dims;
  for (OpOperand &operand : op->getOpOperands())
    for (unsigned dim = 0, e = op.getMatchingIndexingMap(&operand).getNumResults(); dim < e; ++dim)
      dims.emplace_back(operand.get(), dim);
  for (unsigned loop = 0; loop < known.size(); ++loop) {
    std::optional<int64_t> bound;
    if (ShapedType::isStatic(known[loop]))
      bound = known[loop];
    for (auto [expr, dim] : llvm::zip(shapes.getResults(), dims)) {
      if (bound || expr != getAffineDimExpr(loop, op.getContext()) || !isa<ShapedType>(dim.first.getType()))
        continue;
      FailureOr<int64_t> found = ValueBoundsConstraintSet::computeConstantBound(
          presburger::BoundType::UB, ValueBoundsConstraintSet::Variable(dim.first, dim.second),
          /*stopCondition=*/nullptr, /*closedUB=*/true);
      if (succeeded(found))
        bound = std::max<int64_t>(*found, 0);
    }
    bounds.push_back(bound);
  }
  return bounds;
}

static int64_t multiply(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

WorkSize WorkSize::of(linalg::LinalgOp op) {
  WorkSize size{1, 1};
  for (auto [bound, kind] : llvm::zip(loopBounds(op), op.getIteratorTypesArray())) {
    std::optional<int64_t> &total = kind == utils::IteratorType::parallel ? size.parallel : size.reduction;
    total = total && bound ? std::optional(multiply(*total, *bound)) : std::nullopt;
  }
  return size;
}

int64_t threadsOfElement(linalg::LinalgOp op, int64_t threads) {
  WorkSize size = WorkSize::of(op);
  if (op.getNumReductionLoops() == 0 || !size.parallel || *size.parallel * 2 > threads)
    return 1;
  for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
    Operation *combiner = findCombiner(op, i);
    if (!combiner || !neutralElement(combiner))
      return 1;
  }
  int64_t share = threads / llvm::PowerOf2Ceil(std::max<int64_t>(1, *size.parallel));
  // Two steps for each thread are worth less than what combining them costs.
  return size.reduction ? std::min<int64_t>(share, llvm::bit_floor(uint64_t(std::max<int64_t>(1, *size.reduction / 2))))
                        : share;
}

namespace {

class LoopEmitter {
public:
  LoopEmitter(OpBuilder &b, linalg::LinalgOp op, Value thread, int64_t threads, ArrayRef<Value> fills)
      : b(b), loc(op.getLoc()), op(op), thread(thread), threads(threads), fills(fills), zero(index(0)), one(index(1)) {
    for (Range range : op.createLoopRanges(b, loc))
      extents.push_back(getValueOrCreateConstantIndexOp(b, loc, range.size));
    auto kinds = op.getIteratorTypesArray();
    for (unsigned loop = 0; loop < kinds.size(); ++loop)
      if (kinds[loop] == utils::IteratorType::reduction)
        reductions.push_back(loop);
    // Neighbouring threads have neighbouring elements of the result.
    AffineMap map = op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]);
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && kinds[dim.getPosition()] == utils::IteratorType::parallel &&
                                                    !llvm::is_contained(parallels, dim.getPosition()))
        parallels.push_back(dim.getPosition());
    for (unsigned loop = 0; loop < kinds.size(); ++loop)
      if (kinds[loop] == utils::IteratorType::parallel && !llvm::is_contained(parallels, loop))
        parallels.insert(parallels.begin(), loop);
    ivs.assign(kinds.size(), Value());
  }

  // Each element is one thread's.
  void emitElements() {
    Space space = makeSpace(parallels);
    auto loop = scf::ForOp::create(b, loc, thread, space.total, index(threads));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    whereInside(decode(space, loop.getInductionVar()), [&] {
      SmallVector<Value> values = initialValues();
      values = emitReduction(0, values);
      storeResults(values);
    });
  }

  // Each element is shared by `share` threads, of which each goes over a part of the reduction.
  void emitShared(int64_t share) {
    int64_t elements = threads / share;
    // Where the reduction is contiguous in memory its threads are neighbours, else the elements are.
    bool isRow = isReductionContiguous();
    Value divisor = index(isRow ? share : elements);
    Value quotient = arith::DivUIOp::create(b, loc, thread, divisor);
    Value remainder = arith::RemUIOp::create(b, loc, thread, divisor);
    Value lane = isRow ? remainder : quotient, element = isRow ? quotient : remainder;
    Space space = makeSpace(parallels), steps = makeSpace(reductions);
    Value isElement = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, element, space.total);
    Value inside = decode(space, element);
    inside = inside ? arith::AndIOp::create(b, loc, isElement, inside).getResult() : isElement;

    SmallVector<Operation *> combiners;
    SmallVector<Value> neutral, partial;
    for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
      combiners.push_back(findCombiner(op, i));
      neutral.push_back(arith::ConstantOp::create(b, loc, *neutralElement(combiners.back())));
    }
    // Allocated before anything is read, so that it shares no memory with what other threads still read.
    SmallVector<Value> memory;
    for (Value value : neutral)
      memory.push_back(memref::AllocOp::create(b, loc, MemRefType::get({threads}, value.getType())));
    // Threads without an element go over nothing.
    Value end = arith::SelectOp::create(b, loc, inside, steps.total, zero);
    auto loop = scf::ForOp::create(b, loc, lane, end, index(share), neutral);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value isStep = decode(steps, loop.getInductionVar());
      SmallVector<Value> carried(loop.getRegionIterArgs());
      SmallVector<Value> next;
      if (isStep) {
        auto branch = scf::IfOp::create(b, loc, TypeRange(ValueRange(carried)), isStep, /*withElseRegion=*/true);
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToStart(branch.thenBlock());
        scf::YieldOp::create(b, loc, emitBody(carried));
        b.setInsertionPointToStart(branch.elseBlock());
        scf::YieldOp::create(b, loc, carried);
        next.assign(branch.getResults().begin(), branch.getResults().end());
      } else {
        next = emitBody(carried);
      }
      b.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(b, loc, next);
    }

    for (auto [value, buffer] : llvm::zip(loop.getResults(), memory))
      memref::StoreOp::create(b, loc, value, buffer, thread);
    gpu::BarrierOp::create(b, loc);
    for (int64_t distance = share / 2; distance > 0; distance /= 2) {
      Value isLower = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, lane, index(distance));
      auto branch = scf::IfOp::create(b, loc, isLower, /*withElseRegion=*/false);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        Value other = arith::AddIOp::create(b, loc, thread, index(isRow ? distance : distance * elements));
        for (auto [combiner, buffer] : llvm::zip(combiners, memory)) {
          Value mine = memref::LoadOp::create(b, loc, buffer, thread);
          Value theirs = memref::LoadOp::create(b, loc, buffer, other);
          memref::StoreOp::create(b, loc, cloneCombiner(b, combiner, mine, theirs), buffer, thread);
        }
      }
      gpu::BarrierOp::create(b, loc);
    }
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, zero);
    whereInside(arith::AndIOp::create(b, loc, isFirst, inside), [&] {
      SmallVector<Value> values = initialValues();
      for (auto [value, combiner, buffer] : llvm::zip(values, combiners, memory))
        value = cloneCombiner(b, combiner, value, memref::LoadOp::create(b, loc, buffer, thread));
      storeResults(values);
    });
  }

private:
  // Some loops as one, over a box that holds all their iterations.
  struct Space {
    SmallVector<unsigned> loops;
    SmallVector<Value> bounds;
    SmallVector<bool> exact; // the bound is the extent
    Value total;
  };

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  Space makeSpace(ArrayRef<unsigned> loops) {
    Space space;
    space.loops.assign(loops.begin(), loops.end());
    space.total = one;
    SmallVector<std::optional<int64_t>> bounds;
    std::optional<int64_t> box = 1;
    for (unsigned loop : loops) {
      bounds.push_back(boundOf(extents[loop]));
      box = box && bounds.back() ? std::optional(multiply(*box, *bounds.back())) : std::nullopt;
    }
    // Dividing by constants is cheap, and a few idle threads are too; a large box would have too many.
    constexpr int64_t largestBox = 1 << 16;
    for (auto [loop, bound] : llvm::zip(loops, bounds)) {
      bool isConstant = getConstantIntValue(extents[loop]).has_value();
      bool useBound = !isConstant && box && *box <= largestBox;
      space.bounds.push_back(useBound ? index(*bound) : extents[loop]);
      space.exact.push_back(!useBound);
      space.total = arith::MulIOp::create(b, loc, space.total, space.bounds.back());
    }
    return space;
  }

  // Sets the loops' indices for an iteration of the space. Gives the condition under which there is one; null: always.
  Value decode(const Space &space, Value number) {
    Value condition;
    for (size_t i = space.loops.size(); i-- > 0;) {
      Value iv = i == 0 ? number : arith::RemUIOp::create(b, loc, number, space.bounds[i]).getResult();
      if (i > 0)
        number = arith::DivUIOp::create(b, loc, number, space.bounds[i]);
      ivs[space.loops[i]] = iv;
      if (space.exact[i])
        continue;
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, iv, extents[space.loops[i]]);
      condition = condition ? arith::AndIOp::create(b, loc, condition, inside).getResult() : inside;
    }
    return condition;
  }

  void whereInside(Value condition, llvm::function_ref<void()> emit) {
    if (!condition)
      return emit();
    auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    emit();
  }

  bool isReductionContiguous() {
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (map.getNumResults() == 0)
        continue;
      for (unsigned loop : reductions)
        if (map.getResults().back().isFunctionOfDim(loop))
          return true;
    }
    return false;
  }

  SmallVector<Value> place(AffineMap map) {
    SmallVector<Value> indices;
    for (AffineExpr expr : map.getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        indices.push_back(ivs[dim.getPosition()]);
        continue;
      }
      // Loops that are not part of the expression may not have an index yet.
      SmallVector<Value> operands(ivs);
      for (Value &operand : operands)
        operand = operand ? operand : zero;
      indices.push_back(affine::AffineApplyOp::create(b, loc, AffineMap::get(map.getNumDims(), 0, expr), operands));
    }
    return indices;
  }

  Value load(OpOperand &operand) {
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    return memref::LoadOp::create(b, loc, operand.get(), place(op.getMatchingIndexingMap(&operand)));
  }

  SmallVector<Value> initialValues() {
    SmallVector<Value> values;
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      if (fills[i])
        values.push_back(fills[i]);
      else if (needsInit(init))
        values.push_back(load(init));
      else // The body does not read it, and yields another.
        values.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(getElementTypeOrSelf(init.get().getType()))));
    }
    return values;
  }

  void storeResults(ArrayRef<Value> values) {
    for (auto [value, init] : llvm::zip(values, op.getDpsInitsMutable()))
      memref::StoreOp::create(b, loc, value, init.get(), place(op.getMatchingIndexingMap(&init)));
  }

  SmallVector<Value> emitReduction(size_t depth, ArrayRef<Value> values) {
    if (depth == reductions.size())
      return emitBody(values);
    unsigned loop = reductions[depth];
    auto nest = scf::ForOp::create(b, loc, zero, extents[loop], one, values);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(nest.getBody());
    ivs[loop] = nest.getInductionVar();
    SmallVector<Value> carried(nest.getRegionIterArgs());
    scf::YieldOp::create(b, loc, emitReduction(depth + 1, carried));
    return SmallVector<Value>(nest.getResults());
  }

  // The body for one iteration, with what the results are so far.
  SmallVector<Value> emitBody(ArrayRef<Value> values) {
    SmallVector<Value> elements;
    for (OpOperand *input : op.getDpsInputOperands())
      elements.push_back(op.getMatchingBlockArgument(input).use_empty() ? Value() : load(*input));
    llvm::append_range(elements, values);
    return cloneLoopBody(b, op, elements, [&](unsigned loop) { return ivs[loop]; });
  }

  OpBuilder &b;
  Location loc;
  linalg::LinalgOp op;
  Value thread;
  int64_t threads;
  ArrayRef<Value> fills;
  Value zero, one;
  SmallVector<Value> extents, ivs;
  SmallVector<unsigned> parallels, reductions;
};

} // namespace

void emitThreadLoops(OpBuilder &b, linalg::LinalgOp op, Value thread, int64_t threads, ArrayRef<Value> fills) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  auto emitAny = [&] {
    LoopEmitter emitter(b, op, thread, threads, fills);
    int64_t share = threadsOfElement(op, threads);
    if (share > 1)
      emitter.emitShared(share);
    else
      emitter.emitElements();
  };
  auto emitFull = [&](const FullTile &tile) {
    return op.getNumReductionLoops() == 0 ? emitVectorLoops(b, op, tile, thread, threads)
                                          : emitColumnLoops(b, op, tile, thread, threads, fills);
  };
  std::optional<FullTile> tile = FullTile::of(b, op);
  if (tile && !tile->isFull) {
    if (failed(emitFull(*tile)))
      emitAny();
    return;
  }
  if (!tile)
    return emitAny();
  auto branch = scf::IfOp::create(b, op.getLoc(), tile->isFull, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  LogicalResult isEmitted = emitFull(*tile);
  b.setInsertionPointToStart(branch.elseBlock());
  if (failed(isEmitted)) {
    b.setInsertionPoint(op);
    branch.erase();
  }
  emitAny();
}

} // namespace kiln
