#include "kiln/compiler/Codegen/Combiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

Operation *findCombiner(linalg::LinalgOp op, unsigned index) {
  Block *body = op.getBlock();
  BlockArgument init = body->getArgument(op.getNumDpsInputs() + index);
  if (!init.hasOneUse())
    return nullptr;
  Operation *combiner = *init.user_begin();
  if (combiner->getNumOperands() != 2 || combiner->getNumResults() != 1 ||
      body->getTerminator()->getOperand(index) != combiner->getResult(0) || !combiner->getResult(0).hasOneUse())
    return nullptr;
  if (!isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp, arith::MinimumFOp,
           arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
           arith::AndIOp, arith::OrIOp, arith::XOrIOp>(combiner))
    return nullptr;
  return combiner;
}

} // namespace kiln
