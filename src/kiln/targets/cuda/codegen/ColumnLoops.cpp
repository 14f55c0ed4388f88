#include "kiln/targets/cuda/codegen/ColumnLoops.h"

#include "kiln/compiler/Codegen/Combiner.h"
#include "kiln/compiler/Codegen/LoopBody.h"
#include "kiln/targets/cuda/codegen/Lanes.h"
#include "kiln/targets/cuda/codegen/ThreadLoops.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

static constexpr int64_t warp = 32;
// Steps of the reduction whose elements are loaded before they are used.
static constexpr int64_t mostSteps = 8;
// Ops that are written out for these steps.
static constexpr int64_t mostOps = 2048;
// What the warps of a block tell each other at the end.
static constexpr int64_t mostSharedBytes = 32 * 1024;

OpOperand *findWholeInput(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    bool isWhole = isa<ShapedType>(input->get().getType());
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      isWhole &= extents[loop] == 1 || map.isFunctionOfDim(loop);
    if (isWhole)
      return input;
  }
  return nullptr;
}

static std::optional<unsigned> findColumnLoop(linalg::LinalgOp op) {
  return innermostLoop(op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]), op.getStaticLoopRanges());
}

bool isAlongColumns(linalg::LinalgOp op) {
  OpOperand *largest = findWholeInput(op);
  std::optional<unsigned> column = findColumnLoop(op);
  if (!largest || !column || op.getNumReductionLoops() == 0)
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (AffineExpr expr : llvm::reverse(op.getMatchingIndexingMap(largest).getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && extents[dim.getPosition()] == 1)
      continue;
    return dim && dim.getPosition() == *column;
  }
  return false;
}

int64_t threadsForColumns(linalg::LinalgOp op, std::optional<int64_t> workgroups) {
  constexpr int64_t usual = 256, most = 1024;
  // What a large device runs at a time.
  constexpr int64_t wanted = 128 * most;
  WorkSize size = WorkSize::of(op);
  int64_t threads = usual, work;
  if (workgroups)
    threads = llvm::PowerOf2Ceil(std::clamp(wanted / std::max<int64_t>(1, *workgroups), usual, most));
  if (!size.parallel || !size.reduction || llvm::MulOverflow(*size.parallel, *size.reduction, work))
    return threads;
  // With a few vectors for each.
  int64_t enough = llvm::bit_floor(uint64_t(std::max<int64_t>(1, work / (4 * mostSteps))));
  return std::clamp(enough, warp, threads);
}

namespace {

// A thread has a vector of columns, and with it some of the steps of the reduction, which other threads have the rest
// of.
class ColumnEmitter {
public:
  ColumnEmitter(OpBuilder &b, linalg::LinalgOp op, const FullTile &tile, Value thread, int64_t threads,
                ArrayRef<Value> fills)
      : b(b), lane(b, op), op(op), extents(tile.extents), thread(thread), threads(threads), fills(fills) {}

  LogicalResult emit() {
    if (!chooseLoops() || !chooseLanes() || !chooseShares())
      return failure();
    SmallVector<Value> memory;
    if (groups > std::max<int64_t>(1, warp / columns))
      for (Operation *combiner : combiners)
        memory.push_back(memref::AllocOp::create(
            b, lane.loc, MemRefType::get({threads / warp, std::min(columns, warp) * lanes}, typeOf(combiner))));
    auto [group, column] = lane.divide(thread, columns, threads);
    Value isInside;
    if (columns != wanted) {
      isInside = arith::CmpIOp::create(b, lane.loc, arith::CmpIPredicate::ult, column, lane.index(wanted));
      column = arith::MinUIOp::create(b, lane.loc, column, lane.index(wanted - 1));
    }
    ivs = placeOf(column, lanes);
    SmallVector<Value> values = reduce(group);
    for (auto [i, value] : llvm::enumerate(values))
      value = lane.combineLanes(combiners[i / lanes], value, columns, std::min(warp, threads));
    if (!memory.empty()) {
      combineGroups(values, group, isInside, memory);
      return success();
    }
    Value isFirst;
    if (groups > 1)
      isFirst = arith::CmpIOp::create(b, lane.loc, arith::CmpIPredicate::eq, group, lane.index(0));
    lane.where(lane.both(isFirst, isInside), [&] { finish(values, ivs); });
    return success();
  }

private:
  Type typeOf(Operation *combiner) { return combiner->getResult(0).getType(); }

