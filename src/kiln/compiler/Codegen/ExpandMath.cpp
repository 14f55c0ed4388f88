#include "kiln/compiler/Codegen/ExpandMath.h"

#include "kiln/compiler/Codegen/IntegerDivision.h"
#include "kiln/compiler/Codegen/NarrowFloats.h"
#include "kiln/compiler/Codegen/Polynomials.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

// The operations as they are before any is rewritten.
static void forEach(func::FuncOp func, llvm::function_ref<void(Operation *)> rewrite) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa_and_nonnull<arith::ArithDialect, math::MathDialect, vector::VectorDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    rewrite(op);
}

// As in a sigmoid.
static bool isAddedToOne(Operation *exponential) {
  return isa<math::ExpOp>(exponential) && !exponential->use_empty() &&
         llvm::all_of(exponential->getUses(), [](OpOperand &use) {
           return isa<arith::AddFOp>(use.getOwner()) &&
                  matchPattern(use.getOwner()->getOperand(1 - use.getOperandNumber()), m_OneFloat());
         });
}

static void expandFunction(Operation *op, const FloatSupport &support) {
  const PolynomialFunction *function = findPolynomialFunction(op->getName().getStringRef());
  if (!function || !getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    return;
  OpBuilder b(op);
  FloatBuilder f(b, op->getLoc(), op->getResult(0).getType(), support.fma, support.scales);
  auto build = op->hasAttr(kVanishesAttr)     ? buildExpThatVanishes
               : op->hasAttr(kAtMostZeroAttr) ? buildExpAtMostZero
               : isAddedToOne(op)             ? buildExpAddedToOne
                                              : function->build;
  op->getResult(0).replaceAllUsesWith(build(f, op->getOperand(0)));
  op->erase();
}

// In f64, where every exponent that matters is exact.
static Value integerPowerOfFloat(OpBuilder &b, math::FPowIOp op) {
  Type type = op.getType();
  auto vectorType = dyn_cast<VectorType>(type);
  Type wide = vectorType ? Type(vectorType.clone(b.getF64Type())) : b.getF64Type();
  Value base = op.getLhs();
  if (type != wide)
    base = arith::ExtFOp::create(b, op.getLoc(), wide, base);
  Value exponent = arith::SIToFPOp::create(b, op.getLoc(), wide, op.getRhs());
  Value power = math::PowFOp::create(b, op.getLoc(), base, exponent);
  return type == wide ? power : arith::TruncFOp::create(b, op.getLoc(), type, power).getResult();
}

// By squaring, over all bits of the exponent. To a negative power, 1 and -1 have integer results, and all else gives
// 0.
static Value integerPower(OpBuilder &b, math::IPowIOp op) {
  Location loc = op.getLoc();
  Type type = op.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  auto constant = [&](int64_t value) -> Value {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), APInt(width, value, /*isSigned=*/true));
    if (auto vectorType = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vectorType, attr);
    return arith::ConstantOp::create(b, loc, attr);
  };
  auto isEqual = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  };
  Value zero = constant(0), one = constant(1), minusOne = constant(-1);
  Value base = op.getLhs(), exponent = op.getRhs(), result = one, square = base;
  for (unsigned bit = 0; bit + 1 < width; ++bit) {
    Value isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                        arith::AndIOp::create(b, loc, exponent, constant(int64_t(1) << bit)), zero);
    result = arith::SelectOp::create(b, loc, isSet, arith::MulIOp::create(b, loc, result, square), result);
    square = arith::MulIOp::create(b, loc, square, square);
  }
  Value isOdd = isEqual(arith::AndIOp::create(b, loc, exponent, one), one);
  Value inverse = arith::SelectOp::create(b, loc, isEqual(base, one), one, zero);
  Value ofMinusOne = arith::SelectOp::create(b, loc, isOdd, minusOne, one);
  inverse = arith::SelectOp::create(b, loc, isEqual(base, minusOne), ofMinusOne, inverse);
  Value isNegative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, exponent, zero);
  return arith::SelectOp::create(b, loc, isNegative, inverse, result);
}

// Operations that are defined by others.
static void expandCombination(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  SmallVector<Value> results;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](math::ClampFOp clamp) {
        Value low = arith::MaximumFOp::create(b, loc, clamp.getValue(), clamp.getMin());
        results.push_back(arith::MinimumFOp::create(b, loc, low, clamp.getMax()));
      })
      .Case([&](math::SincosOp both) {
        results.push_back(math::SinOp::create(b, loc, both.getOperand()));
        results.push_back(math::CosOp::create(b, loc, both.getOperand()));
      })
      .Case([&](math::RsqrtOp root) {
        Type type = root.getType();
        TypedAttr one = b.getFloatAttr(getElementTypeOrSelf(type), 1.0);
        if (auto vectorType = dyn_cast<VectorType>(type))
          one = DenseElementsAttr::get(vectorType, one);
        results.push_back(arith::DivFOp::create(b, loc, arith::ConstantOp::create(b, loc, one),
                                                math::SqrtOp::create(b, loc, root.getOperand())));
      })
      .Case([&](math::FPowIOp power) { results.push_back(integerPowerOfFloat(b, power)); })
      .Case([&](math::IPowIOp power) { results.push_back(integerPower(b, power)); });
  if (results.empty())
    return;
  op->replaceAllUsesWith(results);
  op->erase();
}

// LLVM 22 takes the lowest bits of elements of a vector that is loaded for elements of a vector of bits, and then loads
// no more of these than it needs: of 25 bits, which are no bytes, it gets 32 and takes the highest for zeros.
static void testLowestBit(arith::TruncIOp op) {
  OpBuilder b(op);
  Type type = op.getIn().getType();
  auto constant = [&](int64_t number) -> Value {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), number);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, attr);
    return arith::ConstantOp::create(b, op.getLoc(), attr);
  };
  Value lowest = arith::AndIOp::create(b, op.getLoc(), op.getIn(), constant(1));
  op.replaceAllUsesWith(
      arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::ne, lowest, constant(0)).getResult());
  op.erase();
}

LogicalResult expandMath(func::FuncOp func, const FloatSupport &support) {
  // Each step may leave work for the next ones only.
  forEach(func, [&](Operation *op) {
    if (isa<math::RsqrtOp>(op) && computesNarrow(op, support))
      computeInF32(op); // The root and the quotient are not rounded apart.
  });
  forEach(func, [](Operation *op) { expandCombination(op); });
  forEach(func, [&](Operation *op) {
    if (computesNarrow(op, support))
      computeInF32(op);
  });
  forEach(func, [&](Operation *op) { expandFunction(op, support); });
  forEach(func, [&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      expandConversion(op, support);
  });
  if (func.walk([](Operation *op) {
            return isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op) ? WalkResult::interrupt()
                                                                                        : WalkResult::advance();
          })
          .wasInterrupted()) {
    forEach(func, [](Operation *op) { guardRoundingDivision(op); });
    RewritePatternSet patterns(func.getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    GreedyRewriteConfig untilDone;
    untilDone.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(applyPatternsGreedily(func, std::move(patterns), untilDone))) {
      func.emitError() << "expanding its rounding divisions did not come to an end";
      return failure();
    }
  }
  forEach(func, [](Operation *op) { guardDivision(op); });
  forEach(func, [](Operation *op) {
    if (auto truncate = dyn_cast<arith::TruncIOp>(op);
        truncate && getElementTypeOrSelf(truncate.getType()).isInteger(1))
      testLowestBit(truncate);
  });
  return success();
}

} // namespace kiln
