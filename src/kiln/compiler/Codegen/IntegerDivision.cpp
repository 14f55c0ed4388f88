#include "kiln/compiler/Codegen/IntegerDivision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {

static Value constantOf(OpBuilder &builder, Location loc, Type type, int64_t value) {
  TypedAttr attr = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, attr);
  return arith::ConstantOp::create(builder, loc, attr);
}

void guardRoundingDivision(Operation *op) {
  if (!isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return;
  APInt known;
  if (matchPattern(op->getOperand(1), m_ConstantInt(&known)) && !known.isZero())
    return;
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  Value zero = constantOf(builder, loc, op->getResult(0).getType(), 0);
  Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, op->getOperand(1), zero);
  auto result = arith::SelectOp::create(builder, loc, isZero, zero, op->getResult(0));
  op->getResult(0).replaceAllUsesExcept(result, result);
}

void guardDivision(Operation *op) {
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
  bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
  if (!isSigned && !isa<arith::DivUIOp, arith::RemUIOp>(op))
    return;
  APInt known;
  if (matchPattern(op->getOperand(1), m_ConstantInt(&known)) && !known.isZero() && !known.isAllOnes())
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  Type type = divisor.getType();
  Value zero = constantOf(builder, loc, type, 0), one = constantOf(builder, loc, type, 1);
  auto equals = [&](Value value) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, divisor, value).getResult();
  };
  auto select = [&](Value condition, Value ifTrue, Value ifFalse) {
    return arith::SelectOp::create(builder, loc, condition, ifTrue, ifFalse).getResult();
  };
  Value isZero = equals(zero), isMinusOne;
  Value safe = select(isZero, one, divisor);
  if (isSigned) {
    isMinusOne = equals(constantOf(builder, loc, type, -1));
    safe = select(isMinusOne, one, safe);
  }
  Operation *division = builder.clone(*op);
  division->setOperand(1, safe);
  Value result = division->getResult(0);
  // The remainder of a division by 1 is 0 already, which is that by -1 as well.
  if (isSigned && !isRemainder)
    result = select(isMinusOne, arith::SubIOp::create(builder, loc, zero, dividend), result);
  if (!isRemainder)
    result = select(isZero, zero, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

} // namespace kiln