  bool chooseLoops() {
    std::optional<unsigned> column = findColumnLoop(op);
    if (!column || !isAlongColumns(op))
      return false;
    along = *column;
    auto kinds = op.getIteratorTypesArray();
    AffineMap map = op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]);
    for (AffineExpr expr : map.getResults()) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      if (kinds[loop] != utils::IteratorType::parallel || llvm::is_contained(parallels, loop))
        return false;
      if (loop != along)
        parallels.push_back(loop);
    }
    parallels.push_back(along);
    if (parallels.size() != op.getNumParallelLoops())
      return false;
    for (OpOperand &init : op.getDpsInitsMutable())
      if (op.getMatchingIndexingMap(&init) != map)
        return false;
    for (unsigned loop = 0; loop < kinds.size(); ++loop)
      if (kinds[loop] != utils::IteratorType::parallel)
        reductions.push_back(loop);
    for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
      combiners.push_back(findCombiner(op, i));
      if (!combiners.back() || !neutralElement(combiners.back()))
        return false;
    }
    return true;
  }

  bool chooseLanes() {
    int64_t largest = 1;
    lanes = accessBytes;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Along how = alongLoop(op, *input, along);
      if (how == Along::Nothing)
        continue;
      int64_t bytes = bytesOfElement(getElementTypeOrSelf(input->get().getType()));
      if (how == Along::Other || bytes == 0)
        return false;
      largest = std::max(largest, bytes);
      lanes = std::min(lanes, alignedElements(input->get(), lanes));
    }
    lanes = std::min(lanes, std::max<int64_t>(1, accessBytes / largest));
    while (extents[along] % lanes != 0)
      lanes /= 2;
    return true;
  }

  // The block's threads as columns of vectors by groups, of which each has some of the reduction.
  bool chooseShares() {
    wanted = 1;
    for (unsigned loop : parallels)
      wanted *= extents[loop];
    wanted /= lanes;
    columns = llvm::PowerOf2Ceil(wanted);
    if (columns > threads)
      return false;
    groups = threads / columns;
    int64_t bytes = 0;
    for (Operation *combiner : combiners) {
      if (bytesOfElement(typeOf(combiner)) == 0)
        return false;
      bytes += threads / warp * std::min(columns, warp) * lanes * bytesOfElement(typeOf(combiner));
    }
    if (bytes > mostSharedBytes)
      return false;
    int64_t known = 1;
    for (unsigned loop : reductions) {
      if (ShapedType::isDynamic(extents[loop]) && reductions.size() == 1)
        known = ShapedType::kDynamic;
      else if (ShapedType::isDynamic(extents[loop]) || llvm::MulOverflow(known, extents[loop], known))
        return false;
      box.push_back(extents[loop]);
    }
    if (ShapedType::isDynamic(known))
      length = op.createLoopRanges(b, lane.loc)[reductions[0]].size;
    else
      length = b.getIndexAttr(known);
    steps = ShapedType::isDynamic(known) ? mostSteps : std::clamp<int64_t>(known / groups, 1, mostSteps);
    steps = llvm::bit_floor(uint64_t(std::min(steps, std::max<int64_t>(1, mostOps / (lanes * lane.bodySize())))));
    return true;
  }

  // Partial results by init and lane, one after the other.
  SmallVector<Value> reduce(Value group) {
    SmallVector<Value> values;
    for (Operation *combiner : combiners)
      values.append(lanes, arith::ConstantOp::create(b, lane.loc, *neutralElement(combiner)));
    int64_t step = groups * steps;
    AffineExpr all = getAffineDimExpr(0, b.getContext());
    OpFoldResult whole =
        affine::makeComposedFoldedAffineApply(b, lane.loc, all.floorDiv(step) * step, ArrayRef<OpFoldResult>{length});
    std::optional<int64_t> known = getConstantIntValue(whole);
    // Steps that follow each other are one thread's, so that what is the same for all columns lies side by side.
    Value start = lane.multiply(group, steps), end = getValueOrCreateConstantIndexOp(b, lane.loc, whole);
    if (known == step) {
      values = addSteps(start, steps, values);
    } else if (known != 0) {
      auto loop = scf::ForOp::create(b, lane.loc, lane.index(0), end, lane.index(step), values);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> carried(loop.getRegionIterArgs());
      scf::YieldOp::create(b, lane.loc, addSteps(lane.add(loop.getInductionVar(), start), steps, carried));
      values.assign(loop.getResults().begin(), loop.getResults().end());
    }
    if (whole != length) {
      Value from = lane.add(group, end), to = getValueOrCreateConstantIndexOp(b, lane.loc, length);
      auto loop = scf::ForOp::create(b, lane.loc, from, to, lane.index(groups), values);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> carried(loop.getRegionIterArgs());
      scf::YieldOp::create(b, lane.loc, addSteps(loop.getInductionVar(), 1, carried));
      values.assign(loop.getResults().begin(), loop.getResults().end());
    }
    return values;
  }

  SmallVector<Value> addSteps(Value start, int64_t count, SmallVector<Value> values) {
    SmallVector<SmallVector<Value>> places;
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<Value> &place = places.emplace_back(ivs);
      Value number = i == 0 ? start : lane.add(start, lane.index(i));
      for (auto [loop, iv] : llvm::zip(reductions, lane.decode(number, box)))
        place[loop] = iv;
    }
    // By input, step and lane.
    SmallVector<SmallVector<SmallVector<Value>>> inputs;
    for (OpOperand *input : op.getDpsInputOperands()) {
      SmallVector<SmallVector<Value>> &loaded = inputs.emplace_back();
      bool isUsed = op.payloadUsesValueFromOperand(input);
      // What is the same for all columns is a vector along the reduction.
      bool isBeside = count > 1 && reductions.size() == 1 && alongLoop(op, *input, along) == Along::Nothing &&
                      alongLoop(op, *input, reductions[0]) == Along::Vector;
      if (isUsed && isBeside) {
        for (Value value : lane.load(*input, places.front(), reductions[0], count))
          loaded.emplace_back(lanes, value);
        continue;
      }
      for (ArrayRef<Value> place : places)
        loaded.push_back(isUsed ? lane.load(*input, place, along, lanes) : SmallVector<Value>(lanes));
    }
    if (count == mostSteps)
      endLoads();
    for (int64_t i = 0; i < count; ++i)
      for (int64_t l = 0; l < lanes; ++l) {
        SmallVector<Value> step;
        for (ArrayRef<SmallVector<Value>> input : inputs)
          step.push_back(input[i][l]);
        for (size_t r = 0; r < combiners.size(); ++r)
          step.push_back(values[r * lanes + l]);
        for (auto [r, value] : llvm::enumerate(lane.emitLane(step, places[i], along, l)))
          values[r * lanes + l] = value;
      }
    return values;
  }

  // What has been loaded so far is under way before any of it is used: ptxas would use fewer registers and wait for
  // some of it before it loads the rest. It keeps loads before a fence, be it one that is never executed.
  void endLoads() {
    LLVM::InlineAsmOp::create(
        b, lane.loc, TypeRange(), ValueRange(),
        "{ .reg .pred p; .reg .b32 n; mov.u32 n, %nctaid.x; setp.eq.u32 p, n, 0; @p membar.cta; }", "~{memory}",
        /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
        LLVM::AsmDialectAttr(), ArrayAttr());
  }

  // By warps where a warp has all columns, else by groups.
  void combineGroups(ArrayRef<Value> values, Value group, Value isInside, ArrayRef<Value> memory) {
    int64_t perWarp = std::min(columns, warp);
    auto [warpNumber, laneNumber] = lane.divide(thread, warp, threads);
    Value isWriter = arith::CmpIOp::create(b, lane.loc, arith::CmpIPredicate::ult, laneNumber, lane.index(perWarp));
    lane.where(columns < warp ? isWriter : Value(), [&, warpNumber = warpNumber, laneNumber = laneNumber] {
      Value place = lane.multiply(laneNumber, lanes);
      for (auto [i, value] : llvm::enumerate(values))
        memref::StoreOp::create(b, lane.loc, value, memory[i / lanes],
                                ValueRange{warpNumber, lane.add(place, lane.index(i % lanes))});
    });
    gpu::BarrierOp::create(b, lane.loc);
    if (columns * lanes > threads) {
      Value isFirst = arith::CmpIOp::create(b, lane.loc, arith::CmpIPredicate::eq, group, lane.index(0));
      lane.where(lane.both(isFirst, isInside), [&] {
        auto [row, column] = lane.divide(thread, perWarp, threads);
        finish(combineParts(SmallVector<Value>(values), row, lane.multiply(column, lanes), memory), ivs);
      });
      return;
    }
    // A thread for each column, so that few threads do not wait for many loads.
    Value isFinisher =
        arith::CmpIOp::create(b, lane.loc, arith::CmpIPredicate::ult, thread, lane.index(wanted * lanes));
    lane.where(isFinisher, [&] {
      auto [row, place] = lane.divide(thread, perWarp * lanes, threads);
      finish(combineParts(SmallVector<Value>(memory.size()), row, place, memory), placeOf(thread, /*width=*/1));
    });
  }

  // What all groups have of neighbouring columns, from `place` on: as many as there are values for each result. The
  // values are the first group's; null ones are in memory too.
  SmallVector<Value> combineParts(SmallVector<Value> values, Value row, Value place, ArrayRef<Value> memory) {
    int64_t parts = columns < warp ? threads / warp : groups, stride = std::max<int64_t>(1, columns / warp);
    int64_t width = values.size() / memory.size();
    for (int64_t part = 0; part < parts; ++part)
      for (auto [i, value] : llvm::enumerate(values)) {
        if (part == 0 && value)
          continue;
        Value theirs = memref::LoadOp::create(
            b, lane.loc, memory[i / width],
            ValueRange{lane.add(row, lane.index(part * stride)), lane.add(place, lane.index(i % width))});
        value = value ? cloneCombiner(b, combiners[i / width], value, theirs) : theirs;
      }
    return values;
  }

  // Stores the results of neighbouring columns.
  void finish(ArrayRef<Value> values, ArrayRef<Value> at) {
    int64_t width = values.size() / combiners.size();
    for (auto [r, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      SmallVector<Value> before = fills[r] ? SmallVector<Value>(width, fills[r]) : lane.load(init, at, along, width);
      SmallVector<Value> results;
      for (int64_t l = 0; l < width; ++l)
        results.push_back(cloneCombiner(b, combiners[r], before[l], values[r * width + l]));
      lane.store(init, results, at, along);
    }
  }

  // The indices of the parallel loops for a vector of `width` columns.
  SmallVector<Value> placeOf(Value number, int64_t width) {
    SmallVector<Value> at(op.getNumLoops());
    SmallVector<int64_t> vectors = llvm::map_to_vector(parallels, [&](unsigned loop) { return extents[loop]; });
    vectors.back() /= width;
    for (auto [loop, iv] : llvm::zip(parallels, lane.decode(number, vectors)))
      at[loop] = iv;
    at[along] = lane.multiply(at[along], width);
    return at;
  }

  OpBuilder &b;
  LaneEmitter lane;
  linalg::LinalgOp op;
  ArrayRef<int64_t> extents;
  Value thread;
  int64_t threads;
  ArrayRef<Value> fills;
  SmallVector<unsigned> parallels, reductions; // the loop `along` is the last parallel one
  SmallVector<Operation *> combiners;
  unsigned along = 0;
  int64_t lanes = 1;
  int64_t wanted = 1, columns = 1; // vectors of columns, and the same as a power of two
  int64_t groups = 1, steps = 1;
  OpFoldResult length;      // of the reduction
  SmallVector<int64_t> box; // of the reduction; it is not decoded where it is one loop
  SmallVector<Value> ivs;
};

} // namespace

LogicalResult emitColumnLoops(OpBuilder &b, linalg::LinalgOp op, const FullTile &tile, Value thread, int64_t threads,
                              ArrayRef<Value> fills) {
  return ColumnEmitter(b, op, tile, thread, threads, fills).emit();
}

} // namespace kiln
