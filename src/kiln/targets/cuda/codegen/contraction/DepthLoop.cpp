#include "kiln/targets/cuda/codegen/contraction/ContractionKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

SmallVector<Value> overDepth(const TileKernel &kernel, ArrayRef<TileCopy> copies, int64_t stageBytes,
                             ArrayRef<Value> initial,
                             llvm::function_ref<SmallVector<Value>(Value, ArrayRef<Value>)> compute) {
  ImplicitLocOpBuilder &b = kernel.b;
  const Integers &i32 = kernel.i32, &i64 = kernel.i64;
  int64_t depth = kernel.config.k, ahead = kernel.config.stages - 1;
  int64_t extent = kernel.group.extents[kernel.group.k];
  std::optional<int64_t> known;
  if (ShapedType::isStatic(extent))
    known = llvm::divideCeil(extent, depth);
  Value steps =
      known ? i32.constant(*known) : i32.of(i64.div(i64.add(i64.of(kernel.extents[kernel.group.k]), depth - 1), depth));
  // What goes through registers is on its way while the tile before is computed with, if there is room for it.
  int64_t elements = 0;
  for (const TileCopy &copy : copies)
    elements += copy.isAsync() ? 0 : copy.elementsOfThread();
  auto isHeld = [&](const TileCopy &copy) { return !copy.isAsync() && elements <= kMostHeld; };
  auto copyTile = [&](Value stage, Value step) {
    Value k = i64.mul(i64.of(step), depth);
    SmallVector<SmallVector<Value>> loaded;
    for (const TileCopy &copy : copies)
      loaded.push_back(isHeld(copy) ? copy.load(k, Value()) : SmallVector<Value>());
    for (auto [copy, elements] : llvm::zip(copies, loaded))
      isHeld(copy) ? copy.store(stage, elements) : copy.issue(stage, k);
  };

  // The workgroup before may still read what is overwritten now.
  kernel.barrier();
  for (int64_t step = 0; step < ahead; ++step) {
    if (!known)
      kernel.where(i32.less(i32.constant(step), steps),
                   [&] { copyTile(i32.constant(step * stageBytes), i32.constant(step)); });
    else if (step < *known)
      copyTile(i32.constant(step * stageBytes), i32.constant(step));
    NVVM::CpAsyncCommitGroupOp::create(b);
  }
  SmallVector<Value> carried(initial);
  carried.push_back(i32.constant(0));
  carried.push_back(i32.constant(ahead * stageBytes));
  auto loop = scf::ForOp::create(b, i32.constant(0), steps, i32.constant(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> values(loop.getRegionIterArgs());
  Value filled = values.pop_back_val(), read = values.pop_back_val();
  // Loads stand before the barrier, as ptxas takes those behind it to where they are used.
  Value next = i32.add(loop.getInductionVar(), ahead), exists = i32.less(next, steps);
  Value nextK = i64.mul(i64.of(next), depth);
  SmallVector<SmallVector<Value>> held;
  for (const TileCopy &copy : copies)
    held.push_back(isHeld(copy) ? copy.load(nextK, exists) : SmallVector<Value>());
  NVVM::CpAsyncWaitGroupOp::create(b, ahead - 1);
  kernel.barrier();
  kernel.where(exists, [&] {
    for (const TileCopy &copy : copies)
      if (!isHeld(copy))
        copy.issue(filled, nextK);
  });
  NVVM::CpAsyncCommitGroupOp::create(b);
  SmallVector<Value> results = compute(read, values);
  for (auto [copy, values] : llvm::zip(copies, held))
    if (isHeld(copy))
      copy.store(filled, values);
  auto following = [&](Value stage) -> Value {
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, stage, i32.constant(ahead * stageBytes));
    return arith::SelectOp::create(b, isLast, i32.constant(0), i32.add(stage, stageBytes));
  };
  results.push_back(following(read));
  results.push_back(following(filled));
  scf::YieldOp::create(b, results);
  return SmallVector<Value>(loop.getResults().drop_back(2));
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
