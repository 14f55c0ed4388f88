#include "kiln/targets/cuda/codegen/contraction/ContractionKernels.h"

#include "kiln/targets/cuda/codegen/contraction/ContractionConfig.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <deque>

using namespace mlir;

namespace kiln {

// Whether a condition is known not to hold.
static bool isNever(Value condition) {
  return condition && getConstantIntValue(condition) == 0;
}

SmallVector<Value> overDepth(const TileKernel &kernel, ArrayRef<TileCopy> copies, int64_t stageBytes,
                             ArrayRef<Value> initial, DepthStep &work) {
  ImplicitLocOpBuilder &b = kernel.b;
  const Integers &i32 = kernel.i32, &i64 = kernel.i64;
  int64_t depth = kernel.config.k, ahead = kernel.config.stages - 1;
  int64_t extent = kernel.group.extents[kernel.group.k];
  // Of the block's part: the last ones may reach beyond k, where tiles are zeros.
  const int64_t ofParts = depth * kernel.config.clusterK;
  std::optional<int64_t> known;
  if (ShapedType::isStatic(extent))
    known = llvm::divideCeil(extent, ofParts);
  Value steps = known ? i32.constant(*known)
                      : i32.of(i64.div(i64.add(i64.of(kernel.extents[kernel.group.k]), ofParts - 1), ofParts));
  auto placeOf = [&](Value step) {
    if (kernel.part)
      step = i32.add(i32.mul(kernel.part, steps), step);
    return i64.mul(i64.of(step), depth);
  };
  // What goes through registers is on its way while the tiles before are computed with, if there is room for it: so
  // many tiles, besides those that are in shared memory.
  int64_t elements = 0, sums = 0;
  for (const TileCopy &copy : copies)
    elements += copy.isAsync() ? 0 : copy.elementsOfThread();
  for (Value each : initial)
    sums += isa<VectorType>(each.getType()) ? cast<VectorType>(each.getType()).getNumElements() : 1;
  auto isHeld = [&](const TileCopy &copy) { return !copy.isAsync() && elements <= kMostHeld; };
  // Sums of single products take longer than loads.
  int64_t tilesHeld = elements && multipliesByWarps(kernel.config)
                          ? std::clamp<int64_t>((kMostHeldAndSums - sums) / elements, 1, kMostTilesHeld)
                          : 1;
  if (known)
    tilesHeld = std::clamp<int64_t>(*known - ahead + 1, 1, tilesHeld);
  const bool areFirstTogether = elements * (ahead + tilesHeld - 1) <= kMostHeldAtFirst;
  if (!areFirstTogether)
    tilesHeld = 1;

  using Elements = SmallVector<SmallVector<Value>>; // of a tile, by copy; none where the tile is known not to exist
  auto load = [&](Value step, Value exists) {
    Elements loaded;
    if (isNever(exists))
      return loaded;
    for (const TileCopy &copy : copies)
      loaded.push_back(isHeld(copy) ? copy.load(placeOf(step), exists) : SmallVector<Value>());
    return loaded;
  };
  auto store = [&](Value stage, const Elements &loaded) {
    for (auto [copy, values] : llvm::zip(copies, loaded))
      if (isHeld(copy))
        copy.store(stage, values);
  };
  auto issue = [&](Value stage, Value step, Value exists) {
    if (isNever(exists))
      return;
    kernel.where(exists, [&] {
      for (const TileCopy &copy : copies)
        if (!isHeld(copy))
          copy.issue(stage, placeOf(step));
    });
  };

  // The workgroup before may still read what is overwritten now.
  kernel.barrier();
  std::deque<Elements> held;
  auto isThere = [&](int64_t step) { return !known || step < *known; };
  auto existsAt = [&](int64_t step) { return known ? Value() : i32.less(i32.constant(step), steps); };
  auto loadFirst = [&](int64_t step) { held.push_back(load(i32.constant(step), existsAt(step))); };
  for (int64_t step = 0; areFirstTogether && step < ahead + tilesHeld - 1; ++step)
    if (isThere(step))
      loadFirst(step);
  for (int64_t step = 0; step < ahead; ++step) {
    if (isThere(step)) {
      if (!areFirstTogether)
        loadFirst(step);
      store(i32.constant(step * stageBytes), held.front());
      held.pop_front();
      issue(i32.constant(step * stageBytes), i32.constant(step), existsAt(step));
    }
    NVVM::CpAsyncCommitGroupOp::create(b);
  }
  auto awaitTile = [&] {
    NVVM::CpAsyncWaitGroupOp::create(b, ahead - 1);
    kernel.barrier();
  };
  // The first of a tile is loaded while the one before is multiplied, where registers hold nothing else that is on its
  // way. There is a tile then.
  const bool loadsAhead = known && *known > 0 && elements == 0 && work.isAhead();
  auto following = [&](Value stage) -> Value {
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, stage, i32.constant(ahead * stageBytes));
    return arith::SelectOp::create(b, isLast, i32.constant(0), i32.add(stage, stageBytes));
  };
  // Computes with the tile at `read`, while others are on their way, and gives the first of the next. Loads stand
  // before the barrier, as ptxas takes those behind it to where they are used.
  auto iterate = [&](Value step, Value read, Value filled, SmallVectorImpl<Value> &sums, ArrayRef<Value> first) {
    Value issued = i32.add(step, ahead), loaded = i32.add(issued, tilesHeld - 1);
    held.push_back(load(loaded, i32.less(loaded, steps)));
    if (!loadsAhead)
      awaitTile();
    issue(filled, issued, i32.less(issued, steps));
    NVVM::CpAsyncCommitGroupOp::create(b);
    SmallVector<Value> now = loadsAhead ? SmallVector<Value>(first) : work.loadFirst(read);
    SmallVector<Value> next = work.compute(read, now, sums, [&]() -> SmallVector<Value> {
      if (!loadsAhead)
        return {};
      // All threads have loaded what there was, so that it may be overwritten.
      awaitTile();
      // Behind the last tile, its own once more.
      Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, i32.add(step, 1), steps);
      return work.loadFirst(arith::SelectOp::create(b, isLast, read, following(read)));
    });
    store(filled, held.front());
    held.pop_front();
    return next;
  };
  SmallVector<Value> first;
  if (loadsAhead) {
    awaitTile();
    first = work.loadFirst(i32.constant(0));
  }
  if (known && elements && *known <= kMostUnrolled && sums <= kMostSumsUnrolled) {
    auto stageOf = [&](int64_t step) { return i32.constant(step % kernel.config.stages * stageBytes); };
    SmallVector<Value> values(initial);
    for (int64_t step = 0; step < *known; ++step)
      iterate(i32.constant(step), stageOf(step), stageOf(step + ahead), values, {});
    return values;
  }

  SmallVector<Value> carried(initial);
  llvm::append_range(carried, first);
  for (const Elements &tile : held)
    for (const SmallVector<Value> &values : tile)
      llvm::append_range(carried, values);
  carried.push_back(i32.constant(0));
  carried.push_back(i32.constant(ahead * stageBytes));
  auto loop = scf::ForOp::create(b, i32.constant(0), steps, i32.constant(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> values(loop.getRegionIterArgs());
  Value filled = values.pop_back_val(), read = values.pop_back_val();
  ArrayRef<Value> rest = values;
  auto take = [&](size_t count) {
    SmallVector<Value> taken(rest.take_front(count));
    rest = rest.drop_front(count);
    return taken;
  };
  SmallVector<Value> results = take(initial.size());
  first = take(first.size());
  for (Elements &tile : held)
    for (SmallVector<Value> &each : tile)
      each = take(each.size());
  llvm::append_range(results, iterate(loop.getInductionVar(), read, filled, results, first));
  for (const Elements &tile : held)
    for (const SmallVector<Value> &each : tile)
      llvm::append_range(results, each);
  results.push_back(following(read));
  results.push_back(following(filled));
  scf::YieldOp::create(b, results);
  return SmallVector<Value>(loop.getResults().take_front(initial.size()));
}

void whereRow(const TileKernel &kernel, Value m, llvm::function_ref<void()> emit) {
  const ContractionGroup &group = kernel.group;
  if (kernel.isWhole(group.m, kernel.config.m))
    return emit();
  Value row = arith::AddIOp::create(kernel.b, kernel.origin[group.m], kernel.index(m));
  kernel.where(arith::CmpIOp::create(kernel.b, arith::CmpIPredicate::ult, row, kernel.extents[group.m]), emit);
}

void finishElements(const TileKernel &kernel, ArrayRef<Value> sums, Value m, Value n) {
  ImplicitLocOpBuilder &b = kernel.b;
  const ContractionGroup &group = kernel.group;
  int64_t extent = group.extents[group.n], width = sums.size();
  // An extent that the elements divide ends before them or after them.
  if (width > 1 && (ShapedType::isDynamic(extent) || extent % width != 0)) {
    for (int64_t i = 0; i < width; ++i)
      finishElements(kernel, sums[i], m, kernel.i32.add(n, i));
    return;
  }
  Value column = arith::AddIOp::create(b, kernel.origin[group.n], kernel.index(n));
  Value inside;
  if (!kernel.isWhole(group.n, kernel.config.n))
    inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, kernel.extents[group.n]);
  kernel.where(inside, [&] {
    SmallVector<Value> indices(kernel.origin);
    indices[group.m] = arith::AddIOp::create(b, kernel.origin[group.m], kernel.index(m));
    indices[group.n] = column;
    SmallVector<SmallVector<Value>> values = computeEpilogue(b, b.getLoc(), group, sums, indices);
    for (auto [store, elements] : llvm::zip(group.stores, values))
      storeElements(b, b.getLoc(), group, store, elements, indices);
  });
}

} // namespace kiln
