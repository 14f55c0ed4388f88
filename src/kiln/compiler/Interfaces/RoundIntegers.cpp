#include "kiln/compiler/Interfaces/RoundIntegers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace kiln {

Value fitIntoF64(OpBuilder &builder, Location loc, Value integer, bool isSigned) {
  constexpr unsigned kExactBits = 53;
  // A number of 64 bits without these has 52, and is far from the middle of two narrow floats unless it is one.
  constexpr unsigned kDroppedBits = 12;
  Type type = integer.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (width <= kExactBits)
    return integer;
  auto constant = [&](const APInt &value) -> Value {
    TypedAttr attr = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vectorType = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vectorType, attr);
    return arith::ConstantOp::create(builder, loc, attr);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, const APInt &y) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, x, constant(y));
  };
  // What is dropped leaves a bit that says that there was something, in the middle between both neighbours.
  APInt dropped = APInt::getLowBitsSet(width, kDroppedBits), bound = APInt::getOneBitSet(width, kExactBits);
  Value rest = arith::AndIOp::create(builder, loc, integer, constant(dropped));
  Value kept = arith::AndIOp::create(builder, loc, integer, constant(~dropped));
  Value middle = arith::OrIOp::create(builder, loc, kept, constant(APInt::getOneBitSet(width, kDroppedBits - 1)));
  Value isExact = compare(arith::CmpIPredicate::eq, rest, APInt::getZero(width));
  Value large = arith::SelectOp::create(builder, loc, isExact, integer, middle);
  Value isLarge = isSigned ? compare(arith::CmpIPredicate::ugt,
                                     arith::AddIOp::create(builder, loc, integer, constant(bound)), bound * 2)
                           : compare(arith::CmpIPredicate::ugt, integer, bound);
  return arith::SelectOp::create(builder, loc, isLarge, large, integer);
}

} // namespace kiln
