#include "kiln/compiler/Codegen/Combiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

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

std::optional<TypedAttr> neutralElement(Operation *combiner) {
  Type type = combiner->getResult(0).getType();
  if (isa<arith::AddFOp>(combiner)) // Upstream's 0.0 makes 0.0 of a sum of -0.0.
    return FloatAttr::get(type, -0.0);
  if (!type.isIndex())
    return arith::getNeutralElement(combiner);
  // Upstream asks the type for its width, which an index does not tell.
  int64_t value = llvm::TypeSwitch<Operation *, int64_t>(combiner)
                      .Case<arith::MulIOp>([](auto) { return 1; })
                      .Case<arith::MaxSIOp>([](auto) { return std::numeric_limits<int64_t>::min(); })
                      .Case<arith::MinSIOp>([](auto) { return std::numeric_limits<int64_t>::max(); })
                      .Case<arith::MinUIOp, arith::AndIOp>([](auto) { return -1; })
                      .Default([](Operation *) { return 0; });
  return IntegerAttr::get(type, value);
}

} // namespace kiln
