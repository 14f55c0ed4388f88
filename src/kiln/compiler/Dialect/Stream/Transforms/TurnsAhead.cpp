#include "kiln/compiler/Dialect/Stream/Transforms/TurnsAhead.h"

#include "kiln/compiler/Dialect/Check/IR/CheckOps.h"
#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln::Stream {

bool hasDeviceWork(Operation *op) {
  WalkResult result = op->walk([](Operation *inner) {
    return isa_and_nonnull<StreamDialect>(inner->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool carriesTimepoint(Operation *op) {
  TypeRange types =
      op->hasTrait<OpTrait::IsTerminator>() ? TypeRange(op->getOperandTypes()) : TypeRange(op->getResultTypes());
  return !types.empty() && isa<TimepointType>(types.back());
}

static bool mayRunAhead(Operation *loop) {
  if (!isa<scf::ForOp, scf::WhileOp>(loop))
    return false;
  for (Region &region : loop->getRegions())
    for (Operation &op : region.front())
      if (isa<AsyncLoadOp, AsyncTransferOp>(op) || isa_and_nonnull<Check::CheckDialect>(op.getDialect()))
        return false;
  return true;
}

static Operation *carryTimepoint(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value nothingYet = TimepointImmediateOp::create(builder, loc, TimepointType::get(builder.getContext()));
  OperationState state(loc, op->getName());
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  state.addTypes(nothingYet.getType());
  state.addAttributes(op->getAttrs());
  bool isLoop = isa<LoopLikeOpInterface>(op);
  if (isLoop)
    state.addOperands(nothingYet); // both kinds of loops have what they begin with last
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *carrying = builder.create(state);
  for (Region &region : carrying->getRegions()) {
    if (region.empty()) { // a branch without an else
      OpBuilder inner = OpBuilder::atBlockEnd(&region.emplaceBlock());
      scf::YieldOp::create(inner, loc);
    }
    Value ofBlock = isLoop ? Value(region.front().addArgument(nothingYet.getType(), loc)) : nothingYet;
    Operation *terminator = region.front().getTerminator();
    terminator->insertOperands(terminator->getNumOperands(), ofBlock);
  }
  op->replaceAllUsesWith(carrying->getResults().drop_back());
  op->erase();
  return carrying;
}

static void carryTimepoints(Block &block, bool isInLoop) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.getNumRegions() == 0 || !hasDeviceWork(&op))
      continue;
    bool isLoop = mayRunAhead(&op), carries = isLoop || (isInLoop && isa<scf::IfOp>(op));
    for (Region &region : (carries ? carryTimepoint(&op) : &op)->getRegions())
      for (Block &inner : region)
        carryTimepoints(inner, carries);
    isInLoop |= isLoop; // or behind one
  }
}

void carryTimepoints(Block &block) {
  carryTimepoints(block, false);
}

} // namespace kiln::Stream
