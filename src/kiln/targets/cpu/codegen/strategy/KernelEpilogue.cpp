#include "kiln/targets/cpu/codegen/strategy/KernelEpilogue.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace kiln {

// More would need registers that the tile has.
static constexpr int64_t mostOperations = 12;

static Value rootOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

// The next structured operation, where nothing before it reads or writes memory.
static linalg::LinalgOp nextOf(linalg::LinalgOp op) {
  Operation *next = op->getNextNode();
  while (next && !isa<linalg::LinalgOp>(next) && (isMemoryEffectFree(next) || isa<memref::AllocOp>(next)))
    next = next->getNextNode();
  return dyn_cast_or_null<linalg::LinalgOp>(next);
}

static bool isSmall(Block *body) {
  int64_t count = 0;
  for (Operation &op : body->without_terminator()) {
    const bool isSimple = isa<arith::ArithDialect>(op.getDialect())
                              ? !isa<arith::DivFOp>(op)
                              : isa<math::AbsFOp, math::FmaOp, linalg::IndexOp>(op);
    if (!isSimple || ++count > mostOperations)
      return false;
  }
  return true;
}

// Whether nothing but the two operations needs what lies in `memory`.
static bool isTheirs(Value memory, Operation *first, Operation *second) {
  return memory.getDefiningOp<memref::AllocOp>() && llvm::all_of(memory.getUsers(), [&](Operation *user) {
           return user == first || user == second || isa<linalg::FillOp>(user);
         });
}

Epilogue findEpilogue(linalg::LinalgOp op, const KernelPlan &plan, const KernelTarget &target) {
  if (plan.vectorLoop < 0 || plan.reduceLanes || plan.blockedLoop >= 0 || plan.reductionLoops.empty() ||
      op.getNumDpsInits() != 1)
    return {};
  linalg::LinalgOp next = nextOf(op);
  if (!next || !isa<linalg::GenericOp>(next) || !next.isAllParallelLoops() || next.getNumDpsInits() != 1 ||
      next.payloadUsesValueFromOperand(next.getDpsInitOperand(0)) || !isSmall(next.getBlock()))
    return {};

  // The loops of the two are paired where the second reads what the first stores.
  Value result = op.getDpsInits()[0], stored = next.getDpsInits()[0];
  AffineMap resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!resultMap.isProjectedPermutation())
    return {};
  Epilogue epilogue{next, {}, SmallVector<unsigned>(next.getNumLoops())};
  bool isRead = false;
  for (OpOperand *input : next.getDpsInputOperands()) {
    if (input->get() != result)
      continue;
    AffineMap map = next.getMatchingIndexingMap(input);
    if (!map.isPermutation() || (stored == result && map != next.getIndexingMapsArray().back()))
      return {};
    for (auto [expr, of] : llvm::zip(map.getResults(), resultMap.getResults())) {
      unsigned &loop = epilogue.loops[cast<AffineDimExpr>(expr).getPosition()];
      unsigned wanted = cast<AffineDimExpr>(of).getPosition();
      if (std::exchange(loop, wanted) != wanted && isRead)
        return {}; // It is read in two orders.
    }
    isRead = true;
  }
  if (!isRead || (stored != result && (rootOf(stored) == rootOf(result) || !isTheirs(result, op, next))))
    return {};
  auto found = llvm::find(epilogue.loops, static_cast<unsigned>(plan.vectorLoop));
  if (found == epilogue.loops.end())
    return {};
  const unsigned vectorLoop = found - epilogue.loops.begin();

  SmallVector<AffineExpr> dims;
  for (unsigned loop : epilogue.loops)
    dims.push_back(getAffineDimExpr(loop, next.getContext()));
  // Not of booleans, which are bytes in memory.
  for (OpOperand &operand : next->getOpOperands()) {
    Value memory = operand.get();
    epilogue.maps.push_back(next.getMatchingIndexingMap(&operand).replaceDimsAndSymbols(dims, {}, op.getNumLoops(), 0));
    if (!isa<MemRefType>(memory.getType()))
      continue;
    const int64_t stride = strideAlong(next, operand, vectorLoop);
    const bool isOwn = memory == result || memory == stored;
    if ((stride != 0 && stride != 1) ||
        getElementTypeOrSelf(memory.getType()) != next.getMatchingBlockArgument(&operand).getType() ||
        (!isOwn && rootOf(memory) == rootOf(result)))
      return {};
  }
  // Where it goes, nothing may be read any more.
  if (stored != result && llvm::any_of(op.getDpsInputs(), [&](Value input) { return rootOf(input) == rootOf(stored); }))
    return {};
  const KernelPlan alone = planKernel(next, target, /*config=*/nullptr);
  return alone.vectorLoop >= 0 && alone.rowLoads.empty() && alone.elementByElement.empty() ? epilogue : Epilogue();
}

} // namespace kiln
